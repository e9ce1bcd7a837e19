"""A balloon is drawn through between two toothed cylinders that turn against each other (Müller 2007, fig. 1)."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import deepest_penetration, is_closed
from helpers.meshes import icosphere, prism, turned
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
TEETH, ROOT, TIP = 14, 0.22, 0.25
GAP = 0.14
"""Between the tips of both gears [m]; the balloon is 0.3 m wide."""


def gear() -> np.ndarray:
    """Outline of a wheel with trapezoid teeth, (4 TEETH, 2) [m]."""
    pitch = 2.0 * np.pi / TEETH
    angles = (np.arange(TEETH)[:, None] + np.array([-0.40, -0.25, 0.25, 0.40]) * 0.8) * pitch
    radii = np.tile([ROOT, TIP, TIP, ROOT], TEETH)
    return radii[:, None] * np.column_stack([np.cos(angles.ravel()), np.sin(angles.ravel())])


def test_a_balloon_goes_through_between_gears():
    """It stays sound, keeps its volume, comes out below, and no part of it is deeper than 5 mm in a gear then."""
    wheel, triangles = prism(gear(), 0.6)
    assert is_closed(triangles)
    ball, faces = icosphere(3, 0.15)
    middle = TIP + 0.5 * GAP
    material = Material(
        density=0.1, stretch=200.0, compression=200.0, shear=50.0, bend=1e-6, damping=2.0, friction=1.0,
        thickness=0.001, pressure_mode="VOLUME",
    )  # fmt: skip
    body = Body(ball + np.array([0.0, 0.0, 0.28]), faces, material)
    places = [np.array([-middle, 0.0, 0.0]), np.array([middle, 0.0, 0.0])]
    gears = [Collider(wheel + place, triangles, 0.002, friction=1.0) for place in places]
    simulation = Simulation([body], gears)
    deepest = narrowest = 0.0
    narrowest = np.inf
    for frame in range(1, 73):
        angle = 0.05 * frame  # the left one clockwise when seen from -y, so that both draw downwards between them
        stand = [turned(wheel, way * angle, 1) + place for way, place in zip((1.0, -1.0), places)]
        for collider, vertices in zip(gears, stand):
            simulation.move_collider(collider, vertices)
        simulation.step(DT)
        x = simulation.positions(body)
        assert np.isfinite(x).all()
        if frame % 8 == 0:
            deepest = max(deepest_penetration(x, faces, vertices, triangles) for vertices in stand)
            assert deepest < 0.005, f"{1e3 * deepest:.1f} mm deep in a gear in frame {frame}"
        between = np.abs(x[:, 2]) < 0.05
        if between.sum() > 20:
            narrowest = min(narrowest, np.ptp(x[between, 0]))
    assert narrowest < GAP + 0.06  # it was squeezed
    assert x[:, 2].max() < 0.0, f"its top is at {x[:, 2].max():.2f} m"
    assert body.volume(x) > 0.9 * body.volume(body.vertices)
    assert deepest < 0.005
