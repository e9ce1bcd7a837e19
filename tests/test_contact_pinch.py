"""Colliders that leave cloth no place: they overlap where its border hangs. It comes free when they part."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import count_between, crossing_pairs, is_inside
from helpers.meshes import grid, icosphere, turned
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.contact import contact_constraints, guard_rounds

DT = 1 / 24
RADIUS, APART, DEEP = 0.06, 0.04, 0.01
"""Of the balls, how far each stands from the cloth at first, and how deep it goes beyond the cloth's plane [m]."""

PATH = (1.0, 0.5, 0.0, 0.0, 0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Where the balls are at the end of each frame, from overlapping (0) to apart (1)."""


def balls(place: float, ball: np.ndarray) -> list[np.ndarray]:
    off = RADIUS - DEEP + place * (DEEP + APART)
    return [ball + np.array([0.2, side * off, -0.03]) for side in (-1.0, 1.0)]


class Pinched:
    """A hung cloth and two balls, as two colliders or as one mesh."""

    def __init__(self, one_mesh: bool, kernels: str) -> None:
        vertices, quads = grid(16, 16, 0.4, 0.4)
        self.body = Body(turned(vertices, np.pi / 2, 0), quads, Material(), pins=range(17 * 16, 17 * 17))
        self.ball, self.faces = icosphere(2, RADIUS)
        self.both = np.concatenate([self.faces, self.faces + len(self.ball)])
        if one_mesh:
            self.colliders = [Collider(np.concatenate(balls(1.0, self.ball)), self.both)]
        else:
            self.colliders = [Collider(each, self.faces) for each in balls(1.0, self.ball)]
        self.simulation = Simulation([self.body], self.colliders, kernels=kernels)

    def step(self, place: float) -> list[np.ndarray]:
        """Move the balls there in a frame, and return where they are."""
        there = balls(place, self.ball)
        for collider, each in zip(self.colliders, there if len(self.colliders) > 1 else [np.concatenate(there)]):
            self.simulation.move_collider(collider, each)
        self.simulation.step(DT)
        return there


@pytest.fixture(params=["numpy", "numba"])
def kernels(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    return request.param


@pytest.mark.parametrize("one_mesh", [True, False], ids=["one mesh", "two colliders"])
def test_cloth_pinched_between_balls_that_overlap_comes_free(one_mesh, kernels):
    scene = Pinched(one_mesh, kernels)
    simulation, body = scene.simulation, scene.body
    told = []
    for place in PATH:
        there = scene.step(place)
        report = simulation.reports[simulation.frames.last]
        told.append(report.no_room or report.pierced > 0)
        x = simulation.positions(body)
        assert not len(crossing_pairs(x, body.mesh.triangles))
        assert np.linalg.norm(simulation.velocities(body), axis=1).max() < 3.0
        assert np.abs(body.edge_strain(x)).max() < 0.4
        if place > 0.5:
            assert not count_between(x, body.mesh.triangles, np.concatenate(there), scene.both)
            assert not any(is_inside(x, each, scene.faces).any() for each in there)
    assert told[2:4] == [True, True]
    assert not told[0]
    assert not told[-1]
    assert np.abs(body.edge_strain(x)).max() < 0.01
    between = np.linalg.norm(x[:, [0, 2]] - [0.2, -0.03], axis=1) < 0.5 * RADIUS
    assert between.any()
    assert np.abs(x[between, 1]).max() < APART + RADIUS * (1.0 - np.sqrt(0.75))  # not behind a ball


def test_nothing_gives_way_in_a_substep_that_is_tried_again(monkeypatch, kernels):
    """Layer after layer did, in up to 20 rounds, which took most of the worst frames, for a result to throw away."""
    rounds, calls, clamp, guard = [], [], guard_rounds._clamp, contact_constraints.guard

    def counted(*args):
        before = len(rounds)
        fits = guard(*args)
        calls.append((args[-1], fits, len(rounds) - before))
        return fits

    monkeypatch.setattr(guard_rounds, "_clamp", lambda *args: rounds.append(1) or clamp(*args))
    monkeypatch.setattr(contact_constraints, "guard", counted)
    scene = Pinched(False, kernels)
    for place in PATH[:3]:
        scene.step(place)
    assert {count for keeps_unresolved, fits, count in calls if not keeps_unresolved and not fits} == {1}
    assert max(count for keeps_unresolved, fits, count in calls if keeps_unresolved) > 1


@pytest.mark.parametrize(("one_mesh", "frame"), [(True, 4), (False, 5)], ids=["one mesh", "two colliders"])
@pytest.mark.newest
def test_pinched_cloth_goes_on_from_the_state_of_another_simulation(one_mesh, frame, kernels):
    """To the last bit: which collider went through what is in the state."""
    one, other = Pinched(one_mesh, kernels), Pinched(one_mesh, kernels)
    for place in PATH[:frame]:
        one.step(place)
    state = one.simulation.frames.state(frame)
    assert state.memory["obstacles"]["penetrated"].any()
    other.simulation.restore(0, state)
    for place in PATH[frame : frame + 2]:
        for scene in (one, other):
            scene.step(place)
        np.testing.assert_array_equal(
            one.simulation.positions(one.body), other.simulation.positions(other.body), f"to {place}"
        )
