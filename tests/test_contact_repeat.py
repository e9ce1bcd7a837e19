"""The same contact twice: to the bit from the start, and nearly so from the middle."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import box, grid, icosphere, turned
from pbd_addon import Body, Collider, FrameInputs, Material, Plane, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24


def scene() -> tuple[Simulation, list[Body], Collider, np.ndarray]:
    """A sheet falls on its edge onto a moving box, with a second sheet on top and a ball beside."""
    vertices, quads = grid(14, 14, 0.3, 0.3)
    noise = np.random.default_rng(3).normal(0.0, 1e-4, vertices.shape)
    standing = Body(turned(vertices, 1.4, 0) + np.array([0.0, 0.0, 0.3]) + noise, quads, Material(self_distance=0.009))
    flat = Body(vertices + np.array([0.02, 0.01, 0.5]), quads, Material(self_distance=0.009))
    corners, triangles = box((0.25, 0.25, 0.2), 2)
    moving = Collider(corners, triangles, friction=0.6)
    ball = Collider(icosphere(2, 0.1)[0] + np.array([0.2, 0.0, 0.0]), icosphere(2, 0.1)[1])
    return Simulation([standing, flat], [moving, ball, Plane((0.0, 0.0, -0.1))]), [standing, flat], moving, corners


def run_to(simulation: Simulation, moving: Collider, corners: np.ndarray, frame: int) -> None:
    simulation.advance_to(
        frame,
        lambda at: FrameInputs(colliders={moving: turned(corners, 0.05 * at, 2) + np.array([0.0, 0.003 * at, 0.0])}),
        DT,
    )


def places(simulation: Simulation, bodies: list[Body]) -> np.ndarray:
    return np.concatenate([simulation.positions(body) for body in bodies])


def test_contact_repeats_to_the_bit():
    """Two simulations of one scene, and one that is reset, agree in every bit of every frame."""
    runs = []
    for _ in range(2):
        simulation, bodies, moving, corners = scene()
        for _ in range(2):
            frames = []
            for frame in range(1, 13):
                run_to(simulation, moving, corners, frame)
                frames.append(np.concatenate([places(simulation, bodies),
                                              *(simulation.velocities(body) for body in bodies)]))  # fmt: skip
            runs.append(np.array(frames))
            report = simulation.reports[12]
            assert report.contacts > 0
            assert report.self_contacts > 0
            simulation.reset()
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0], other)


@pytest.mark.parametrize("back_to", [2, 12])
def test_a_rerun_from_the_middle_is_nearly_the_same(back_to):
    """A frame that is forgotten and stepped again differs by what the cache rounds to float32, a hundred millionth of a
    metre, and what contact makes of that in a frame, about a hundred times as much; not by a tenth of a millimetre."""
    simulation, bodies, moving, corners = scene()
    run_to(simulation, moving, corners, back_to + 1)
    first = places(simulation, bodies).copy()
    simulation.truncate(back_to)
    run_to(simulation, moving, corners, back_to + 1)
    np.testing.assert_allclose(places(simulation, bodies), first, rtol=0.0, atol=1e-4)
    if back_to > 3:
        assert simulation.reports[back_to + 1].contacts > 0
        assert simulation.reports[back_to + 1].self_contacts > 0


@pytest.mark.parametrize("back_to", [4, 8])
def test_a_sheet_that_is_alone_is_nearly_the_same_too(back_to):
    """Also where what is known of contact may turn with the cloth and is amended for a few: nothing else is near."""
    vertices, quads = grid(20, 20, 0.3, 0.3)
    noise = np.random.default_rng(3).normal(0.0, 1e-4, vertices.shape)
    standing = turned(vertices, 1.4, 0) + np.array([0.0, 0.0, 0.3]) + noise
    body = Body(standing, quads, Material(self_distance=0.009))
    simulation = Simulation([body], [Plane((0.0, 0.0, 0.0))])
    for _ in range(back_to + 1):
        simulation.step(DT)
    assert simulation.reports[back_to + 1].self_contacts > 0
    first = simulation.positions(body).copy()
    simulation.truncate(back_to)
    simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(body), first, rtol=0.0, atol=1e-4)


def test_a_cached_collider_is_where_it_was():
    """After `truncate`, a collider that is not moved again stays where it stood at that frame."""
    vertices, quads = grid(6, 6, 0.2, 0.2)
    corners, triangles = box((0.4, 0.4, 0.1))
    table = Collider(corners, triangles)
    body = Body(vertices + np.array([0.01, 0.02, 0.055]), quads)
    simulation = Simulation([body], [table])
    for frame in range(1, 13):
        simulation.move_collider(table, corners + np.array([0.0, 0.0, 0.01 * frame]))
        simulation.step(DT)
    assert simulation.positions(body)[:, 2].mean() == pytest.approx(0.05 + 0.12 + 0.004, abs=0.005)
    simulation.truncate(6)
    for _ in range(12):
        simulation.step(DT)
    assert simulation.positions(body)[:, 2].mean() == pytest.approx(0.05 + 0.06 + 0.004, abs=0.001)
