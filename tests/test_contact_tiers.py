"""Accurate, fast or off: what each setting of collisions keeps apart, and for which bodies."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import count_between, crossing_pairs, distances
from helpers.inside import model_of
from helpers.meshes import grid, obstacle, turned
from pbd_addon import Body, Collider, Material, Plane, Simulation, SolverSettings
from pbd_addon.kernels import EDGES, FACE, POINTS

pytestmark = pytest.mark.slow

DT = 1 / 24
EDGE = 0.02
DISTANCE = 0.016
CUTS = 10


def stack(layers: int = 3) -> list[Body]:
    """Sheets one over the other, each a little beside the last, that may come as near as `DISTANCE`."""
    vertices, quads = grid(CUTS, CUTS, CUTS * EDGE, CUTS * EDGE)
    material = Material(self_distance=DISTANCE, bend=1e-5, damping=2.0)
    return [
        Body(vertices + np.array([0.002 * k, 0.001 * k, 1.3 * DISTANCE * k + 0.01]), quads, material)
        for k in range(layers)
    ]


def kinds_of(simulation: Simulation) -> tuple[list[int], list[int]]:
    """Kinds of the candidates of cloth with cloth, and of those of cloth with colliders."""
    contact = find(simulation, "contact")
    rows = contact.candidate_list.rows
    of_cloth = (rows.particles < contact.n).all(axis=0)
    return rows.kind[of_cloth].tolist(), rows.kind[~of_cloth].tolist()


@functools.cache
def press(self_collision: bool | str, frames: int = 12) -> tuple[Simulation, list[Body], list[int]]:
    """A plate that comes down slowly onto a stack on the floor, and the number of rows of cloth with cloth by frame."""
    bodies = stack()
    vertices, quads = grid(2, 2, 0.5, 0.5)
    start = bodies[-1].vertices[0, 2] + 0.006
    plate = Collider(vertices + np.array([0.0, 0.0, start]), quads)
    simulation = Simulation(bodies, [plate, Plane()], self_collision=self_collision)
    sizes = []
    for frame in range(1, frames + 1):
        simulation.move_collider(plate, vertices + np.array([0.0, 0.0, start - 0.0018 * frame]))
        simulation.step(DT)
        sizes.append(len(kinds_of(simulation)[0]))
        heights = [np.median(simulation.positions(body)[:, 2]) for body in bodies]
        if self_collision:
            assert (np.diff(heights) > 0.0).all()
    return simulation, bodies, sizes


def test_fast_keeps_a_slowly_pressed_stack_apart():
    """Vertex against vertex is enough where layers meet gently; it takes far fewer rows than surfaces do."""
    simulation, bodies, sizes = press("FAST")
    of_cloth, of_colliders = kinds_of(simulation)
    assert set(of_cloth) == {POINTS}
    assert FACE in of_colliders
    assert POINTS not in of_colliders
    assert simulation.reports[simulation.frames.last].self_contacts > 100
    triangles = bodies[0].mesh.triangles
    for lower, upper in zip(bodies[:-1], bodies[1:]):
        x, y = simulation.positions(lower), simulation.positions(upper)
        assert count_between(x, triangles, y, triangles) == 0
        # Points that are `DISTANCE` apart come nearer only to the middle of a face, at most 0.71 of an edge beside.
        least = np.sqrt((0.8 * DISTANCE) ** 2 - (0.5 * EDGE) ** 2)
        assert distances(x, y, triangles).min() > least
    accurate = press(True)[2]
    assert min(sizes) > 0
    assert sum(sizes) < 0.35 * sum(accurate), (sizes, accurate)


def test_accurate_has_faces_and_edges():
    """The accurate tier has no rows of points, and keeps the whole distance."""
    simulation, bodies, _ = press(True)
    assert set(find(simulation, "contact").candidate_list.rows.kind.tolist()) == {FACE, EDGES}
    for lower, upper in zip(bodies[:-1], bodies[1:]):
        gap = distances(simulation.positions(lower), simulation.positions(upper), upper.mesh.triangles)
        assert gap.min() > 0.8 * DISTANCE


def test_off_lets_layers_through():
    """Without it, the stack falls onto the floor as one layer."""
    simulation, bodies, sizes = press(False)
    assert sizes == [0] * len(sizes)
    assert find(simulation, "contact").active  # with the plate
    assert simulation.reports[simulation.frames.last].self_contacts == 0
    heights = [simulation.positions(body)[:, 2].max() for body in bodies]
    assert max(heights) < 0.2 * DISTANCE


@pytest.mark.parametrize("self_collision", [True, "FAST", False])
def test_obstacles_are_always_accurate(self_collision):
    """A spike does not go through a coarse sheet whatever cloth does with cloth."""
    vertices, triangles = obstacle("spike")
    flat, quads = grid(6, 6, 0.4, 0.4)
    body = Body(flat + np.array([0.011, 0.017, 0.02]), quads, Material(bend=1e-5))
    simulation = Simulation([body], [Collider(vertices, triangles)], self_collision=self_collision)
    touched = 0
    for frame in range(1, 13):
        touched += simulation.step(DT).contacts
        crossed = count_between(simulation.positions(body), body.mesh.triangles, vertices, triangles)
        assert crossed == 0, f"{crossed} crossings in frame {frame}"
    assert touched > 0


def test_settings_change_the_tier_from_the_next_step():
    """`collisions` of the solver's settings is what `self_collision` sets, and can be changed on the way."""
    bodies = stack()
    simulation = Simulation(bodies, self_collision="FAST")
    assert simulation.settings.collisions == "FAST"
    simulation.step(DT)
    for collisions, expected in (("ACCURATE", {FACE, EDGES}), ("FAST", {POINTS}), ("OFF", set())):
        simulation.set_settings(dataclasses.replace(simulation.settings, collisions=collisions))
        simulation.positions(bodies[1])[:] = simulation.positions(bodies[0]) + np.array([0.0, 0.0, 1.1 * DISTANCE])
        simulation.velocities(bodies[1])[:] = simulation.velocities(bodies[0])
        simulation.step(DT)
        assert set(model_of(simulation).contact.candidate_list.rows.kind.tolist()) == expected
    assert not any(kind.name == "contact" for kind in simulation.constraints)


@pytest.mark.parametrize(("given", "collisions"), [(True, "ACCURATE"), ("FAST", "FAST"), (False, "OFF")])
def test_the_argument_is_the_setting(given, collisions):
    assert Simulation(stack(1), self_collision=given).settings.collisions == collisions
    assert SolverSettings().collisions == "ACCURATE"


def book(place, **settings) -> Body:
    """A sheet half shut like a book, flat at rest, whose halves are to clap together."""
    vertices, quads = grid(16, 6, 0.32, 0.12)
    folded = vertices.copy()
    folded[:, 0] = np.abs(vertices[:, 0]) * np.sin(0.6)
    folded[:, 2] = vertices[:, 0] * np.cos(0.6)
    return Body(
        turned(folded, 0.05, 2) + place, quads, Material(self_distance=0.008, bend=1e-7, **settings),
        rest_vertices=vertices,
    )  # fmt: skip


def clap(bodies: list[Body], **more) -> tuple[Simulation, list[int]]:
    """Simulate books that shut, and count the most crossings of each with itself."""
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0), **more)
    for body in bodies:
        height = body.vertices[:, 2] - body.vertices[:, 2].mean()
        simulation.velocities(body)[:, 2] = -12.0 * height
    worst = [0] * len(bodies)
    for _ in range(8):
        simulation.step(DT)
        for number, body in enumerate(bodies):
            count = len(crossing_pairs(simulation.positions(body), body.mesh.triangles))
            worst[number] = max(worst[number], count)
    return simulation, worst


def test_each_body_says_whether_it_meets_itself():
    """Of two books that clap, the one whose material meets itself stays clean, the other goes through itself."""
    careful, careless = book([0.0, 0.0, 0.0]), book([2.0, 0.0, 0.0], self_collision=False)
    simulation, worst = clap([careful, careless])
    assert worst[0] == 0
    assert worst[1] > 20
    rules = find(simulation, "contact").candidate_list.rules
    assert rules.is_self.tolist() == [True, False]
    assert rules.between


def test_a_material_set_later_decides_too():
    """`set_material` switches a body's self-collision off and on again, from the next step on."""
    body = book([0.0, 0.0, 0.0])
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    simulation.step(DT)
    assert find(simulation, "contact")
    simulation.set_material(body, dataclasses.replace(body.material, self_collision=False))
    assert not any(kind.name == "contact" for kind in simulation.constraints)
    simulation.step(DT)
    simulation.set_material(body, body.material)
    simulation.velocities(body)[:, 2] = -12.0 * body.vertices[:, 2]
    for _ in range(8):
        simulation.step(DT)
        assert len(crossing_pairs(simulation.positions(body), body.mesh.triangles)) == 0
    assert find(simulation, "contact")


def test_off_for_the_solver_is_off_for_all():
    """A material that meets itself does not where the solver's collisions are off."""
    assert min(clap([book([0.0, 0.0, 0.0])], self_collision=False)[1:][0]) > 20


def test_a_new_self_distance_acts_from_the_next_step():
    """Sheets at rest at one distance move apart to a larger one, and no farther than they have to."""
    bodies = stack(2)
    lower, upper = bodies
    flat = Material(self_distance=0.006, bend=1e-5, damping=5.0, drag=5.0)
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0))
    for body in bodies:
        simulation.set_material(body, flat)
    simulation.positions(upper)[:] -= [0.0, 0.0, 1.3 * DISTANCE - 0.0065]
    inner = np.abs(lower.vertices[:, :2]).max(axis=1) < 0.07
    simulation.step(DT)
    gap = distances(simulation.positions(upper)[inner], simulation.positions(lower), lower.mesh.triangles)
    np.testing.assert_allclose(gap, 0.0065, rtol=0.0, atol=1e-6)
    for body in bodies:
        simulation.set_material(body, dataclasses.replace(flat, self_distance=0.012))
    simulation.step(DT)
    gap = distances(simulation.positions(upper)[inner], simulation.positions(lower), lower.mesh.triangles)
    assert gap.min() > 0.8 * 0.012
