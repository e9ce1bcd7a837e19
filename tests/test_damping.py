"""Damping takes motion, never weight: whatever hangs comes to rest where its springs say, at any rate and substeps.

Presets of fabrics have rates of 0.2, those of balloons 2, and the slider ends at 20 1/s.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation
from pbd_addon.kernels import available

GRAVITY = 9.81
DT = 1 / 24
LINKS = 4


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("substeps", [1, 20, 40])
@pytest.mark.parametrize("damping", [0.2, 20.0])
def test_a_rope_of_springs_sags_by_its_weight(kernels, substeps, damping):
    """Hung at rest, each spring stays as long as what hangs below it makes it, to 0.1 % of its lengthening."""
    stiffness = 200.0
    sags = 0.1 * np.arange(LINKS, 0, -1) * GRAVITY / stiffness
    heights = -np.concatenate([[0.0], np.cumsum(0.2 + sags)])
    body = Body(
        np.outer(heights, [0, 0, 1]), edges=[[k, k + 1] for k in range(LINKS)], masses=[0.1] * (LINKS + 1),
        rest_vertices=np.outer(-0.2 * np.arange(LINKS + 1), [0, 0, 1]), compliances=[1.0 / stiffness] * LINKS,
        pins=[0], material=Material(drag=6.0, damping=damping),
    )  # fmt: skip
    simulation = Simulation([body], substeps=substeps, kernels=kernels)
    for _ in range(24):
        simulation.step(DT)
    lengths = -np.diff(simulation.positions(body)[:, 2])
    np.testing.assert_allclose(lengths - 0.2, sags, rtol=1e-3)


@pytest.mark.parametrize("substeps", [1, 20])
@pytest.mark.parametrize("damping", [0.0, 20.0])
@pytest.mark.newest
def test_a_pinned_cloth_keeps_its_weight(substeps, damping):
    """A square metre of threads on its upper edge lengthens by density g H² / 2 stretch, to 0.1 %.

    With one substep, tethers see a fall of 17 mm before the edges take it back, and must bear nothing of it.
    """
    vertices, quads = grid(5, 5, 1.0, 1.0)
    material = Material(stretch=100.0, compression=100.0, shear=0.0, bend=0.0, damping=damping, drag=6.0)
    body = Body(vertices[:, [0, 2, 1]], quads, material, pins=range(30, 36))
    simulation = Simulation([body], self_collision=False, substeps=substeps)
    for _ in range(60):
        simulation.step(DT)
    sag = -0.5 - simulation.positions(body)[:6, 2]
    np.testing.assert_allclose(sag, 0.15 * GRAVITY / 200.0, rtol=1e-3)


def speed_left(vertices, edges, pins, v, damping: float = 5.0) -> float:
    """Speed of the last vertex after a tenth of a second in which only damping acts, over that at the beginning."""
    nothing = {"stretch": 0.0, "compression": 0.0, "shear": 0.0, "bend": 0.0, "drag": 0.0}
    body = Body(vertices, edges=edges, masses=[0.1] * len(vertices), pins=pins,
                material=Material(damping=damping, **nothing))  # fmt: skip
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=10)
    simulation.velocities(body)[:] = v
    simulation.step(0.1)
    return float(np.linalg.norm(simulation.velocities(body)[-1]) / np.linalg.norm(np.asarray(v)[-1]))


def test_damping_takes_the_motion_towards_a_pin_and_leaves_the_swing():
    """A mass on a pin: along the way to the pin its speed falls by exp(-c t), across it stays to 0.1 %."""
    vertices, edges = [[0.0, 0, 0], [0.0, 0, -1.0]], [[0, 1]]
    bounce = speed_left(vertices, edges, [0], [[0, 0, 0], [0, 0, 0.01]])
    swing = speed_left(vertices, edges, [0], [[0, 0, 0], [0.01, 0, 0]])
    assert bounce == pytest.approx(np.exp(-5.0 * 0.1), rel=2e-3)
    assert swing == pytest.approx(1.0, abs=1e-3)


def test_two_pins_leave_the_swing_about_their_axis():
    """A triangle on two pins swings about their axis undamped, and is damped along it."""
    vertices, edges = [[-0.5, 0, 0], [0.5, 0, 0], [0.1, 0, -1.0]], [[0, 1], [1, 2], [2, 0]]
    still = [[0.0, 0, 0]] * 2
    assert speed_left(vertices, edges, [0, 1], [*still, [0, 0.01, 0]]) == pytest.approx(1.0, abs=1e-3)
    assert speed_left(vertices, edges, [0, 1], [*still, [0.01, 0, 0]]) == pytest.approx(np.exp(-0.5), rel=5e-3)


def test_three_pins_leave_no_motion():
    """What cannot move as a whole is damped as a whole: a bounce on four pins dies out by exp(-c t)."""
    vertices = [[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0.0, 0, 0]]
    edges = [[k, 4] for k in range(4)]
    bounce = speed_left(vertices, edges, [0, 1, 2, 3], [*[[0.0, 0, 0]] * 4, [0, 0, 0.01]])
    assert bounce == pytest.approx(np.exp(-0.5), rel=5e-3)
