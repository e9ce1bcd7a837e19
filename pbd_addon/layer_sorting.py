"""Layers of garments: cloth that starts tangled is put in the order of `Body.layer`, before the first frame.

In two steps. Vertices of an outer cloth that are behind an inner one, or cross it, are put in front of it, until none
are left. Then the cloths are stepped without gravity: the outer one, which is stretched now, contracts, the inner one
gives way, and contact makes no new crossings.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from . import solver
from .bodies.body import Body
from .building.build import build_model
from .contact.contact_scene import AUTO_DISTANCE
from .contact.crossings import crossing_pairs
from .kernels import Kernels
from .meshes.mesh import half_edges, pair_keys
from .meshes.surface_points import nearest_points
from .model.model import Model, Targets
from .timing.slices import Result
from .timing.stopwatch import Stopwatch

MOST_ROUNDS = 40
"""Most rounds in which a cloth is pushed out; tubes that cross by up to 3 cm take 2 to 7."""

FARTHER = 0.25
"""Share of the distance between cloths by which a vertex that still crosses is put farther off in each round."""

REST_FRAMES = (4, 1, 1)
"""Frames of 1/24 s in which lengths become what they are at rest, and of more; each begins without velocity.

Two tubes of 15 cm that cross by 3 cm, 1900 vertices each, begin the run at 0.5, 0.3, 0.1, 0.1 m/s after 2, 4, 4 + 1 +
1, 8 + 1 + 1 frames. Where all lengths are right at once, the first of these frames costs as much as twenty."""

BESIDE = 0.7
"""What is at an angle of more than 45° from the normal at a border is beside the cloth: it is on neither side. What is
above the border has a side: two garments may end at the same height."""

SLICE_VERTICES = 1000
"""Vertices whose nearest points are found in one slice; with 16,000 triangles it takes 0.2 s."""

FIRM = 1e12
"""A strength that no tension exceeds [N/m]."""


class Cloth(NamedTuple):
    """A body with a layer.

    Attributes:
        layer: `Body.layer`.
        distance: That its material keeps from cloth like it [m].
        vertices: Particles with faces, (v,) int.
        triangles: Particles of each, (t, 3) int.
        edges: (e, 2) int.
        is_border: Which sides of each triangle, from one corner to the next, have no other triangle, (t, 3) bool.
        on_border: Which of all particles are at such a side, (n,) bool.
    """

    layer: int
    distance: float
    vertices: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    is_border: np.ndarray
    on_border: np.ndarray


class Feet(NamedTuple):
    """The points of a cloth that are nearest to others.

    Attributes:
        corners: Particles of the triangle that each is in, (k, 3) int.
        weights: Its barycentric coordinates there, (k, 3).
        places: Where it is, (k, 3) [m].
        normals: Smooth unit normals, (k, 3).
        gaps: How far away the other is, negative behind the cloth, (k,) [m].
        is_beyond: Whether the other is beyond a border, on neither side, (k,) bool.
    """

    corners: np.ndarray
    weights: np.ndarray
    places: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    is_beyond: np.ndarray


def sort_layers(model: Model, kernels: Kernels) -> Generator[None, None, tuple[np.ndarray, int] | None]:
    """Put cloths that start tangled in order, in slices.

    Args:
        model: The scene; not changed.
        kernels: Those of a backend.

    Returns:
        Where all particles start, (3, n) [m], and how many edges of one layer go through another there; None if no
        layers are tangled, or nothing would keep them apart.
    """
    if model.settings.collisions == "OFF" or len({model.bodies[number].layer for number in _with_layer(model)}) < 2:
        return None
    cloths = _cloths(model)
    x, is_tangled = model.initial_state().x.T.copy(), False
    for number, outer in enumerate(cloths):
        inner = [cloth for cloth in cloths[:number] if cloth.layer < outer.layer]
        moved = yield from push_out(x, inner, outer, model.w > 0.0, kernels)
        is_tangled |= moved
    if not is_tangled:
        return None
    x = yield from come_to_rest(model, _with_layer(model), x, kernels)
    pairs = [(one, other) for one in cloths for other in cloths if one.layer < other.layer]
    return x.T.copy(), sum(len(edge) for pair in pairs for edge, _, _ in _crossings(x, *pair, kernels))


def _with_layer(model: Model) -> list[int]:
    """Numbers of the bodies that have a layer; rigid ones have none, as they cannot be sorted without a dent."""
    bodies = zip(model.bodies, model.materials)
    return [number for number, (body, material) in enumerate(bodies) if body.layer and not material.rigid]


def _cloths(model: Model) -> list[Cloth]:
    """The bodies with a layer and faces, from the inside to the outside."""
    found = []
    for number in _with_layer(model):
        body, material, part = model.bodies[number], model.materials[number], model.slices[number]
        surface = model.contact.surfaces[number]
        if surface is None or not len(body.mesh.triangles):
            continue
        triangles = body.mesh.triangles.astype(int) + part.start
        distance = material.self_distance or AUTO_DISTANCE * surface.edge
        found.append(cloth_of(triangles, len(model.w), distance, body.layer))
    return sorted(found, key=lambda cloth: cloth.layer)


def cloth_of(triangles: np.ndarray, particles: int, distance: float, layer: int = 0) -> Cloth:
    """The cloth of triangles (t, 3) int among so many particles."""
    sides = half_edges(triangles)[0]
    keys = pair_keys(sides, particles)
    _, first, place, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    is_border = np.asarray(count[place.ravel()] == 1)
    on_border = np.zeros(particles, bool)
    on_border[sides[is_border]] = True
    return Cloth(layer, distance, np.unique(triangles), triangles, sides[first], is_border.reshape(-1, 3), on_border)


def push_out(
    x: np.ndarray,
    inner: Sequence[Cloth],
    outer: Cloth,
    moves: np.ndarray,
    kernels: Kernels,
    most_rounds: int = MOST_ROUNDS,
    reach: float = np.inf,
) -> Generator[None, None, bool]:
    """Put the outer cloth in front of all inner ones, at x (n, 3) [m], in place; whether it was not there.

    Args:
        x: Positions.
        inner: What it is to be in front of.
        outer: What is moved.
        moves: Which particles can move, (n,) bool.
        kernels: Those of a backend.
        most_rounds: So often at most.
        reach: Ends of inner edges that are farther behind the outer cloth are not where these go through it [m].
    """
    farther, was_tangled = np.zeros(len(x)), False
    for _ in range(most_rounds if inner else 0):
        is_tangled = False
        for cloth in inner:
            is_tangled |= yield from _push_out_of(x, cloth, outer, moves, farther, kernels, reach)
        if not is_tangled:
            break
        was_tangled = True
    return was_tangled


def _push_out_of(
    x: np.ndarray, inner: Cloth, outer: Cloth, moves: np.ndarray, farther: np.ndarray, kernels: Kernels, reach: float
) -> Generator[None, None, bool]:
    """One round for one inner cloth; whether there was anything to do.

    farther: How far off particles are put beyond the distance, (n,) [m]; raised where they cross, in place.
    """
    distance = 0.5 * (inner.distance + outer.distance)
    (_, of_outer, through_inner), (_, of_inner, through_outer) = _crossings(x, inner, outer, kernels)
    crossing = np.zeros(len(x), bool)
    crossing[of_outer] = crossing[through_outer] = True
    vertices = outer.vertices[moves[outer.vertices]]
    parts = []
    for start in range(0, max(len(vertices), 1), SLICE_VERTICES):
        parts.append(_feet(x[vertices[start : start + SLICE_VERTICES]], x, inner))
        yield
    feet = Feet(*map(np.concatenate, zip(*parts)))
    is_behind = (feet.gaps < 0.0) & ~feet.is_beyond
    if not crossing.any() and not is_behind.any():
        return False
    farther[crossing] += FARTHER * distance
    for one, other in (outer.edges.T, outer.edges.T[::-1]):  # neighbors go along
        np.maximum.at(farther, one, 0.5 * farther[other])
    goal = distance + farther[vertices]
    low = (feet.gaps < goal) & ~feet.is_beyond
    x[vertices[low]] = (feet.places + goal[:, None] * feet.normals)[low]
    low = feet.is_beyond & crossing[vertices]
    x[vertices[low]] += FARTHER * distance * feet.normals[low]
    # Ridges of the inner cloth stand out between the vertices of the outer one.
    ridges = np.unique(np.concatenate([of_inner.ravel(), through_inner.ravel()]))
    if len(ridges):
        _push_over(x, ridges, _normals(x, inner)[1][ridges], outer, moves, 0.5 * distance, reach)
    return True


def _push_over(
    x: np.ndarray,
    ridges: np.ndarray,
    outward: np.ndarray,
    outer: Cloth,
    moves: np.ndarray,
    distance: float,
    reach: float,
) -> None:
    """Move triangles of the outer cloth, in place, in front of the nearest particles `ridges` (k,) int.

    outward: Normals of the inner cloth there, (k, 3): whichever way the outer one faces.
    """
    feet = _feet(x[ridges], x, outer)
    facing = np.where(_dot(feet.normals, outward) < 0.0, -1.0, 1.0)
    short = feet.gaps * facing + distance
    low = (short > 0.0) & (short < reach) & ~feet.is_beyond
    corners, weights = feet.corners[low].ravel(), feet.weights[low]
    push = (short * facing)[low, None] * feet.normals[low]
    moved = ((weights / _dot(weights, weights)[:, None])[:, :, None] * push[:, None]).reshape(-1, 3)
    shares, count = weights.ravel(), len(x)
    total = np.bincount(corners, shares, count)
    mean = np.stack([np.bincount(corners, shares * axis, count) for axis in moved.T], axis=1)
    x += np.where(moves, 1.0 / np.where(total > 0.0, total, np.inf), 0.0)[:, None] * mean


def come_to_rest(
    model: Model, numbers: Sequence[int], x: np.ndarray, kernels: Kernels
) -> Generator[None, None, np.ndarray]:
    """Where the particles at x (n, 3) [m] are after the bodies of these numbers have come to rest, the same way."""
    particles = np.concatenate([np.arange(part.start, part.stop) for part in map(model.slices.__getitem__, numbers)])
    bodies = [_dynamic(model.bodies[number].origin) for number in numbers]
    materials = [
        dataclasses.replace(m, bend_yield=0.0, stretch_yield=0.0, tear_strength=FIRM if m.tear_strength else 0.0)
        for m in (model.materials[number] for number in numbers)
    ]
    maps = [model.maps[number] for number in numbers]
    settings = dataclasses.replace(model.settings, gravity=(0.0, 0.0, 0.0))
    calm = yield from build_model(bodies, model.planes, model.colliders, settings, materials, maps)
    state = calm.initial_state()
    targets = Targets.of(state)
    state.x = x[particles].T.copy()
    state.memory["rest"]["shape"] = state.x[:, calm.follows].copy()
    result = x.copy()
    for frames in REST_FRAMES:
        state.v = np.zeros_like(state.x)
        longer = dataclasses.replace(settings, substeps=settings.substeps * frames)
        step = solver.step(calm, state, longer, targets, dt=frames / 24.0, kernels=kernels, watch=Stopwatch())
        try:
            calm, state = yield from _without_shares(step)
        except solver.UnstableError:
            break  # as far as it came
        result[particles] = state.x.T
    return result


def _dynamic(body: Body) -> Body:
    """The body with a rest shape that can change."""
    result = copy.copy(body)
    result.origin, result.dynamic_mesh = result, True
    return result


def _without_shares(step: Generator[float, None, Result]) -> Generator[None, None, Result]:
    while True:
        try:
            next(step)
        except StopIteration as end:
            return end.value
        yield


def _crossings(
    x: np.ndarray, one: Cloth, other: Cloth, kernels: Kernels
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
    """What crosses of two cloths at x (n, 3): of edges of the other, then of edges of the one.

    Numbers of the edges (k,), their particles (k, 2), and those of the triangles that they go through, (k, 3).
    """
    found = []
    positions = np.ascontiguousarray(x.T)
    for edges, triangles in ((other.edges, one.triangles), (one.edges, other.triangles)):
        edge, triangle = crossing_pairs(positions, edges.T, triangles.T, kernels=kernels)
        found.append((edge, edges[edge], triangles[triangle]))
    return tuple(found)


def _feet(points: np.ndarray, x: np.ndarray, cloth: Cloth) -> Feet:
    """The nearest points of a cloth at x (n, 3) to points (k, 3)."""
    at, weights = nearest_points(points, x, cloth.triangles)
    of_faces, of_vertices = _normals(x, cloth)
    corners = cloth.triangles[at]
    places = np.einsum("ki,kij->kj", weights, x[corners])
    normals = _unit(np.einsum("ki,kij->kj", weights, of_vertices[corners]))
    at_edge = np.less_equal(weights, 1e-9)
    facing = np.where(at_edge.any(axis=1)[:, None], normals, of_faces[at])
    away = points - places
    far = np.sqrt(_dot(away, away))
    gaps = np.where(_dot(away, facing) < 0.0, -far, far)
    on_border = (at_edge[:, [2, 0, 1]] & cloth.is_border[at]).any(axis=1)  # sides opposite the corners
    at_corner = corners[np.arange(len(at)), weights.argmax(axis=1)]
    on_border |= (at_edge.sum(axis=1) == 2) & cloth.on_border[at_corner]
    is_beyond = on_border & (np.abs(_dot(away, normals)) < BESIDE * far)
    return Feet(corners, weights, places, normals, gaps, is_beyond)


def _normals(x: np.ndarray, cloth: Cloth) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals of the triangles (t, 3), and of all particles (n, 3), which tell the sides of a surface.

    Those of particles are weighted by the angles of the triangles around them (Baerentzen and Aanaes 2005).
    """
    corners = x[cloth.triangles]
    sides = _unit(np.roll(corners, -1, axis=1) - corners)
    of_faces = _unit(np.cross(sides[:, 0], sides[:, 1]))
    angles = np.arccos(np.clip(-_dot(sides, np.roll(sides, 1, axis=1)), -1.0, 1.0))
    sums = np.stack(
        [np.bincount(cloth.triangles.ravel(), (angles * axis[:, None]).ravel(), len(x)) for axis in of_faces.T], axis=1
    )
    return of_faces, _unit(sums)


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("...i,...i->...", one, other))


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of length 1; those without a length stay 0."""
    return np.asarray(vectors / np.maximum(np.sqrt(_dot(vectors, vectors)), 1e-300)[..., None])
