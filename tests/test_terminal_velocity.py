"""What falls through still air ends as its drag says; air that a balloon moves has inertia and no weight."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.meshes import icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.settings.solver_settings import AIR_DENSITY

G = 9.81


def fall(body: Body, seconds: float, substeps: int = 5) -> list[float]:
    """Mean speed downwards at the end of every twelfth of a second [m/s]."""
    simulation = Simulation([body], gravity=(0.0, 0.0, -G), substeps=substeps, self_collision=False)
    masses, speeds = body.masses() / body.masses().sum(), []
    for _ in range(round(12 * seconds)):
        simulation.step(1 / 12)
        speeds.append(-float(masses @ simulation.velocities(body)[:, 2]))
    return speeds


@pytest.mark.parametrize(("preset", "radius"), [("Party Balloon", 0.14), ("Beach Ball", 0.2), ("Foil Balloon", 0.25)])
@pytest.mark.newest
def test_a_balloon_falls_at_last_as_balls_do_in_air(preset, radius):
    """A drag coefficient of 0.47 (Hoerner 1965); the air that is moved along makes the approach slow, not the end."""
    vertices, triangles = icosphere(2, radius)
    material = Material.preset(preset)
    body = Body(vertices, triangles, material)
    skin = body.masses().sum()
    last = math.sqrt(8.0 * material.density * G / (AIR_DENSITY * 0.47))
    slowness = (skin + 1.5 * AIR_DENSITY * body.volume(vertices)) / skin * last / G  # of the approach, [s]
    speeds = fall(body, 3.0 * slowness)
    assert speeds[-1] == pytest.approx(last, rel=0.02)
    # Drag that grows with the square of the speed: v = v_end tanh(t / slowness).
    early = round(12 * slowness)
    assert speeds[early - 1] == pytest.approx(last * math.tanh(early / 12 / slowness), rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.5, 1.7])
@pytest.mark.newest
def test_air_drag_as_a_rate_acts_on_what_has_weight(rate):
    vertices, triangles = icosphere(2, 0.2)
    material = dataclasses.replace(Material.preset("Beach Ball"), drag=rate, air_normal=0.0, air_tangent=0.0)
    body = Body(vertices, triangles, material)
    skin = body.masses().sum()
    slowness = (skin + 1.5 * AIR_DENSITY * body.volume(vertices)) / (skin * rate)
    speeds = fall(body, 6.0 * slowness)
    assert speeds[-1] == pytest.approx(G / rate, rel=0.01)
    early = round(12 * slowness)
    assert speeds[early - 1] == pytest.approx((1.0 - math.exp(-early / 12 / slowness)) * G / rate, rel=0.03)


def test_a_sheet_falls_at_last_as_its_air_drag_says():
    vertices = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.1, 0.0]])
    assert fall(Body(vertices, [[0, 1, 2, 3]], Material(drag=4.0)), 3.0, 20)[-1] == pytest.approx(G / 4.0, rel=0.01)
