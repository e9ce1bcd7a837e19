"""The broad phase misses nothing that may come near while motion bounds hold, and candidates tell true distances."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import _point_triangle, distances, unique_edges
from helpers.inside import model_of
from helpers.meshes import box, grid, icosphere, turned
from helpers.search import World
from pbd_addon import PRESETS, Body, Collider, Material, Simulation
from pbd_addon.contact import patches
from pbd_addon.contact.broad_phase import REST_SHARE, SHARP, SMOOTH_SHARE, BroadPhase, Rules
from pbd_addon.contact.contact_constraints import ContactConstraints
from pbd_addon.contact.motion_bound import MotionBounds
from pbd_addon.contact.surface import Surface
from pbd_addon.kernels import EDGES, FACE, POINTS, available, load, numpy as numpy_kernels
from pbd_addon.kernels.numpy import closest

pytestmark = pytest.mark.slow

DT = 1 / 24
EDGE = 0.02
DISTANCE = 0.5 * EDGE
MOST = 60
"""Substeps that are looked at."""

Places = np.ndarray
"""Positions (n, 3) [m]."""


def segment_distances(a: Places, b: Places, c: Places, d: Places) -> np.ndarray:
    """Distance of each segment a b from its segment c d, all (m, 3) [m]: the least of six ways to be closest."""

    def to_segment(p, q, r):
        t = np.einsum("ij,ij->i", p - q, r - q) / np.einsum("ij,ij->i", r - q, r - q)
        return np.linalg.norm(p - q - t.clip(0.0, 1.0)[:, None] * (r - q), axis=1)

    ends = np.min([to_segment(a, c, d), to_segment(b, c, d), to_segment(c, a, b), to_segment(d, a, b)], axis=0)
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = (np.einsum("ij,ij->i", one, other) for one, other in ((u, u), (u, v), (v, v)))
    uw, vw = np.einsum("ij,ij->i", u, w), np.einsum("ij,ij->i", v, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uv * vw - vv * uw) / (uu * vv - uv**2), (uu * vw - uv * uw) / (uu * vv - uv**2)
        within = (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
        middle = np.where(within, np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1), np.inf)
    return np.minimum(ends, middle)


def fold_angles(x: Places, triangles: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Angle between the two triangles of each edge, pi at a border, (e,) [rad]."""
    normal = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    angles = np.full(len(edges), np.pi)
    for number, (start, end) in enumerate(edges):
        sides = np.flatnonzero((triangles == start).any(axis=1) & (triangles == end).any(axis=1))
        if len(sides) == 2:
            angles[number] = np.arccos(np.clip(normal[sides[0]] @ normal[sides[1]], -1.0, 1.0))
    return angles


class Mesh:
    """A surface with positions to move, as the search and as brute force see it."""

    def __init__(self, vertices: Places, faces: object, start: int, loose_edges: Sequence[Sequence[int]] = ()) -> None:
        self.body = Body(vertices, faces, edges=loose_edges)
        self.triangles = self.body.mesh.triangles.astype(int).reshape(-1, 3)
        loose = np.array(loose_edges, int).reshape(-1, 2)
        self.edges = np.concatenate([unique_edges(self.triangles), loose])
        self.x, self.start = np.array(vertices, float), start
        self.surface = Surface(self.body.mesh, vertices, start, loose_edges=loose)

    @property
    def part(self) -> slice:
        return slice(self.start, self.start + len(self.x))


@functools.lru_cache(maxsize=8)
def all_particles(one: Mesh, other: Mesh, kind: int) -> np.ndarray:
    """Particles of every pair of a vertex of `one` and a triangle of `other`, or of two edges, that share no vertex,
    (m, 4) int."""
    if kind == FACE:
        first, second = np.arange(len(one.x))[:, None] + one.start, other.triangles + other.start
    else:
        first, second = one.edges + one.start, other.edges + other.start
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(first)), np.arange(len(second)), indexing="ij"))
    if one is other and kind == EDGES:
        i, j = i[i < j], j[i < j]
    first, second = first[i], second[j]
    apart = (first[:, :, None] != second[:, None, :]).all(axis=(1, 2))
    return np.concatenate([first, second], axis=1)[apart]


def gaps(x: Places, particles: np.ndarray, kind: int) -> np.ndarray:
    """Distances of the two sides of pairs (m, 4) at positions x of the scene, (m,) [m]."""
    a, b, c, d = x[particles].transpose(1, 0, 2)
    return _point_triangle(a, b, c, d) if kind == FACE else segment_distances(a, b, c, d)


def near_pairs(x: Places, one: Mesh, other: Mesh, kind: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Those of `all_particles` whose sides are nearer than `reach`, and their distances, (m, 4) and (m,) [m]."""
    particles = all_particles(one, other, kind)
    sides = 1 if kind == FACE else 2
    low, high = (
        [bound(x[side], axis=1) for side in (particles[:, :sides], particles[:, sides:])] for bound in (np.min, np.max)
    )
    apart = np.maximum(low[0] - high[1], low[1] - high[0]).max(axis=1)  # boxes around both sides
    particles = particles[apart < reach]
    gap = gaps(x, particles, kind)
    return particles[gap < reach], gap[gap < reach]


def key(particles: np.ndarray, kind: int) -> list[tuple]:
    """What a row is, whatever the order of its corners or sides; particles (m, 4)."""
    if kind == FACE:
        return [(v, *sorted(corners)) for v, *corners in particles.tolist()]
    return [tuple(sorted([tuple(sorted(row[:2])), tuple(sorted(row[2:]))])) for row in particles.tolist()]


def motion(x: Places, rng: np.random.Generator, speed: float) -> np.ndarray:
    """A smooth field at positions x: some waves, at most `speed` long, (n, 3)."""
    field = np.zeros_like(x)
    for _ in range(4):
        wave = rng.normal(0.0, 12.0, 3)
        field += np.sin(x @ wave + rng.uniform(0.0, 6.0))[:, None] * rng.normal(size=3)
    return speed * field / np.linalg.norm(field, axis=1).max()


def within_bounds(pair: World, path: Places, stray: Places, most_strain: float) -> Places:
    """Positions as far from `path` along `stray` as all motion bounds and the strain of edges allow, all (n, 3)."""

    def lengths(x: Places) -> np.ndarray:
        return np.linalg.norm(np.diff(x[pair.one.edges], axis=0)[0], axis=1)

    def holds(share: float) -> bool:
        p = path + share * stray
        strain = np.abs(lengths(p) / lengths(path) - 1.0).max() if most_strain < np.inf else 0.0
        return strain <= most_strain and pair.holds(np.ascontiguousarray(p.T))

    low, high = 0.0, 10.0 * EDGE
    assert holds(low)
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return path + low * stray


def lasts(pair: World, path: Places) -> bool:
    """Whether all motion bounds still hold in the present substep where nothing strays."""
    return pair.holds(np.ascontiguousarray(path.T))


def needed(pair: World, one: Mesh, other: Mesh, x: Places, sharp: dict[Mesh, np.ndarray]) -> dict[int, dict]:
    """Distances of the pairs that have come nearer than is to be kept at positions x, by kind and key."""
    result: dict[int, dict] = {FACE: {}, EDGES: {}}
    lists = [(one, other, FACE)] + ([(other, one, FACE)] if one is not other else []) + [(one, other, EDGES)]
    for first, second, kind in lists:
        particles, gap = near_pairs(x, first, second, kind, pair.distance)
        kept = np.full(len(gap), pair.distance)
        if kind == EDGES:
            bent = np.ones(len(gap), bool)
            for mesh, columns in ((first, particles[:, :2]), (second, particles[:, 2:])):
                if mesh in sharp:
                    known = {tuple(edge) for edge in (mesh.edges[sharp[mesh]] + mesh.start).tolist()}
                    bent &= np.array([tuple(sorted(edge)) in known for edge in columns.tolist()], bool)
            kept = np.where(bent, kept, SMOOTH_SHARE * pair.distance)
        if one is other:
            rest = np.zeros_like(x)
            rest[one.part] = one.body.rest_vertices
            kept = np.minimum(kept, REST_SHARE * gaps(rest, particles, kind))
        near = gap < kept
        result[kind].update(zip(key(particles[near], kind), gap[near].tolist()))
    return result


def rows_by_kind(pair: World) -> dict[int, list[tuple]]:
    rows = pair.candidates
    return {kind: key(rows.particles[:, rows.kind == kind].T, kind) for kind in (FACE, EDGES, POINTS)}


def check(
    pair: World,
    meshes: list[Mesh],
    step: Places,
    seed: int,
    spin: float = 0.0,
    most_strain: float = np.inf,
) -> int:
    """Move as promised and as far off as is allowed, and turn around the y-axis by `spin` [rad] in each substep; all
    that comes near is in the rows.

    Returns:
        How many pairs came near that were not near at the time of the search.
    """
    rng = np.random.default_rng(seed)
    one, other = meshes[0], meshes[-1]
    start = np.concatenate([mesh.x for mesh in meshes])
    pair.predict(start, turned(start + step, spin, 1))
    pair.query(numpy_kernels, np.ascontiguousarray(start.T))
    found = {kind: set(keys) for kind, keys in rows_by_kind(pair).items()}
    # An edge counts as sharp only where it is beyond doubt.
    angle = SHARP + 1e-6
    sharp = {mesh: fold_angles(mesh.x, mesh.triangles, mesh.edges) > angle for mesh in {one, other}}
    if pair.collider:
        sharp.pop(one)
    at_first = needed(pair, one, other, start, sharp)
    late = 0
    for number in range(1, MOST + 1):
        path = turned(start + number * step, spin * number, 1)
        if not lasts(pair, path):
            break
        if number <= 2 or number % 13 == 0:
            layers = np.sign(motion(start, rng, 1.0)[:, :1]) * rng.normal(size=3)
            toward = np.concatenate([np.tile(rng.normal(size=3), (len(mesh.x), 1)) for mesh in meshes])
            # Layers lie about level: some vertices go down as far as they may while all around them go up.
            up_and_down = [rng.choice([-1.0, 1.0], (len(start), 1)) * np.array([0.0, 0.0, 1.0]) for _ in range(4)]
            strays = rng.normal(size=start.shape), motion(start, rng, 1.0), layers, toward, -toward, *up_and_down
            for stray in strays:
                stray = stray / np.linalg.norm(stray, axis=1).max()
                now = needed(pair, one, other, within_bounds(pair, path, stray, most_strain), sharp)
                for kind in (FACE, EDGES):
                    missed = {row: gap for row, gap in now[kind].items() if row not in found[kind]}
                    assert not missed, f"substep {number}: {len(missed)} of {len(now[kind])} missed: {missed}"
                    late += len(set(now[kind]) - set(at_first[kind]))
        pair.bounds.advance(1.0)
    assert number > 1
    return late


SPEEDS = [0.002, 0.05, 0.4, 1.5]
"""Of the fastest vertex, in edges a substep."""


def folded_sheet(seed: int) -> tuple[Places, Places, list[list[int]]]:
    """A wavy sheet folded in three whose layers are little farther apart than they must be, and its flat shape."""
    flat, quads = grid(18, 4, 18 * EDGE, 4 * EDGE)
    turn = 6 * EDGE
    layer = np.floor((flat[:, 0] + 9 * EDGE) / turn).clip(0, 2)
    along = flat[:, 0] + 9 * EDGE - turn * layer
    x = flat.copy()
    x[:, 0] = np.where(layer == 1, turn - along, along)
    x[:, 2] = 1.3 * DISTANCE * (layer + 0.2 * along / turn)
    return x + motion(x, np.random.default_rng(seed), 0.1 * EDGE), flat, quads


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_folded_sheet_finds_what_comes_near(seed, speed):
    """Vertices and triangles, and sharp edges, of a cloth with itself; smooth edges at their own share."""
    x, flat, quads = folded_sheet(seed)
    sheet = Mesh(x, quads, 0)
    sheet.body.rest_vertices = flat
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    rng = np.random.default_rng(10 + seed)
    step = motion(x, rng, speed * EDGE) + 3.0 * EDGE * rng.normal(size=3)
    assert check(pair, [sheet], step, seed) > 0


def coil(points: int) -> Places:
    """A coil of two turns, little farther from a folded sheet and from itself than it must be."""
    angle = np.linspace(0.0, 4.0 * np.pi, points)
    height = DISTANCE * (3.8 + 1.2 * angle / (2.0 * np.pi))
    return np.column_stack([2.0 * EDGE * np.cos(angle), 1.5 * EDGE * np.sin(angle), height])


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("is_one_mesh", [True, False])
def test_a_rope_finds_what_comes_near(speed, is_one_mesh):
    """Its vertices find triangles and its edges find edges: its own, of what it is tied to, and of other cloth."""
    x, flat, quads = folded_sheet(1)
    string = coil(25)
    edges = np.column_stack([np.arange(24), np.arange(1, 25)])
    rng = np.random.default_rng(5)
    if is_one_mesh:
        tied = np.concatenate([[[100, len(x)]], edges + len(x)])
        mesh = Mesh(np.concatenate([x, string]), quads, 0, tied)
        mesh.body.rest_vertices = np.concatenate([flat, string + 1.0])
        rest = np.ascontiguousarray(mesh.body.rest_vertices.T)
        pair, meshes = World(mesh.surface, rest=rest), [mesh]
    else:
        meshes = [Mesh(string, [], 0, edges), Mesh(x, quads, len(string))]
        pair = World(meshes[0].surface, meshes[1].surface)
    start = np.concatenate([each.x for each in meshes])
    assert check(pair, meshes, motion(start, rng, speed * EDGE), 4) > 0
    rope = np.arange(len(start)) >= len(x) if is_one_mesh else np.arange(len(start)) < len(string)
    first, second = (rope[pair.candidates.particles[side]] for side in (slice(0, 1), slice(1, 4)))
    assert (first & ~second).any() and (not is_one_mesh or (first & second.all(axis=0)).any())


@pytest.mark.parametrize("speed", SPEEDS[1:])
@pytest.mark.parametrize("radius", [3.0, 7.0, 12.0])
def test_nothing_comes_near_within_a_smooth_sheet_unseen(radius, speed):
    """A sheet that is bent around a roll of a few edges: what is left out as a height field stays farther than it must.

    Neighbors are 0.7 edges apart; they come to 0.3 only where they are strained by more than a fifth.
    """
    flat, quads = grid(12, 8, 12 * EDGE, 8 * EDGE)
    x, angle = flat.copy(), flat[:, 0] / (radius * EDGE)
    x[:, 0], x[:, 2] = radius * EDGE * np.sin(angle), radius * EDGE * (1.0 - np.cos(angle))
    sheet = Mesh(x + motion(x, np.random.default_rng(1), 0.1 * EDGE), quads, 0)
    sheet.body.rest_vertices = flat
    pair = World(sheet.surface, distance=0.3 * EDGE, rest=np.ascontiguousarray(flat.T))
    check(pair, [sheet], motion(x, np.random.default_rng(2), speed * EDGE), 1, most_strain=0.2)
    assert pair.height_fields.is_smooth[0] or radius < 7.0
    assert pair.height_fields.left_out.is_flat.any()


@pytest.mark.parametrize("radius", [1.5, 3.0, 7.0])
def test_to_search_again_finds_what_a_whole_search_finds(radius, monkeypatch):
    """Where margins have grown and pieces are no height fields any more; elsewhere nothing is lost or comes twice."""
    monkeypatch.setattr(patches, "LARGE_DEPTHS", ())  # with large patches all of so small a sheet would be late
    flat, quads = grid(24, 8, 24 * EDGE, 8 * EDGE)
    sheet = Mesh(flat, quads, 0)
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    rng = np.random.default_rng(0)
    pair.bounds.self_only[0] = True
    pair.predict(flat, flat + motion(flat, rng, 0.05 * EDGE))
    pair.bounds.margin += 0.4 * EDGE
    pair.query(numpy_kernels, np.ascontiguousarray(flat.T))
    assert pair.candidates.size == 0
    bent, start = flat.copy(), 8.0 * EDGE
    angle = np.maximum(flat[:, 0] - start, 0.0) / (radius * EDGE)
    bent[:, 0] = np.minimum(flat[:, 0], start) + radius * EDGE * np.sin(angle)
    bent[:, 2] = radius * EDGE * (1.0 - np.cos(angle))
    p = np.ascontiguousarray(bent.T)
    outside = pair.outside(p)
    pair.widen(outside, p)
    pair.bounds.margin[outside] *= 40.0  # or nothing of so smooth a sheet would come near
    is_late = np.zeros(len(flat), bool)
    is_late[outside] = True
    is_late[pair.height_fields.update(numpy_kernels, p, np.zeros(2, bool), False)] = True
    assert pair.holds(p) and 0 < is_late.sum() < len(flat)
    pair.query_again(numpy_kernels, p, is_late)
    again = rows_by_kind(pair)
    pair.query(numpy_kernels, np.ascontiguousarray(flat.T))
    whole = rows_by_kind(pair)
    assert {kind: sorted(keys) for kind, keys in again.items()} == {kind: sorted(keys) for kind, keys in whole.items()}
    assert len(whole[FACE]) > 20


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["cloth", "collider", "cloth, fast"])
def test_to_search_again_near_others_finds_what_a_whole_search_finds(kind, seed, kernels):
    """Where some vertices have left their bounds, near what moves and whose bound is older; the planes are of now."""
    backend, rng = load(kernels), np.random.default_rng(seed)
    flat, quads = grid(16, 14, 16 * EDGE, 14 * EDGE)
    one = Mesh(flat + motion(flat, rng, 0.5 * EDGE), quads, 0)
    if kind == "collider":
        vertices, faces = icosphere(3, 6 * EDGE)
        collider, place = Collider(vertices, faces), vertices - np.array([0.0, 0.0, 6.8 * EDGE])
    else:
        (place, faces), collider = grid(12, 12, 14 * EDGE, 14 * EDGE), None
        place = turned(place, 0.5, 2) + motion(place, rng, 0.5 * EDGE) - np.array([0.0, 0.0, 0.8 * EDGE])
    other = Mesh(place, faces, len(flat))
    pair = World(one.surface, other.surface, points_only=kind == "cloth, fast", collider=collider)
    x = np.ascontiguousarray(np.concatenate([one.x, other.x]).T)
    step = motion(x.T, rng, 0.1 * EDGE).T + np.repeat([[0.0], [0.0], [0.1 * EDGE]], x.shape[1], axis=1)
    step[:, one.part] *= -1.0
    pair.predict(x.T, (x + step).T, other.surface)
    pair.bounds.advance(1.0)
    x = x + step
    pair.predict(x.T, (x + step).T, one.surface)
    pair.query(backend, x)
    before = {kind: set(keys) for kind, keys in rows_by_kind(pair).items()}
    strays = np.linalg.norm(flat - rng.uniform(-3.0, 3.0, 3) * [EDGE, EDGE, 0.0], axis=1) < 2.0 * EDGE
    p = x + step
    p[:, one.part][:, strays] += 0.5 * EDGE * rng.normal(size=(3, 1))
    outside = pair.outside(p)
    assert 0 < len(outside) <= strays.sum()
    pair.widen(outside, p)
    pair.bounds.margin[outside] *= 2.0
    assert not len(pair.outside(p))
    is_late = np.zeros(x.shape[1], bool)
    is_late[outside] = True
    pair.query_again(backend, x, is_late)
    again, rows = rows_by_kind(pair), pair.candidates
    np.testing.assert_allclose(backend.closest_points(x, rows.particles, rows.kind)[2], rows.normals, atol=1e-12)
    pair.query(backend, x)
    whole = rows_by_kind(pair)
    assert {kind: sorted(keys) for kind, keys in again.items()} == {kind: sorted(keys) for kind, keys in whole.items()}
    assert any(set(keys) > before[kind] for kind, keys in again.items())


def test_what_moves_along_makes_no_more_candidates():
    """A sheet above a ball in empty space, both at rest and both at 3 m/s."""
    vertices, faces = icosphere(2, 0.2)
    sheet, quads = grid(16, 16, 0.5, 0.5)
    material = Material(drag=0.0, air_normal=0.0, air_tangent=0.0)
    count = []
    for speed in (0.0, 3.0):
        body = Body(sheet + np.array([0.0, 0.0, 0.204]), quads, material, velocity=(0.0, 0.0, speed))
        ball = Collider(vertices, faces)
        simulation = Simulation([body], [ball], gravity=(0.0, 0.0, 0.0), kernels="numpy")
        for frame in range(1, 4):
            simulation.move_collider(ball, vertices + np.array([0.0, 0.0, speed * frame / 24.0]))
            simulation.step(1.0 / 24.0)
        count.append(model_of(simulation).contact.candidate_list.rows.size)
    assert count[1] == pytest.approx(count[0], rel=0.1) and count[0] > 20


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_sheet_that_turns_finds_what_comes_near(speed):
    """Nor is anything missed where the sheet turns as a whole, by up to half a turn while the bound lasts."""
    x, flat, quads = folded_sheet(2)
    sheet = Mesh(x, quads, 0)
    sheet.body.rest_vertices = flat
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    rng = np.random.default_rng(12)
    pair.bounds.self_only[0] = True
    assert check(pair, [sheet], motion(x, rng, speed * EDGE), 2, spin=0.08) > 0


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("seed", range(2))
def test_two_bodies_find_what_comes_near(seed, speed):
    """All vertices with all triangles and all sharp edges with each other, of bodies with motions of their own.

    That both go by three edges in each substep, as their frame of reference does, makes no more candidates.
    """
    rng = np.random.default_rng(seed)
    vertices, quads = grid(7, 5, 7 * EDGE, 5 * EDGE)
    one = Mesh(vertices + motion(vertices, rng, 0.3 * EDGE), quads, 0)
    place = turned(vertices, 0.5 + seed, 2) + np.array([0.003, 0.001, 0.9 * EDGE])
    other = Mesh(place + motion(place, rng, 0.3 * EDGE), quads, len(vertices))
    pair = World(one.surface, other.surface)
    step = np.concatenate([
        motion(one.x, rng, 0.5 * speed * EDGE) + speed * EDGE * np.array([0.1, 0.2, 0.3]),
        motion(other.x, rng, 0.5 * speed * EDGE) - speed * EDGE * np.array([0.2, 0.1, 0.3]),
    ])  # fmt: skip
    assert check(pair, [one, other], step, seed) > 0
    count, both = pair.candidates.size, np.array([1.8, 0.0, -2.4]) * EDGE
    pair.bounds.use_reference(both)
    assert check(pair, [one, other], step + both, seed) > 0
    assert pair.candidates.size == count


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("kind", ["open", "closed", "container"])
def test_colliders_find_what_comes_near(kind, speed):
    """The same with a collider's surface, whose smooth edges count where a layer is squeezed."""
    rng = np.random.default_rng(3)
    if kind == "open":
        vertices, faces = grid(6, 6, 6 * EDGE, 6 * EDGE)
        vertices = vertices + motion(vertices, rng, 0.5 * EDGE) - np.array([0.0, 0.0, 0.8 * EDGE])
    elif kind == "closed":
        vertices, faces = box((4 * EDGE, 5 * EDGE, 3 * EDGE), 2)
        vertices = turned(vertices, 0.4, 0) - np.array([0.0, 0.0, 3.0 * EDGE])
    else:
        vertices, faces = icosphere(2, 5 * EDGE)
    collider = Collider(vertices, faces, inside=kind == "container")
    flat, quads = grid(6, 5, 6 * EDGE, 5 * EDGE)
    cloth = Mesh(flat + motion(flat, rng, 0.2 * EDGE) - [0.0, 0.0, 2.0 * EDGE * (kind == "container")], quads, 0)
    obstacle = Mesh(vertices, faces, len(flat))
    pair = World(cloth.surface, obstacle.surface, collider=collider)
    step = np.concatenate([
        motion(cloth.x, rng, 0.5 * speed * EDGE) + speed * EDGE * np.array([0.2, 0.0, -0.2]),
        np.tile(speed * EDGE * np.array([0.0, 0.1, 0.2]), (len(vertices), 1)),
    ])  # fmt: skip
    assert check(pair, [cloth, obstacle], step, 4) > 0


def test_a_still_pair_has_no_more_rows_than_it_needs():
    """Where nothing moves, what is farther than the distance and the margin of both sides is no row."""
    x, flat, quads = folded_sheet(0)
    sheet = Mesh(x, quads, 0)
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    pair.predict(x, x)
    pair.query(numpy_kernels, x.T.copy())
    particles = all_particles(sheet, sheet, FACE)
    gap = gaps(x, particles, FACE)
    reach = DISTANCE + 2.0 * pair.bounds.margin.max()
    assert set(rows_by_kind(pair)[FACE]) <= set(key(particles[gap <= reach + 1e-12], FACE))


def whole_searches(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many there are in 30 frames of a curtain that swings about its upper edge, in ten substeps each."""
    queries, find_all = [], BroadPhase.find

    def count(search, kernels, x, is_late=None):
        queries.extend([1] * (is_late is None))
        return find_all(search, kernels, x, is_late)

    monkeypatch.setattr(BroadPhase, "find", count)
    vertices, quads = grid(60, 60, 1.0, 1.0)
    x, y, _ = vertices.T
    hanging = np.stack([x, np.sin(1.0) * y, -np.cos(1.0) * y], axis=1)
    body = Body(hanging, quads, PRESETS["Cotton"], pins=range(61))
    simulation = Simulation([body])
    for _ in range(30):
        simulation.step(1 / 24)
    return len(queries)


def test_a_swinging_curtain_is_searched_hardly_twice_a_frame(monkeypatch):
    assert 30 <= whole_searches(monkeypatch) <= 60


def test_what_is_not_free_is_searched_a_few_times_a_frame(monkeypatch):
    """A bound as short as one substep has to observe its error too: it would stay that short, whatever cloth does."""
    monkeypatch.setattr(MotionBounds, "find_free", lambda *_: None)
    assert 60 < whole_searches(monkeypatch) <= 150


@pytest.mark.parametrize(("height", "way", "pushed", "free"), [
    (1.0, 0.0, False, True), (0.08, 0.0, False, False), (1.0, -0.95, False, False), (1.0, -0.5, False, True),
    (1.0, 0.0, True, False),
])  # fmt: skip
def test_free_is_what_is_far_from_all_in_the_whole_frame(height, way, pushed, free):
    """At its beginning and on its way, and what was not pushed; a collider that comes is another."""
    vertices, quads = grid(9, 9, 9 * EDGE, 9 * EDGE)
    sheets = [Mesh(vertices + np.array([0.0, 0.0, z]), quads, start) for start, z in ((0, 0.0), (100, height))]
    x = np.concatenate([sheet.x for sheet in sheets]).T.copy()
    moves = np.zeros_like(x)
    moves[2, 100:] = way
    for bodies, expected in ((2, [free and not pushed, free]), (1, [free])):
        bounds = MotionBounds([sheet.surface for sheet in sheets], 100 * bodies, x.shape[1])
        bounds.find_free(x, moves, np.array([pushed, False])[:bodies])
        np.testing.assert_array_equal(bounds.is_free[:bodies], expected if not pushed else [False, True][:bodies])


def test_sheets_that_fall_side_by_side_are_not_candidates():
    """Nobody knows that both gather the same speed: bounds that last long would have room for any fall."""
    vertices, quads = grid(23, 23, 0.4, 0.4)
    bodies = [Body(vertices + np.array([0.0, 0.0, height]), quads, PRESETS["Cotton"]) for height in (0.0, 0.02)]
    simulation = Simulation(bodies)
    (contact,) = [one for one in simulation.constraints if isinstance(one, ContactConstraints)]
    found = []
    for _ in range(6):
        simulation.step(DT)
        found.append(contact.candidate_list.rows.size)
    assert max(found[2:]) == 0


def test_what_falls_on_a_ball_is_searched_for_near_it(monkeypatch):
    """A sheet falls steadily, so that a bound could last for frames: all that lay on its way would be candidates."""
    found, find_all = [], BroadPhase.find

    def count(search, kernels, x, is_late=None):
        rows = find_all(search, kernels, x, is_late)
        found.append(rows.size)
        return rows

    monkeypatch.setattr(BroadPhase, "find", count)
    sheet, quads = grid(50, 50, 1.0, 1.0)
    ball = Collider(*icosphere(3, 0.25), 0.001)
    body = Body(sheet + np.array([0.0, 0.0, 0.3]), quads, PRESETS["Cotton"])
    simulation = Simulation([body], [ball])
    for _ in range(5):
        simulation.step(1 / 24)
    assert 0 < max(found) < 100_000


def test_no_row_comes_twice_and_none_shares_a_vertex():
    """Vertices with their own triangles and edges with their neighbors are no rows; vertex and triangle meet once."""
    x, flat, quads = folded_sheet(1)
    sheet = Mesh(x, quads, 0)
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    pair.predict(x, x)
    pair.query(numpy_kernels, x.T.copy())
    rows = pair.candidates
    assert {FACE, EDGES} == set(rows.kind.tolist())
    first = np.where(np.arange(4)[:, None] < np.where(rows.kind == FACE, 1, 2), rows.particles, -1)
    second = np.where(first < 0, rows.particles, -2)
    assert not (first[:, None] == second[None]).any()
    faces = rows_by_kind(pair)[FACE]
    assert len(set(faces)) == len(faces)


@pytest.mark.parametrize("seed", range(2))
def test_rows_keep_their_distance_or_that_at_rest(seed):
    """The distance of a row is the pair's, or nine tenths of that at rest where it is less (never 0 for no reason)."""
    x, flat, quads = folded_sheet(seed)
    sheet = Mesh(x, quads, 0)
    pair = World(sheet.surface, distance=1.7 * EDGE, rest=np.ascontiguousarray(flat.T))
    pair.predict(x, x)
    pair.query(numpy_kernels, x.T.copy())
    limited = 0
    for kind in (FACE, EDGES):
        particles = all_particles(sheet, sheet, kind)
        at_rest = dict(zip(key(particles, kind), gaps(flat, particles, kind).tolist()))
        which = pair.candidates.kind == kind
        kept_distances = pair.candidates.min_distance[which].tolist()
        for row, kept in zip(key(pair.candidates.particles[:, which].T, kind), kept_distances):
            assert kept <= 1.7 * EDGE * (1.0 + 1e-12)
            assert kept <= REST_SHARE * at_rest[row] + 1e-12, row
            if kept < SMOOTH_SHARE * 1.7 * EDGE:
                assert kept == pytest.approx(REST_SHARE * at_rest[row], abs=1e-12)
            limited += kept < 1.7 * EDGE
    assert limited > 100


def exact(row: np.ndarray, kind: int, x: Places) -> float:
    """Distance of the two sides of a row of particles (4,) at positions x."""
    a, b, c, d = (x[None, particle] for particle in row)
    return float((_point_triangle(a, b, c, d) if kind == FACE else segment_distances(a, b, c, d))[0])


def test_gradients_of_rows_are_those_of_the_distance():
    """share x normal is the derivative of the distance between the two sides, by central differences (Danskin: the
    closest points themselves need not be differentiated)."""
    x, flat, quads = folded_sheet(0)
    sheet = Mesh(x, quads, 0)
    pair = World(sheet.surface, rest=np.ascontiguousarray(flat.T))
    pair.predict(x, x)
    pair.query(numpy_kernels, x.T.copy())
    rows, step = pair.candidates, 1e-7
    chosen = np.random.default_rng(0).choice(rows.size, 200, replace=False)
    kinds = set()
    for number in chosen.tolist():
        particles, kind = rows.particles[:, number], int(rows.kind[number])
        gradient = rows.weights[:, number, None] * rows.normals[:, number]
        value = float(rows.normals[:, number] @ (rows.weights[:, number] @ x[particles]))
        assert value == pytest.approx(exact(particles, kind, x), abs=1e-12)
        slopes = np.zeros((4, 3))
        for corner in range(4):
            for axis in range(3):
                there, back = x.copy(), x.copy()
                there[particles[corner], axis] += step
                back[particles[corner], axis] -= step
                slopes[corner, axis] = (exact(particles, kind, there) - exact(particles, kind, back)) / (2.0 * step)
        np.testing.assert_allclose(gradient, slopes, rtol=0.0, atol=1e-4)
        kinds.add(kind)
    assert kinds == {FACE, EDGES}


def lying(collider: Collider) -> tuple[Simulation, Body]:
    body = Body(*grid(6, 6, 6 * EDGE, 6 * EDGE), Material(thickness=0.001))
    simulation = Simulation([body], [collider])
    simulation.positions(body)[:] += [0.0, 0.0, 0.0035]
    for _ in range(3):
        simulation.step(DT)
    return simulation, body


def test_values_of_contact_with_a_collider():
    """C is the gap between the closest points less the distance, and its gradient its derivative, also where the other
    side is a collider, whose particles come after those of the bodies."""
    vertices, quads = grid(3, 3, 10 * EDGE, 10 * EDGE)
    simulation, body = lying(Collider(vertices + np.array([0.003, 0.002, 0.0]), quads, thickness=0.002))
    contact = find(simulation, "contact")
    x = simulation.positions(body).copy()
    values, (particles, gradients) = contact.values(x), contact.gradients(x)
    assert values.shape == contact.multipliers.shape == contact.forces().shape == (len(particles),)
    assert len(values) > 20
    everything = np.concatenate([x, vertices + np.array([0.003, 0.002, 0.0])])
    gap = np.einsum("mji,mji->m", gradients, everything[particles])
    np.testing.assert_allclose(values, gap - 0.003, atol=1e-15)
    straight = (particles[:, 1:] >= len(x)).all(axis=1) & (gradients[:, 0, 2] > 1.0 - 1e-12)
    assert straight.sum() >= 20
    np.testing.assert_allclose(values[straight] + 0.003, x[particles[straight, 0], 2], rtol=0.0, atol=1e-9)
    for particle in range(len(x)):
        for axis in range(3):
            there, back = x.copy(), x.copy()
            there[particle, axis] += 1e-5
            back[particle, axis] -= 1e-5
            slope = (contact.values(there) - contact.values(back)) / 2e-5
            given = np.where(particles == particle, gradients[:, :, axis], 0.0).sum(axis=1)
            np.testing.assert_allclose(given, slope, rtol=0.0, atol=1e-9)


def test_forces_of_contact_carry_the_weight():
    """Lambda / h² in newtons: what lies still is held by its weight, summed over the contacts' normals."""
    vertices, quads = grid(1, 1, 1.0, 1.0)
    simulation, body = lying(Collider(vertices, quads, thickness=0.002))
    for _ in range(9):
        simulation.step(DT)
    contact = find(simulation, "contact")
    particles, gradients = contact.gradients(simulation.positions(body))
    push = np.where((particles < len(body.vertices))[:, :, None], gradients, 0.0).sum(axis=1)
    total = contact.forces() @ push
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * body.masses().sum()], rtol=0.02, atol=1e-6)


def test_a_collider_far_away_costs_no_rows():
    """Nothing that cannot be reached is a row, however much there is of it."""
    ball, faces = icosphere(3, 0.5)
    places = []
    for colliders in ([Collider(ball + np.array([5.0, 0.0, 0.0]), faces)], []):
        body = Body(*grid(8, 8, 0.2, 0.2), pins=range(9))  # held by a corner it would meet itself
        simulation = Simulation([body], colliders)
        for _ in range(5):
            report = simulation.step(DT)
            assert not find(simulation, "contact").candidate_list.rows.size
        assert report.contacts == 0
        places.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*places)


def test_distances_of_this_file_agree():
    """The brute force here gives what the other one of the tests gives."""
    rng = np.random.default_rng(0)
    points, x = rng.random((40, 3)), rng.random((30, 3))
    triangles = rng.permutation(30).reshape(10, 3)
    a, b, c = (np.tile(x[triangles[:, k]], (40, 1)) for k in range(3))
    gap = _point_triangle(np.repeat(points, 10, axis=0), a, b, c).reshape(40, 10).min(axis=1)
    np.testing.assert_allclose(gap, distances(points, x, triangles), rtol=0.0, atol=1e-12)
    a, b, c, d = rng.random((4, 500, 3))
    s = np.linspace(0.0, 1.0, 201)
    one = a[:, None] + s[None, :, None] * (b - a)[:, None]
    sampled = np.array([np.linalg.norm(p[:, None] - (u + s[:, None] * (v - u))[None], axis=2).min()
                        for p, u, v in zip(one, c, d)])  # fmt: skip
    assert (segment_distances(a, b, c, d) <= sampled + 1e-12).all()
    np.testing.assert_allclose(segment_distances(a, b, c, d), sampled, atol=0.01)


def shapes(kind: str) -> np.ndarray:
    """Four corners of each row (300, 4, 3) [m]: of any shape, or with a side that is long, short or none."""
    q = np.random.default_rng(1).normal(size=(300, 4, 3))
    share = np.random.default_rng(2).random((300, 1))
    if kind == "slivers":  # the last corner is a micrometre beside the line through the two before
        q[:, 3] = q[:, 1] + share * (q[:, 2] - q[:, 1]) + 1e-6 * q[:, 3]
    elif kind == "lines":
        q[:, 3] = q[:, 1] + share * (q[:, 2] - q[:, 1])
    elif kind == "points":
        q[:, 1] = q[:, 2] = q[:, 3]
    elif kind == "parallel":
        q[:, 3] = q[:, 2] + (1.0 + share) * (q[:, 1] - q[:, 0])
    elif kind == "nearly parallel":
        q[:, 3] = q[:, 2] + (1.0 + share) * (q[:, 1] - q[:, 0]) + 1e-4 * q[:, 3]
    return q


@pytest.mark.parametrize("kind", ["any", "slivers", "lines", "points"])
def test_the_closest_point_of_a_triangle_is_the_closest(kind):
    """Of a triangle of any shape, also without area: its point that is nearest to a vertex."""
    q = shapes(kind)
    share = closest.closest_on_triangles(q.transpose(2, 1, 0).copy())
    np.testing.assert_allclose(share[0], 1.0)
    np.testing.assert_allclose(share[1:].sum(axis=0), -1.0, atol=1e-9)
    assert share[1:].max() <= 0.0
    gap = closest.gaps_and_normals(q.transpose(2, 1, 0).copy(), share)[0]
    a, b, c, d = q.transpose(1, 0, 2)
    np.testing.assert_allclose(gap, _point_triangle(a, b, c, d), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("kind", ["any", "parallel", "nearly parallel"])
def test_the_closest_points_of_edges_are_the_closest(kind):
    """Of two edges in any position, also side by side.

    Those with a squared sine of at most 1e-9 between them count as parallel, which may cost that angle times the edge.
    """
    q = shapes(kind)
    share = closest.closest_on_edges(q.transpose(2, 1, 0).copy())
    np.testing.assert_allclose(share[:2].sum(axis=0), 1.0)
    np.testing.assert_allclose(share[2:].sum(axis=0), -1.0)
    gap = closest.gaps_and_normals(q.transpose(2, 1, 0).copy(), share)[0]
    a, b, c, d = q.transpose(1, 0, 2)
    margin = np.sqrt(1e-9) * np.linalg.norm(b - a, axis=1) * (kind == "nearly parallel") + 1e-9
    assert (np.abs(gap - segment_distances(a, b, c, d)) <= margin).all()


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("seed", range(2))
def test_one_search_finds_what_a_search_of_each_pair_finds(seed, kernels):
    """Sheets of many sizes, a rope and two colliders in a heap, at distances of their own; one does not meet itself."""
    backend, rng = load(kernels), np.random.default_rng(seed)
    shapes = [(coil(25), [], np.stack([range(24), range(1, 25)]).T)]
    shapes += [(*grid(size, size, size * EDGE, size * EDGE), ()) for size in (2, 9, 4, 1, 9, 6)]
    balls = [icosphere(2, 3 * EDGE), box((6 * EDGE, 6 * EDGE, EDGE), 3)]
    meshes, start = [], 0
    for vertices, faces, loose in [*shapes, *((*ball, ()) for ball in balls)]:
        place = turned(vertices, rng.uniform(0.0, 3.0), 2) + rng.uniform(-1.0, 1.0, 3) * [3 * EDGE, 3 * EDGE, EDGE]
        meshes.append(Mesh(place + motion(place, rng, rng.uniform(0.5, 3.0) * EDGE), faces, start, loose))
        start += len(place)
    surfaces, bodies = [mesh.surface for mesh in meshes], len(shapes)
    x = np.concatenate([mesh.x for mesh in meshes])
    p = x + np.concatenate([motion(mesh.x, rng, 0.2 * EDGE) + rng.normal(0.0, 0.1 * EDGE, 3) for mesh in meshes])
    distance = rng.uniform(0.2, 0.6, (bodies, len(meshes))) * EDGE
    distance[:, :bodies] = 0.5 * (distance[:, :bodies] + distance[:, :bodies].T)
    is_self = np.arange(bodies) != 2
    bounds = MotionBounds(surfaces, len(x), len(x))
    search, rest = BroadPhase(surfaces, bodies, bounds), 2.0 * np.ascontiguousarray(x.T)
    search.set_rules(Rules(distance, is_self, True, False, rest, (None, None)))
    every = np.append(np.ones(len(meshes), bool), False)
    bounds.predict(np.ascontiguousarray(x.T), np.ascontiguousarray(p.T), every)
    search.height_fields.update(backend, np.ascontiguousarray(p.T), every, True)
    rows = search.find(backend, np.ascontiguousarray(x.T))
    found = {(one, other): Counter[tuple]() for one in range(bodies) for other in range(one, len(meshes))}
    for kind in (FACE, EDGES):
        some = np.flatnonzero(rows.kind == kind)
        for pair, row in zip(rows.pair[some].tolist(), key(rows.particles[:, some].T, kind)):
            found[divmod(pair, len(meshes) + 1)][row] += 1
    assert sum(found[one, one].total() for one in range(bodies)) > 20
    needed_rows = more = 0
    for (one, other), its_own in found.items():
        sides = surfaces[one : one + 1] if one == other else [surfaces[one], surfaces[other]]
        collider = Collider(*balls[other - bodies]) if other >= bodies else None
        alone = World(*sides, distance=distance[one, other], rest=rest, collider=collider)
        if one == other and not is_self[one]:
            assert not its_own
            continue
        end = sides[-1].part.stop
        alone.predict(x[:end], p[:end])
        alone.query(backend, np.ascontiguousarray(x[:end].T))
        expected = Counter(row for rows in rows_by_kind(alone).values() for row in rows)
        assert not expected - its_own, (one, other)
        assert max(its_own.values(), default=1) == 1
        needed_rows, more = needed_rows + expected.total(), more + (its_own - expected).total()
    assert more < 0.1 * needed_rows  # boxes around what meets several others are as large as the farthest needs
