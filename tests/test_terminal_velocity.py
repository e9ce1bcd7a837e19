"""What falls through still air ends at g / Air Drag, balloons too: the air that they move has inertia and no weight."""

import math

import numpy as np
import pytest

from meshes import icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.settings import AIR_DENSITY

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
def test_a_balloon_falls_at_last_as_its_air_drag_says(preset, radius):
    vertices, triangles = icosphere(2, radius)
    material = Material.preset(preset)
    body = Body(vertices, triangles, material)
    skin = body.masses().sum()
    inertia = skin + 1.5 * AIR_DENSITY * body.volume(vertices)
    slowness = inertia / (skin * material.drag)  # of the approach, [s]
    speeds = fall(body, 6.0 * slowness)
    assert speeds[-1] == pytest.approx(G / material.drag, rel=0.01)
    # v = v_end (1 - exp(-t / slowness)): the air that is moved along makes the approach slow, not the end.
    early = speeds[round(12 * slowness) - 1]
    share = 1.0 - math.exp(-round(12 * slowness) / 12 / slowness)
    assert early == pytest.approx(share * G / material.drag, rel=0.03)


def test_a_party_balloon_falls_as_one_in_the_air():
    """A skin of 0.011 kg/m² with a drag coefficient of 0.47 falls at 1.2 m/s, whatever its radius."""
    density, coefficient = Material.preset("Party Balloon").density, 0.47
    real = math.sqrt(2.0 * density * 4.0 * G / (AIR_DENSITY * coefficient))
    assert real == pytest.approx(G / Material.preset("Party Balloon").drag, rel=0.05)


def test_a_sheet_falls_at_last_as_its_air_drag_says():
    vertices = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.1, 0.0]])
    assert fall(Body(vertices, [[0, 1, 2, 3]], Material(drag=4.0)), 3.0, 20)[-1] == pytest.approx(G / 4.0, rel=0.01)
