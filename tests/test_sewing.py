"""Sewing: loose edges close and become one, without strain, without a jerk, and the same again from any frame."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import count_between
from helpers.inside import model_of
from helpers.meshes import grid
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.air.wind import Wind
from pbd_addon.constraints import WeldConstraints
from pbd_addon.contact.crossings import crossing_pairs
from pbd_addon.kernels import available, load
from pbd_addon.meshes.seam_pairs import face_each_other

COTTON = dataclasses.replace(Material.preset("Cotton"), drag=0.0, air_normal=0.0, air_tangent=0.0)
"""Without air, which would take momentum."""
NOWHERE = (0.0, 0.0, 0.0)


def capsule(radius: float, height: float, around: int = 48, rings: int = 8):
    """A closed upright capsule around the origin, facing out."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 2 * rings + 1)[1:-1]
    angle = np.insert(angle, rings, 0.0)
    turn = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    x, y = (radius * np.outer(np.cos(angle), way(turn)) for way in (np.cos, np.sin))
    z = radius * np.sin(angle) + np.repeat([-height / 2, height / 2], rings)
    middle = np.stack([x, y, np.repeat(z[:, None], around, axis=1)], axis=-1).reshape(-1, 3)
    end = height / 2 + radius
    k = np.arange(around)
    after = (k + 1) % around
    rows = np.arange(2 * rings - 1)[:, None] * around
    quads = np.stack([k + rows, after + rows, after + rows + around, k + rows + around], axis=-1).reshape(-1, 4) + 1
    top = 1 + len(middle)
    caps = [[0, 1 + j, 1 + i] for i, j in zip(k, after)] + [
        [top, top - around + i, top - around + j] for i, j in zip(k, after)
    ]
    return np.concatenate([[[0.0, 0.0, -end]], middle, [[0.0, 0.0, end]]]), quads.tolist() + caps


def panels(width=0.51, height=0.5, columns=27, rows=24, apart=0.4):
    """Two upright sheets that face out, in front of and behind the origin: vertices, faces, pairs of their sides."""
    flat, quads = grid(columns, rows, width, height)
    sheets = [np.column_stack([flat[:, 0], np.full(len(flat), y), flat[:, 1]]) for y in (-apart / 2, apart / 2)]
    numbers = np.arange(len(flat)).reshape(rows + 1, columns + 1)
    ends = np.concatenate([numbers[:, 0], numbers[:, -1]])
    faces = np.concatenate([quads, np.array(quads)[:, ::-1] + len(flat)]).tolist()
    return np.concatenate(sheets), faces, np.column_stack([ends, ends + len(flat)])


def sew(material=COTTON, colliders=(), gravity=NOWHERE, pins=(), kernels="auto", closing_time=0.5, force=0.0, **shape):
    """Two panels to be sewn: the simulation, their body and the pairs."""
    vertices, faces, pairs = panels(**shape)
    material = dataclasses.replace(material, sewing=True, closing_time=closing_time, sewing_force=force)
    body = Body(vertices, faces, material, edges=pairs, pins=pins)
    return Simulation([body], colliders, gravity=gravity, kernels=kernels), body, pairs


def gaps(simulation, body, pairs):
    one, other = simulation.positions(body)[pairs.T]
    return np.linalg.norm(one - other, axis=1)


def crossings(simulation, body, pairs):
    """How many edges go through triangles, where pairs that are closed are one vertex."""
    closed, first = gaps(simulation, body, pairs) == 0.0, np.arange(len(body.vertices))
    first[pairs[closed, 1]] = pairs[closed, 0]
    edges, triangles = first[body.mesh.edges[~body.is_seam]].T, first[body.mesh.triangles].T
    return len(crossing_pairs(simulation.positions(body).T.copy(), edges, triangles)[0])


@pytest.mark.parametrize("kernels", available())
def test_two_panels_become_a_tube_around_a_body(kernels):
    """Each pair is one, edges are strained by less than 1 % in the mean, in any frame, and nothing crosses."""
    body_within = Collider(*capsule(0.15, 0.6), thickness=0.002, friction=0.4)
    simulation, body, pairs = sew(colliders=[body_within], kernels=kernels, columns=18, rows=16, closing_time=1.0)
    strains = []
    for _ in range(30):
        report = simulation.step(1 / 24)
        strains.append(report.strain_mean)
        assert crossings(simulation, body, pairs) == 0
    x, v = simulation.positions(body), simulation.velocities(body)
    np.testing.assert_array_equal(x[pairs[:, 0]], x[pairs[:, 1]])
    np.testing.assert_array_equal(v[pairs[:, 0]], v[pairs[:, 1]])
    assert max(strains) < 0.01
    assert strains[-1] < 0.001
    assert np.hypot(*x[:, :2].T).min() > 0.15


@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.newest
def test_a_back_that_is_5_percent_longer_is_sewn_too(kernels):
    """Its side is as much shorter as the other is longer then, and its pairs wait for no others."""
    vertices, faces, pairs = panels()
    vertices[len(vertices) // 2 :, 2] *= 1.05
    body = Body(vertices, faces, dataclasses.replace(COTTON, sewing=True), edges=pairs)
    within = Collider(*capsule(0.15, 0.6), thickness=0.002, friction=0.4)
    simulation = Simulation([body], [within], gravity=NOWHERE, kernels=kernels)
    for _ in range(30):
        report = simulation.step(1 / 24)
        assert crossings(simulation, body, pairs) == 0
    assert gaps(simulation, body, pairs).max() == 0.0
    assert report.strain_mean < 0.002
    assert report.strain_p95 < 0.025  # what both sides must take


def test_a_band_that_is_too_tight_stretches_until_it_is_closed_after_its_closing_time():
    """The girth of the body is 0.94 m, that of the band 0.90: pulled as at first, it stays open by 3 cm."""
    simulation, body, pairs = sew(
        colliders=[Collider(*capsule(0.15, 0.6))], closing_time=0.25, width=0.45, height=0.1, columns=18, rows=4
    )
    for _frame in range(12):
        simulation.step(1 / 24)
    assert np.all(gaps(simulation, body, pairs) == 0.0)
    assert body.edge_strain(simulation.positions(body))[~body.is_seam].max() < 0.35


@pytest.mark.parametrize("kernels", available())
def test_springs_are_solved_around_welds_without_a_push(kernels):
    """What springs pull at held welds is given to the body; without its springs, each side of a weld went its way."""
    simulation, body, pairs = sew(columns=6, rows=6, width=0.3, height=0.3, apart=0.3, kernels=kernels)
    stepped(simulation, body, 18)
    assert gaps(simulation, body, pairs).max() == 0.0
    model, x = model_of(simulation), simulation.positions(body).T.copy()
    p = x * np.array([[1.0], [1.0], [1.02]])
    start = p.copy()
    model.welds.solve_springs(load(kernels), model.springs, p, x, np.ones(x.shape[1]))
    impulses = (p - start) / model.w
    turning = np.cross(start - start.mean(axis=1, keepdims=True), impulses, axis=0)
    size = np.abs(impulses).sum()
    assert np.abs(impulses.sum(axis=1)).max() < 1e-9 * size
    assert np.abs(turning.sum(axis=1)).max() < 1e-3 * 0.3 * size
    one, other = p[:, pairs.T].swapaxes(0, 1)
    np.testing.assert_array_equal(one, other)
    beside = np.isin(body.mesh.edges, pairs).any(axis=1) & ~body.is_seam
    ends = body.mesh.edges[beside]
    strain = np.linalg.norm(p[:, ends[:, 0]] - p[:, ends[:, 1]], axis=0) / body.rest_lengths[beside] - 1.0
    assert np.abs(strain).mean() < 0.01


@pytest.mark.newest
def test_four_panels_meet_in_one_point():
    """Those that lie opposite have no seam with each other, and still do not keep the others apart there."""
    flat, quads = grid(6, 6, 0.15, 0.15)
    quarter, numbers, count = flat + np.array([0.105, 0.105, 0.0]), np.arange(49).reshape(7, 7), len(flat)
    signs = [(1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)]
    faces = [np.array(quads)[:, :: sign[0] * sign[1]] + k * count for k, sign in enumerate(signs)]
    along, across = numbers[0], numbers[:, 0]
    sides = [(0, 1, along), (2, 3, along), (0, 2, across), (1, 3, across)]
    pairs = np.concatenate([np.column_stack([one * count + side, other * count + side]) for one, other, side in sides])
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.5)
    vertices = np.concatenate([quarter * sign for sign in signs])
    body = Body(vertices, np.concatenate(faces).tolist(), material, edges=pairs)
    simulation = Simulation([body], gravity=NOWHERE)
    stepped(simulation, body, 20)
    assert gaps(simulation, body, pairs).max() == 0.0


@pytest.mark.newest
@pytest.mark.parametrize("aside", [0.0, 0.3])
def test_where_panels_lie_at_rest_does_not_say_how_far_apart_they_are(aside):
    """As in a pattern: on one another they keep their distance, and beside one another what is sewn is between them."""
    flat, quads = grid(10, 10, 0.2, 0.2)
    count, ends = len(flat), np.arange(11) * 11
    faces = np.concatenate([quads, np.array(quads) + count]).tolist()
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.1)
    pairs, pins = np.column_stack([ends, ends + count]), range(count)
    start, rest = (np.concatenate([flat, flat + shift]) for shift in ([0.0, 0.0, 0.02], [aside, 0.0, 0.0]))
    simulation = Simulation([body := Body(start, faces, material, pins, rest_vertices=rest, edges=pairs)])
    for _ in range(12):
        simulation.step(1 / 24)
        assert crossings(simulation, body, pairs) == 0
    assert gaps(simulation, body, pairs).max() == 0.0
    height = simulation.positions(body)[count:, 2]
    assert height[flat[:, 0] > -0.04].min() > 0.9 * 0.01
    assert model_of(simulation).contact.candidate_list.rows.min_distance.min() > 0.05 * 0.02


def flaps(gap: float, closing_time: float, **options) -> Body:
    """Two panels side by side in one plane, with a gap [m] that seams close."""
    panel, quads = grid(3, 3, 0.3, 0.3)
    vertices = np.concatenate([panel + np.array([side * (0.15 + 0.5 * gap), 0.0, 0.0]) for side in (-1.0, 1.0)])
    faces = [*quads, *([corner + 16 for corner in quad] for quad in quads)]
    one = np.arange(3, 16, 4)
    material = dataclasses.replace(COTTON, sewing=True, closing_time=closing_time)
    return Body(vertices, faces, material, edges=np.column_stack([one, one + 13]), **options)


@pytest.mark.parametrize("closing_time", [1.0, 0.03])
def test_pairs_become_one_only_where_nothing_is_between(closing_time):
    """A blade stands between two panels whose borders are within the gap that welds. Once it is gone, they are one.

    Half of that gap is the way of each of them at the end of a frame, which no substep guards.
    """
    body = flaps(0.02, closing_time)
    strip = np.array([[0.001, y, z] for y in (-0.2, 0.0, 0.2) for z in (-0.1, 0.1)])
    blade = Collider(strip, [[0, 1, 3, 2], [2, 3, 5, 4]])
    simulation, pairs = Simulation([body], [blade], gravity=NOWHERE), body.seams
    assert gaps(simulation, body, pairs).max() == pytest.approx(0.02)
    for _ in range(3):
        simulation.step(1 / 24)
        assert gaps(simulation, body, pairs).min() > 0.0
        assert not count_between(simulation.positions(body), body.mesh.triangles, strip, blade.mesh.triangles)
    for height in (0.3, 0.6):
        simulation.move_collider(blade, strip + np.array([0.0, 0.0, height]))
        simulation.step(1 / 24)
    simulation.step(1 / 24)
    assert gaps(simulation, body, pairs).max() == 0.0


def test_what_is_open_after_the_closing_time_becomes_one_from_farther_off():
    """The panels are pinned 0.4 edges apart but for their borders, which seams cannot stretch that far."""
    body = flaps(0.04, 0.2, pins=np.setdiff1d(np.arange(32), [*range(3, 16, 4), *range(16, 32, 4)]))
    simulation, open_pairs = Simulation([body], gravity=NOWHERE), []
    for _ in range(6):
        simulation.step(1 / 24)
        open_pairs.append(int((gaps(simulation, body, body.seams) > 0.0).sum()))
    assert open_pairs[2] == 4
    assert open_pairs[-1] == 0


@pytest.mark.newest
@pytest.mark.parametrize("slid", [False, True])
def test_panels_of_irregular_triangles_are_sewn_too(slid):
    """Their pull goes over coarse levels, which know nothing of seams. Uneven borders fit once they are slid."""
    vertices, faces, pairs = panels(width=0.3, height=0.3, columns=12, rows=12, apart=0.3)
    rng = np.random.default_rng(0)
    inner = np.setdiff1d(np.arange(len(vertices)), Body(vertices, faces).mesh.boundary_loops)
    vertices[np.ix_(inner, [0, 2])] += rng.normal(0.0, 0.003, (len(inner), 2))
    for side in (pairs[:13], pairs[13:]) if slid else ():
        vertices[side[1:-1], 2] += rng.uniform(-0.009, 0.009, (11, 2))
        straight = np.column_stack([np.arange(13), np.arange(13)])
        for row, place in zip(side.T, face_each_other(*vertices[side.T], straight, False)):
            vertices[row, 2] = np.interp(place, np.arange(13), vertices[row, 2])
    turned = [np.roll(face, rng.integers(2)).tolist() for face in faces]
    triangles = [corners for a, b, c, d in turned for corners in ([a, b, c], [a, c, d])]
    body = Body(vertices, triangles, dataclasses.replace(COTTON, sewing=True, closing_time=0.5), edges=pairs)
    simulation = Simulation([body], gravity=NOWHERE)
    assert find(simulation, "levels")
    for _ in range(18):
        report = simulation.step(1 / 24)
    assert gaps(simulation, body, pairs).max() == 0.0
    assert report.strain_mean < 0.005
    assert report.strain_max < 0.1


@pytest.mark.newest
def test_a_body_is_sewn_among_others_as_it_is_alone():
    """Whatever comes before it, with ropes of its own."""
    alone, body, pairs = sew(columns=6, rows=6, width=0.3, height=0.3, apart=0.3)
    away = body.vertices + np.array([9.0, 0.0, 0.0])
    roped = Body(away, panels(columns=6, rows=6)[1], COTTON, edges=pairs)
    both = Simulation([roped, body], gravity=NOWHERE)
    np.testing.assert_allclose(stepped(both, body, 18), stepped(alone, body, 18), atol=1e-6)
    assert gaps(both, body, pairs).max() == 0.0
    np.testing.assert_allclose(gaps(both, roped, pairs), 0.3, atol=1e-9)


@pytest.mark.newest
def test_momentum_is_kept():
    """Of two panels in space, while they close, meet and are one."""
    simulation, body, pairs = sew(columns=9, rows=8, width=0.3, height=0.3, apart=0.3)
    light = body.vertices[:, 1] > 0.0
    simulation.set_maps(body, {"density": np.where(light, 0.5, 2.0)})
    masses = body.masses() * np.where(light, 0.5, 2.0)
    largest = 0.0
    for _ in range(24):
        simulation.step(1 / 24)
        v = simulation.velocities(body)
        largest = max(largest, float(masses @ np.linalg.norm(v, axis=1)))
        np.testing.assert_allclose(masses @ v, 0.0, atol=1e-12 * largest)
    assert gaps(simulation, body, pairs).max() == 0.0
    center = masses @ simulation.positions(body) / masses.sum()
    np.testing.assert_allclose(center, masses @ body.vertices / masses.sum(), atol=1e-12)


def test_seams_weigh_nothing_and_ropes_do():
    """The mass of the faces alone; with Sewing off the same edges are ropes of their length, 1 cm wide."""
    vertices, faces, pairs = panels()
    sewn = dataclasses.replace(COTTON, sewing=True)
    body = Body(vertices, faces, sewn, edges=pairs)
    assert body.masses().sum() == pytest.approx(2 * 0.51 * 0.5 * COTTON.density, rel=1e-12)
    ropes = Body(vertices, faces, COTTON, edges=pairs)
    assert ropes.masses().sum() == pytest.approx(
        body.masses().sum() + len(pairs) * 0.4 * 0.01 * COTTON.density, rel=1e-12
    )


def test_without_sewing_loose_edges_are_ropes():
    simulation, body, pairs = sew(columns=4, rows=4, width=0.3, height=0.3, apart=0.3)
    simulation.set_material(body, COTTON)
    for _ in range(12):
        simulation.step(1 / 24)
    np.testing.assert_allclose(gaps(simulation, body, pairs), 0.3, atol=1e-9)
    assert "seams" not in [kind.name for kind in simulation.constraints]


def test_the_force_is_limited():
    """A free triangle of mass m, drawn to a held one by three seams of at most F each, moves by 3 F t² / (2 m)."""
    triangle = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]])
    still = dataclasses.replace(COTTON, sewing=True, closing_time=0.0, sewing_force=1e-3, damping=0.0, drag=0.0)
    above = np.concatenate([triangle, triangle + np.array([0.0, 0.0, 1.0])])
    body = Body(above, [[0, 1, 2], [3, 4, 5]], still, pins=[0, 1, 2], edges=[[0, 3], [1, 4], [2, 5]])
    simulation = Simulation([body], gravity=NOWHERE, substeps=100)
    for _ in range(2):
        simulation.step(1 / 24)
        np.testing.assert_allclose(find(simulation, "seams").forces(), 1e-3, rtol=1e-6)
    moved = 1.0 - simulation.positions(body)[3:, 2]
    np.testing.assert_allclose(moved, 3e-3 / body.masses()[3:].sum() * (2 / 24) ** 2 / 2, rtol=0.01)


def test_seams_only_pull():
    """Pairs that are closer than they have to be are left alone, others come as close as that."""
    simulation, body, pairs = sew(columns=4, rows=4, width=0.3, height=0.3, apart=0.3)
    held, x = find(simulation, "seams"), np.ascontiguousarray(body.vertices.T)
    for length, left in ((0.4, 0.3), (0.1, 0.1)):
        held.path, p = np.full((2, len(pairs)), length), x.copy()
        held.begin_substep(1.0, 1.0)
        held.project(load("numpy"), p, x)
        np.testing.assert_allclose(np.linalg.norm(p[:, pairs[:, 0]] - p[:, pairs[:, 1]], axis=0), left, rtol=1e-3)
        assert (held.forces() >= 0.0).all()


def stepped(simulation, body, frames):
    for _ in range(frames):
        simulation.step(1 / 24)
    return simulation.positions(body).copy()


@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.newest
def test_going_on_from_any_frame_gives_the_same_bits(kernels):
    """From before the first pair met, from when some had, from after all were one: as one that begins there does."""

    def start():
        within = Collider(*capsule(0.08, 0.2, 24, 4), thickness=0.002)
        shape = {"columns": 9, "rows": 8, "width": 0.3, "height": 0.3, "apart": 0.3}
        return sew(colliders=[within], kernels=kernels, gravity=(0.0, 0.0, -0.5), **shape)

    simulation, body, pairs = start()
    met = []
    for _ in range(18):
        stepped(simulation, body, 1)
        met.append(int((gaps(simulation, body, pairs) == 0.0).sum()))
    some = next(frame for frame, count in enumerate(met, 1) if count)
    assert 0 < met[some - 1] <= len(pairs) == met[-1]
    for frame in (18, some, some - 2):
        simulation.truncate(frame)
        state = simulation.frames.state(frame)
        later = stepped(simulation, body, 5)
        other, same, _ = start()
        other.begin(frame)
        other.restore(frame, state)
        np.testing.assert_array_equal(later, stepped(other, same, 5))
        np.testing.assert_array_equal(simulation.velocities(body), other.velocities(same))


@pytest.mark.slow
@pytest.mark.newest
def test_switched_off_it_comes_apart_and_switched_on_it_closes_again():
    """No rope is left to push panels apart or to hold them."""
    simulation, body, pairs = sew(columns=9, rows=8, width=0.3, height=0.3, apart=0.3, pins=range(90))
    stepped(simulation, body, 20)
    assert gaps(simulation, body, pairs).max() == 0.0
    simulation.set_material(body, dataclasses.replace(COTTON, sewing=False))
    simulation.set_settings(dataclasses.replace(simulation.settings, gravity=(0.0, 5.0, 0.0)))
    report = simulation.step(1 / 24)
    assert report.strain_max < 0.05
    stepped(simulation, body, 11)
    fallen = gaps(simulation, body, pairs)
    np.testing.assert_allclose(fallen.min(), 5.0 * 0.5**2 / 2, rtol=0.1)
    simulation.set_settings(dataclasses.replace(simulation.settings, gravity=NOWHERE))
    simulation.set_material(body, body.material)
    stepped(simulation, body, 1)
    assert gaps(simulation, body, pairs).min() > 0.9 * fallen.min()
    stepped(simulation, body, 36)
    assert gaps(simulation, body, pairs).max() == 0.0


@pytest.mark.newest
def test_a_sewn_curtain_hangs_like_one_cloth():
    """A sheet sewn below a held one: the pull of its weight strains no edge by more than 1 %."""
    flat, quads = grid(12, 12, 0.5, 0.5)
    upper = np.column_stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]])
    faces = np.concatenate([quads, np.array(quads) + len(flat)]).tolist()
    edges = np.column_stack([np.arange(13), len(flat) + np.arange(156, 169)])
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.25)
    body = Body(np.concatenate([upper, upper - [0, 0, 0.52]]), faces, material, range(156, 169), edges=edges)
    simulation = Simulation([body])
    for _ in range(48):
        report = simulation.step(1 / 24)
    assert gaps(simulation, body, edges).max() == 0.0
    assert report.strain_max < 0.01
    np.testing.assert_array_equal(simulation.positions(body)[156:169], body.vertices[156:169])


@pytest.mark.parametrize("settings", [{}, {"self_collision": False}])
@pytest.mark.newest
def test_a_sewn_cushion_holds_pressure(settings):
    """The caps of both rims cancel where these are one: it bulges by the pressure, and does not fly away."""
    flat, quads = grid(10, 10, 0.5, 0.5)
    numbers = np.arange(121).reshape(11, 11)
    rim = np.setdiff1d(numbers, numbers[1:-1, 1:-1])
    edges = np.column_stack([rim, rim + 121])
    faces = np.concatenate([quads, np.array(quads)[:, ::-1] + 121]).tolist()
    loose = dataclasses.replace(COTTON, sewing=True, closing_time=0.25, pressure_mode="OVERPRESSURE", overpressure=0.0)
    body = Body(np.concatenate([flat, flat - np.array([0.0, 0.0, 0.04])]), faces, loose, edges=edges)
    simulation = Simulation([body], gravity=NOWHERE, **settings)
    stepped(simulation, body, 12)
    assert gaps(simulation, body, edges).max() == 0.0
    simulation.set_material(body, dataclasses.replace(loose, overpressure=20.0))
    for _ in range(36):
        x, v = stepped(simulation, body, 1), simulation.velocities(body)
        np.testing.assert_array_equal(x[edges[:, 0]], x[edges[:, 1]])
        np.testing.assert_array_equal(v[edges[:, 0]], v[edges[:, 1]])
    assert body.volume(x) > 0.015
    np.testing.assert_allclose(x.mean(axis=0), body.vertices.mean(axis=0), atol=0.01)
    assert body.edge_strain(x)[~body.is_seam].max() < 0.05


@pytest.mark.newest
def test_pairs_of_two_firm_pins_stay_where_they_are_held():
    vertices, faces, pairs = panels(columns=4, rows=4, width=0.3, height=0.3, apart=0.005)
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.1)
    body = Body(vertices, faces, material, pins=pairs[0], edges=pairs)
    simulation = Simulation([body], gravity=NOWHERE)
    x = stepped(simulation, body, 12)
    np.testing.assert_array_equal(x[pairs[0]], vertices[pairs[0]])
    np.testing.assert_array_equal(x[pairs[1:, 0]], x[pairs[1:, 1]])


@pytest.mark.parametrize("sewing", [False, True])
def test_stiff_panels_that_edges_connect_bend_each_by_itself(sewing):
    """Leather, whose hinges are solved directly, sheet by sheet."""
    vertices, faces, pairs = panels(width=0.12, height=0.12, columns=12, rows=12, apart=0.1)
    body = Body(vertices, faces, dataclasses.replace(Material.preset("Leather"), sewing=sewing), edges=pairs)
    simulation = Simulation([body], gravity=NOWHERE)
    assert find(simulation, "plate bend")
    assert np.isfinite(stepped(simulation, body, 2)).all()


def test_many_become_one():
    """Groups of pairs that share particles have one mean, by mass, and a pin counts for all."""
    welds = WeldConstraints(np.array([[5, 1], [3, 5], [0, 2], [4, 6]]), 8)
    w = np.array([1.0, 1.0, 2.0, 0.5, 1.0, 0.25, 0.0, 1.0])
    welds.set_materials([], Simulation([Body(*grid(1, 1, 1.0, 1.0))]).settings, w)
    q = np.random.default_rng(0).normal(size=(3, 8))
    x = q.copy()
    welds.unite(x)
    np.testing.assert_allclose(x[:, 1], (q[:, 1] + 2.0 * q[:, 3] + 4.0 * q[:, 5]) / 7.0, rtol=1e-13)
    np.testing.assert_allclose(x[:, 0], (q[:, 0] + 0.5 * q[:, 2]) / 1.5, rtol=1e-13)
    np.testing.assert_array_equal(x[:, [3, 5, 2, 4, 6, 7]], np.column_stack([x[:, [1, 1, 0]], q[:, [6, 6, 7]]]))


@pytest.mark.parametrize("kernels", available())
def test_what_is_sewn_first_floats_until_its_seams_have_closed(kernels):
    """The center of mass stays where it is, in gravity and wind, and all pairs are closed when it begins to fall."""
    vertices, faces, pairs = panels(columns=12, rows=10)
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.5, sew_first=True, drag=0.2, air_normal=1.2)
    body = Body(vertices, faces, material, edges=pairs)
    simulation = Simulation([body], kernels=kernels, wind=Wind((0.0, 3.0, 0.0)))
    start, waited = simulation.positions(body).mean(axis=0), 0
    while simulation.is_sewn_first(body):
        simulation.step(1 / 24)
        waited += 1
        assert np.abs(simulation.positions(body).mean(axis=0) - start).max() < 1e-3
    assert 10 <= waited <= 20
    gaps = np.linalg.norm(np.diff(simulation.positions(body)[pairs], axis=1), axis=2)
    assert gaps.max() < 1e-6
    for _frame in range(6):
        simulation.step(1 / 24)
    fallen = simulation.positions(body).mean(axis=0) - start
    assert fallen[2] < -0.15 and fallen[1] > 0.01


@pytest.mark.newest
def test_what_pins_hold_open_does_not_float_for_ever():
    """Twice the closing time at most."""
    vertices, faces, pairs = panels(columns=6, rows=5)
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.25, sew_first=True)
    body = Body(vertices, faces, material, edges=pairs, pins=pairs[0].tolist())
    simulation = Simulation([body])
    for _frame in range(12):
        assert simulation.is_sewn_first(body)
        simulation.step(1 / 24)
    assert not simulation.is_sewn_first(body)


def test_others_fall_meanwhile():
    """A sheet beside what is sewn first falls as ever."""
    vertices, faces, pairs = panels(columns=6, rows=5)
    material = dataclasses.replace(COTTON, sewing=True, closing_time=0.5, sew_first=True)
    sheet, quads = grid(4, 4, 0.3, 0.3)
    body, other = (
        Body(vertices, faces, material, edges=pairs),
        Body(sheet + np.array([2.0, 0.0, 0.0]), quads, COTTON),
    )
    simulation = Simulation([body, other])
    start = simulation.positions(body)[:, 2].mean()
    for _frame in range(6):
        simulation.step(1 / 24)
    assert abs(simulation.positions(body)[:, 2].mean() - start) < 1e-3
    assert simulation.positions(other)[:, 2].mean() < -0.25
