"""Exactly flat cloth buckles where it is compressed, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import loops
from helpers.meshes import grid
from pbd_addon import Body, Material, Plane, Simulation
from pbd_addon.parts import buckling

DT = 1 / 24
COTTON = Material.preset("Cotton")


@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("preset", ["Leather", "Denim"])
def test_a_strip_that_is_drawn_together_rises_as_the_elastica(preset):
    """Within 3 %, from exactly flat; without a seed it stays flat for ever."""
    assert abs(loops._buckled(preset, 0.1, "auto", False).value) < 3.0


def test_what_is_flat_and_not_compressed_stays_so():
    """Up to rounding: falling, lying on a floor, and hung from a whole border, in any direction."""
    vertices, quads = grid(8, 8, 0.4, 0.4)
    falling = Body(vertices, quads, COTTON)
    lying = Body(vertices + np.array([2.0, 0.0, -1.0]), quads, COTTON)
    hung = Body(vertices[:, [0, 2, 1]] + np.array([4.0, 0.0, 0.0]), quads, COTTON, pins=range(72, 81))
    simulation = Simulation([falling, lying, hung], [Plane((0.0, 0.0, -1.0 - COTTON.thickness))], self_collision=False)
    for _ in range(12):
        simulation.step(DT)
    assert np.ptp(simulation.positions(falling)[:, 2]) < 1e-12
    assert np.abs(simulation.positions(lying)[:, 2] + 1.0).max() < 1e-12
    assert np.abs(simulation.positions(hung)[:, 1]).max() < 1e-12


@pytest.mark.newest
def test_the_seed_is_far_below_what_can_be_seen():
    """And the same in every run; pins keep their places."""
    vertices, quads = grid(8, 8, 0.4, 0.4)
    squeezed = vertices * [0.99, 1.0, 1.0]
    ways = []
    for _ in range(2):
        body = Body(squeezed, quads, COTTON, pins=(0, 8), rest_vertices=vertices)
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=1000)
        simulation.step(1e-6)
        ways.append(simulation.positions(body)[:, 2].copy())
    off = np.abs(ways[0])
    assert 0.0 < off.max() < 1.01 * buckling.SEED * 0.05
    assert not off[[0, 8]].any()
    assert (off[1:8] > 0.0).all()
    np.testing.assert_array_equal(*ways)
