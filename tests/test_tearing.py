"""Tearing: split cloth is one until its strength is exceeded, comes apart where it should, and keeps its mass."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid, icosphere, jittered_sheet
from helpers.shapes import uv_sphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.constraints.volume import LEAKING
from pbd_addon.contact.crossings import crossing_pairs
from pbd_addon.kernels import available
from pbd_addon.meshes.joints import coincident, fans
from pbd_addon.meshes.mesh import as_polygons
from pbd_addon.settings.solver_settings import ATMOSPHERE

COTTON = dataclasses.replace(Material.preset("Cotton"), drag=0.0, air_normal=0.0, air_tangent=0.0)
"""Without air, which would take momentum."""
STILL = (0.0, 0.0, 0.0)


def split(vertices, faces):
    """Each face with vertices of its own: vertices, faces, and the vertex that each was."""
    corners = np.concatenate([np.asarray(face) for face in faces])
    ends = np.cumsum([len(face) for face in faces])
    return vertices[corners], np.split(np.arange(len(corners)), ends[:-1]), corners


def upright(columns, rows, width, height):
    flat, quads = grid(columns, rows, width, height)
    return np.column_stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]]), quads


def stepped(simulation, body, frames):
    for _ in range(frames):
        simulation.step(1 / 24)
    return simulation.positions(body).copy()


def joined(simulation):
    return simulation.frames.state(simulation.frames.last).memory["tearing"]["joined"]


def pieces(simulation):
    """Number of pieces of cloth that hold together."""
    return len(model_of(simulation).body_of_island)


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("preset", ["Cotton", "Rubber Sheet"])
@pytest.mark.newest
def test_untorn_cloth_is_solved_as_if_it_were_whole(kernels, preset):
    """A sheet that swings from a corner: the same motion as without a split; all copies have the same bits."""
    vertices, quads = grid(12, 12, 0.6, 0.6)
    triangles = [corners for a, b, c, d in quads for corners in ([a, b, c], [a, c, d])]
    material = dataclasses.replace(Material.preset(preset), tear_strength=1e6)
    parts, faces, _ = split(vertices, triangles)
    corner = np.flatnonzero((parts[:, :2] > 0.299).all(axis=1))
    split_body = Body(parts, faces, material, corner)
    kept, number = np.unique(split_body.joints, return_inverse=True)  # the order of particles matters to the solver
    whole = Body(parts[kept], number[np.array(faces)], material, number[corner])
    runs = []
    for body in (whole, split_body):
        simulation = Simulation([body], kernels=kernels)
        runs.append(stepped(simulation, body, 8))
    np.testing.assert_allclose(runs[1], runs[0][number], atol=1e-9)
    np.testing.assert_array_equal(runs[1], runs[1][joined(simulation)])
    assert len(np.unique(joined(simulation))) == len(vertices)


def test_without_strength_and_joined_borders_vertices_at_one_place_fall_apart():
    vertices, quads = upright(4, 4, 0.3, 0.3)
    parts, faces, was = split(vertices, quads)
    top = np.flatnonzero(vertices[was, 2] > 0.149)
    body = Body(parts, faces, dataclasses.replace(COTTON, join_borders=False), top)
    x = stepped(Simulation([body]), body, 12)
    lower = vertices[was, 2].reshape(-1, 4).max(axis=1).repeat(4) < 0.149
    assert (x[lower, 2] < parts[lower, 2] - 0.5).all()


@functools.cache
def tears_at(columns=12, strength=300.0, substeps=80, width=0.2, seconds=3.0, mesh="quads"):
    """Load per strength at which a strip tears whose weight grows to that in `seconds`; the simulation; its body."""
    vertices, faces = upright(columns, 2 * columns, width, 2.0 * width)
    if mesh == "triangles":
        faces = [corners for a, b, c, d in faces for corners in ([a, b, c], [a, c, d])]
    parts, faces, _ = split(vertices, faces)
    top, bottom = (np.abs(parts[:, 2] - z) < 1e-9 for z in (width, -width))
    material = dataclasses.replace(COTTON, tear_strength=strength, damping=5.0)
    own = Body(parts, faces, material).masses()[bottom].sum()
    heavy = np.where(bottom, strength * width / 9.81 / own, 1.0)
    body = Body(parts, faces, material, np.flatnonzero(top), maps={"density": heavy})
    simulation = Simulation([body], gravity=STILL, substeps=substeps)
    whole = joined(simulation)
    frames = int(24 * seconds)
    for frame in range(frames // 4, 2 * frames):
        gravity = (0.0, 0.0, -9.81 * frame / frames)
        simulation.set_settings(dataclasses.replace(simulation.settings, gravity=gravity))
        simulation.step(1 / 24)
        if not np.array_equal(joined(simulation), whole):
            break
    return frame / frames, simulation, body


@pytest.mark.slow
@pytest.mark.newest
def test_a_strip_tears_at_the_load_that_its_strength_says():
    """A weight strength · width / g tears it, within 7 %.

    In one step the load grows by 1.4 %; the rest is the corners of the clamps, where tension is larger, and the swing
    of the weight.
    """
    assert tears_at(columns=6)[0] == pytest.approx(0.965, abs=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("case", [{}, {"columns": 6, "substeps": 160}, {"columns": 6, "strength": 100.0}])
def test_so_it_does_at_any_resolution_and_number_of_substeps(case):
    assert tears_at(**case)[0] == pytest.approx(0.965, abs=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("fastest_kernels")
def test_triangles_that_all_lean_one_way_tear_sooner():
    """By less than a third: a corner of a clamp has one triangle or two, and those do not have the mean tension."""
    assert 0.68 < tears_at(mesh="triangles")[0] < 1.0


@pytest.mark.usefixtures("fastest_kernels")
def test_a_strip_tears_in_two_across_its_width():
    _, simulation, body = tears_at()
    x = stepped(simulation, body, 6)
    assert pieces(simulation) >= 2
    assert np.ptp(x[:, 2]) > 0.5
    assert simulation.reports[simulation.frames.last].crossings == 0


def test_mass_and_momentum_are_kept():
    """A sheet that flies, stretched by 5 %, tears: each piece has its share of the mass, and the sums stay."""
    vertices, quads = grid(10, 10, 0.5, 0.5)
    parts, faces, _ = split(vertices, quads)
    material = dataclasses.replace(COTTON, tear_strength=290.0)
    body = Body(parts, faces, material, rest_vertices=0.95 * parts)
    simulation = Simulation([body], gravity=STILL, self_collision=False)
    state = simulation.frames.state(0)
    state.v[:] = np.array([[1.0], [2.0], [0.5]])
    simulation.restore(0, state)
    mass = body.masses().sum()
    for _ in range(6):
        simulation.step(1 / 24)
        masses = model_of(simulation).masses
        assert masses.sum() == pytest.approx(mass, rel=1e-13)
        np.testing.assert_allclose(masses @ simulation.velocities(body), mass * state.v[:, 0], rtol=1e-11)
    assert len(np.unique(joined(simulation))) > len(vertices) + 10
    center = masses @ simulation.positions(body) / mass
    np.testing.assert_allclose(center, 0.25 * state.v[:, 0], atol=1e-11)


def shot(kernels="auto"):
    """A ball goes through a sheet that is held at its border."""
    vertices, quads = grid(16, 16, 0.6, 0.6)
    parts, faces, _ = split(vertices, quads)
    border = np.flatnonzero(np.abs(parts[:, :2]).max(axis=1) > 0.299)
    body = Body(parts, faces, dataclasses.replace(COTTON, tear_strength=300.0), border)
    x, rings = uv_sphere(16, 8, 0.12)
    ball = Collider(x + np.array([0.0, 0.0, 0.2]), rings)
    return Simulation([body], [ball], kernels=kernels), body, ball


def shoot(simulation, ball, frames, first=0):
    reports = []
    for frame in range(first, first + frames):
        simulation.move_collider(ball, ball.vertices - [0.0, 0.0, 0.1 * (frame + 1)])
        reports.append(simulation.step(1 / 24))
    return reports


@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.newest
def test_a_ball_goes_through_a_sheet_without_a_crossing(kernels):
    simulation, body, ball = shot(kernels)
    reports = shoot(simulation, ball, 8)
    assert [report.crossings for report in reports] == [0] * 8
    mesh, x = model_of(simulation).bodies[0].mesh, simulation.positions(body)
    assert not len(crossing_pairs(x.T.copy(), mesh.edges.T, mesh.triangles.T)[0])
    assert len(np.unique(joined(simulation))) > 17**2 + 8
    np.testing.assert_array_equal(x, x[joined(simulation)])


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_going_on_from_any_frame_gives_the_same_bits(kernels):
    """From before it tears, while it does, and from after: as one that begins there does."""
    simulation, body, ball = shot(kernels)
    counts = []
    for frame in range(7):
        shoot(simulation, ball, 1, frame)
        counts.append(len(np.unique(joined(simulation))))
    tearing = next(frame for frame, count in enumerate(counts, 1) if count > 17**2)
    for frame in (6, tearing, tearing - 1):
        simulation.truncate(frame)
        state = simulation.frames.state(frame)
        shoot(simulation, ball, 2, frame)
        later = simulation.positions(body).copy()
        other, same, its_ball = shot(kernels)
        other.begin(frame)
        other.restore(frame, state)
        shoot(other, its_ball, 2, frame)
        np.testing.assert_array_equal(later, other.positions(same))
        np.testing.assert_array_equal(simulation.velocities(body), other.velocities(same))
        np.testing.assert_array_equal(joined(simulation), joined(other))


@pytest.mark.newest
@pytest.mark.slow
def test_a_frame_that_is_given_up_changes_nothing():
    simulation, body, ball = shot()
    shoot(simulation, ball, 3)
    x, model = simulation.positions(body).copy(), model_of(simulation)
    simulation.set_material(body, dataclasses.replace(body.material, tear_strength=1.0))
    unfinished = simulation.slices(1 / 24)
    for _ in range(10):
        next(unfinished)
    unfinished.close()
    simulation.set_material(body, body.material)
    np.testing.assert_array_equal(simulation.positions(body), x)
    assert len(model_of(simulation).body_of_island) == len(model.body_of_island)
    shoot(simulation, ball, 1, 3)
    later = simulation.positions(body).copy()
    other, same, its_ball = shot()
    shoot(other, its_ball, 4)
    np.testing.assert_array_equal(later, other.positions(same))


@pytest.mark.slow
@pytest.mark.newest
def test_a_map_says_where_it_is_weak():
    """A perforated line across a strip: it tears there and nowhere else, at its share of the strength."""
    vertices, quads = upright(8, 16, 0.2, 0.4)
    parts, faces, _ = split(vertices, quads)
    weak = np.where(np.abs(parts[:, 2]) < 1e-9, 0.2, 1.0)
    material = dataclasses.replace(COTTON, tear_strength=300.0, damping=5.0)
    bottom = parts[:, 2] < -0.199
    own = Body(parts, faces, material).masses()[bottom].sum()
    heavy = np.where(bottom, 300.0 * 0.2 / 9.81 / own, 1.0)
    body = Body(parts, faces, material, np.flatnonzero(parts[:, 2] > 0.199), maps={"density": heavy, "tear": weak})
    simulation = Simulation([body], gravity=(0.0, 0.0, -9.81 * 0.3), substeps=80)
    stepped(simulation, body, 12)
    whole = body.joints
    torn = np.flatnonzero(joined(simulation) != whole)
    assert len(torn)
    assert np.abs(parts[torn, 2]).max() < 1e-9
    assert pieces(simulation) == 2


def test_a_row_that_lets_go_cuts_a_line_and_stays_cut():
    vertices, quads = upright(8, 8, 0.4, 0.4)
    parts, faces, _ = split(vertices, quads)
    row = np.abs(parts[:, 2]) < 1e-9
    material = dataclasses.replace(COTTON, tear_strength=500.0)
    body = Body(parts, faces, material, np.flatnonzero(parts[:, 2] > 0.199))
    simulation = Simulation([body])
    stepped(simulation, body, 3)
    assert pieces(simulation) == 1
    simulation.set_maps(body, {"tear": np.where(row, 0.0, 1.0)})
    stepped(simulation, body, 1)
    assert pieces(simulation) == 2
    assert len(np.unique(joined(simulation))) == 81 + 9
    simulation.set_maps(body, {})
    x = stepped(simulation, body, 8)
    assert pieces(simulation) == 2
    assert np.ptp(x[:, 2]) > 0.6


@pytest.mark.newest
def test_a_skin_that_opens_loses_its_gas():
    """A ball of film, blown up until it tears: no pressure is left, and no other body loses its own."""
    vertices, faces = icosphere(2, 0.15)
    parts, split_faces, _ = split(vertices, faces)
    film = Material.preset("Party Balloon")
    weak = dataclasses.replace(film, tear_strength=5.0, pressure_mode="OVERPRESSURE", overpressure=10.0)
    one = Body(parts, split_faces, weak, name="weak")
    other = Body(
        parts + np.array([1.0, 0.0, 0.0]), split_faces, dataclasses.replace(weak, tear_strength=1e6), name="strong"
    )
    simulation = Simulation([one, other], gravity=STILL)
    volumes = [body.volume(body.vertices) for body in (one, other)]
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-9)
    assert "encloses no volume" not in " ".join(one.notes)
    stepped(simulation, one, 2)
    assert len(simulation.pressure(one)) == len(simulation.pressure(other)) == 1
    simulation.set_material(one, dataclasses.replace(weak, overpressure=300.0))
    x = stepped(simulation, one, 6)
    assert pieces(simulation) >= 2
    assert simulation.pressure(one) == ()
    assert simulation.pressure(other) == (10.0,)
    masses = model_of(simulation).masses[: len(parts)]
    assert masses.sum() == pytest.approx(one.masses().sum(), rel=1e-9)  # and the air that it moved along
    assert np.isfinite(x).all()


def blown_up(mode="VOLUME", strength=60.0):
    """A split ball of a film that pulls in proportion; its parts, its material and a simulation of it."""
    vertices, faces = icosphere(2, 0.6)
    parts, split_faces, _ = split(vertices, faces)
    film = dataclasses.replace(Material.preset("Party Balloon"), rubber=False)
    material = dataclasses.replace(film, tear_strength=strength, pressure_mode=mode)
    body = Body(parts, split_faces, material)
    return body, material, Simulation([body], gravity=STILL)


def blow(simulation, body, material, frame):
    """The frame after `frame`, up to three times its volume at frame 12."""
    simulation.set_material(body, dataclasses.replace(material, pressure=1.0 + min((frame + 1) / 6, 2.0)))
    simulation.step(1 / 24)


@pytest.mark.newest
def test_a_skin_that_is_blown_up_too_far_bursts_by_its_own_tension():
    """The gas needs time to leave: until then tension tears on, and the skin flies open."""
    body, material, simulation = blown_up()
    whole, leaking, sizes = len(np.unique(body.joints)), [], [np.ptp(body.vertices)]
    for frame in range(12):
        blow(simulation, body, material, frame)
        leaking.append((model_of(simulation).volume.opened == LEAKING).any())
        sizes.append(np.ptp(simulation.positions(body)))
    first = leaking.index(True)
    assert 2 <= first <= 10
    assert not leaking[-1]
    assert simulation.pressure(body) == ()
    assert len(np.unique(joined(simulation))) > 1.4 * whole
    assert max(sizes) > 1.2 * sizes[first]  # untorn it would shrink to what it was


@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.newest
def test_going_on_while_the_gas_leaves_gives_the_same_bits(kernels):
    body, material, simulation = blown_up()
    simulation.use_kernels(kernels)
    while not (model_of(simulation).volume.opened == LEAKING).any():
        assert simulation.frames.last < 12
        blow(simulation, body, material, simulation.frames.last)
    leaks = simulation.frames.last
    for begin in (leaks, leaks - 1):
        simulation.truncate(begin)
        state = simulation.frames.state(begin)
        same, _, other = blown_up()
        other.use_kernels(kernels)
        other.begin(begin)
        other.restore(begin, state)
        for frame in range(begin, leaks + 2):
            blow(simulation, body, material, frame)
            blow(other, same, material, frame)
        np.testing.assert_array_equal(simulation.positions(body), other.positions(same))
        np.testing.assert_array_equal(
            simulation.frames.state(leaks + 2).memory["gas"]["inside"],
            other.frames.state(leaks + 2).memory["gas"]["inside"],
        )


def test_gas_leaves_through_a_hole_as_through_an_orifice():
    """Of a ball that does not give way, one face is let go; flow: 0.6 A sqrt(2 P / density), P from P V of the rest."""
    vertices, faces = icosphere(1, 0.2)
    parts, split_faces, _ = split(vertices, faces)
    material = Material(
        stretch=1e6, compression=1e6, tear_strength=1e6, density=5.0, pressure_mode="GAS", overpressure=300.0
    )
    weak = np.ones(len(parts))
    body = Body(parts, split_faces, material)
    weak[np.isin(body.joints, body.joints[:3])] = 0.0
    simulation = Simulation([body], gravity=STILL)
    simulation.step(1 / 24)
    simulation.set_maps(body, {"tear": weak})
    dt = 1e-4
    simulation.step(dt)
    piece = int(np.argmax([len(one.triangles) for one in model_of(simulation).volume.pieces]))
    assert model_of(simulation).volume.opened[piece] == LEAKING
    before = simulation.frames.state(simulation.frames.last).memory["gas"]["inside"][0, piece]
    x, volume = simulation.positions(body), model_of(simulation).volume
    inside = volume.enclosed(simulation._kernels, x.T.copy())[piece]
    over = before / inside - ATMOSPHERE
    a, b, c = x[:3]
    flow = 0.6 * 0.5 * np.linalg.norm(np.cross(b - a, c - a)) * np.sqrt(2.0 * over / 1.2)
    simulation.step(dt)
    after = simulation.frames.state(simulation.frames.last).memory["gas"]["inside"][0, piece]
    assert 100.0 < over < 310.0
    assert before - after == pytest.approx(dt * flow * (ATMOSPHERE + over), rel=0.02)


def test_pins_and_grabs_hold_whatever_stands_for_a_vertex():
    vertices, quads = upright(6, 6, 0.3, 0.3)
    parts, faces, _ = split(vertices, quads)
    body = Body(
        parts, faces, dataclasses.replace(COTTON, tear_strength=1e4), [int(np.argmax(parts[:, 0] + parts[:, 2]))]
    )
    simulation = Simulation([body], gravity=STILL)
    corner = np.flatnonzero(np.abs(parts[:, [0, 2]]).max(axis=1) < 1e-9)
    grip = simulation.grab(body, corner)
    for _ in range(4):
        grip.move([0.0, 0.05, 0.0])
        simulation.step(1 / 24)
    assert simulation.positions(body)[corner, 1].min() > 0.03
    assert simulation.positions(body)[body.pin_ids] == pytest.approx(body.vertices[body.pin_ids])


def test_borders_are_joined_where_they_meet_in_an_edge():
    """Not inside of a sheet, not where only corners touch, and not across a gap."""
    vertices, quads = grid(2, 1, 2.0, 1.0)
    parts, faces, _ = split(vertices, quads)
    polygons = as_polygons("faces", faces, len(parts))
    free = np.zeros(len(parts), bool)
    first = fans(polygons, coincident(parts, polygons), free)
    assert len(np.unique(first)) == 6
    far = parts.copy()
    far[4:, 0] += 1e-3
    np.testing.assert_array_equal(fans(polygons, coincident(far, polygons), free), np.arange(8))
    corner = parts.copy()
    corner[4:] += [0.0, 1.0, 0.0]
    np.testing.assert_array_equal(fans(polygons, coincident(corner, polygons), free), np.arange(8))


def test_own_constraints_are_refused():
    vertices, quads = grid(2, 2, 0.3, 0.3)
    parts, faces, _ = split(vertices, quads)
    body = Body(parts, faces, dataclasses.replace(COTTON, tear_strength=100.0))
    with pytest.raises(ValueError, match="own constraints hold particles, which cloth that can tear exchanges"):
        Simulation([body]).keep_apart(body, [0], body, [5], 0.1)


@pytest.mark.newest
def test_irregular_triangles_hold_and_tear_too():
    vertices, triangles = jittered_sheet(10)
    parts, faces, was = split(vertices, triangles)
    held = np.isin(was, np.flatnonzero(vertices[:, 0] < vertices[:, 0].min() + 1e-6))
    body = Body(parts, faces, dataclasses.replace(COTTON, tear_strength=1e5), np.flatnonzero(held))
    simulation = Simulation([body])
    stepped(simulation, body, 4)
    assert pieces(simulation) == 1
    simulation.set_material(body, dataclasses.replace(body.material, tear_strength=0.0, join_borders=False))
    stepped(simulation, body, 1)
    assert pieces(simulation) == len(triangles)
