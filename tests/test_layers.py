"""Layers: cloths that start tangled are in order at the first frame, without crossings, and hardly stretched."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.crossings import count_between
from helpers.meshes import grid
from helpers.shapes import lumpy, tube, uv_sphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.kernels import available

COTTON = Material.preset("Cotton")
NOWHERE = (0.0, 0.0, 0.0)


def crossings(simulation, bodies):
    """Edges that go through faces of another body."""
    return sum(
        count_between(simulation.positions(one), one.mesh.triangles, simulation.positions(other), other.mesh.triangles)
        for number, one in enumerate(bodies)
        for other in bodies[:number]
    )


def crossings_before(one, other):
    return count_between(one.vertices, one.mesh.triangles, other.vertices, other.mesh.triangles)


def radii(simulation, body, around, height=0.2):
    """The mean radius of a tube at each of `around` directions within this height, NaN where there is nothing."""
    x = simulation.positions(body)
    x = x[np.abs(x[:, 2]) < height]
    sector = ((np.arctan2(x[:, 1], x[:, 0]) / (2.0 * np.pi) % 1.0) * around).astype(int)
    counts = np.bincount(sector, minlength=around)
    return np.bincount(sector, np.hypot(x[:, 0], x[:, 1]), around) / np.where(counts > 0, counts, np.nan)


TUBES = {
    "across": [{"wave": 0.015}, {"wave": -0.015}],
    "wavy": [{"wave": 0.015, "waves": 5, "slope": 8.0}, {"wave": 0.015, "waves": 6, "slope": -9.0}],
    "inside out": [{"radius": 0.17}, {"radius": 0.14}],
    "three": [{"wave": 0.015}, {"wave": -0.015}, {"wave": 0.015, "waves": 3, "slope": 5.0}],
}
"""Tubes that cross by up to 3 cm, or whose order is reversed."""


@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize("name", TUBES)
@pytest.mark.slow
def test_tubes_start_in_order(name, kernels):
    """Around a body: nothing crosses in any frame, the order is right all around, and strain is below 1 %."""
    bodies = [
        Body(*tube(40 - 2 * number, 16 - number, **{"radius": 0.155, "height": 0.4, **shape}), COTTON, layer=number + 1)
        for number, shape in enumerate(TUBES[name])
    ]
    within = Collider(*tube(32, 12, 0.11, 0.7))
    simulation = Simulation(bodies, [within], gravity=NOWHERE, kernels=kernels)
    assert simulation.crossing_layers == 0
    assert not simulation.velocities(bodies[0]).any()
    for frame in range(24):
        assert crossings(simulation, bodies) == 0
        for inner, outer in zip(bodies, bodies[1:]):
            assert np.nanmin(radii(simulation, outer, 24) - radii(simulation, inner, 24)) > 0.0
        report = simulation.step(1 / 24)
        assert report.crossings == 0
        assert report.strain_mean < 0.01, frame


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_a_coat_over_a_lumpy_ball(kernels):
    """Closed shells of different shape, such as heads: the outer one is outside everywhere."""
    vertices, faces = uv_sphere(32, 18, 0.15)
    bodies = [
        Body(size * lumpy(vertices, 0.12, seed), faces, COTTON, layer=layer)
        for seed, size, layer in ((1, 1.0, 2), (2, 0.98, 1))
    ]
    simulation = Simulation(bodies, gravity=NOWHERE, kernels=kernels)
    outer, inner = bodies
    assert crossings_before(*bodies) > 50
    assert crossings(simulation, bodies) == 0
    assert outer.volume(simulation.positions(outer)) > inner.volume(simulation.positions(inner))
    assert simulation.step(1 / 24).strain_mean < 0.015  # the slivers at the poles have the most
    assert crossings(simulation, bodies) == 0


def crossing_sheets(**settings):
    """Two upright sheets that cross along a line: the second one's left half is behind the first, which faces -y."""
    vertices, faces = grid(8, 8, 0.3, 0.3)
    upright = vertices[:, [0, 2, 1]]
    leaning = upright + 0.1 * upright[:, [1, 0, 1]] + np.array([0.0, 0.001, 0.007])
    shirt = Body(upright, faces, COTTON, layer=1)
    return shirt, Body(leaning, faces, COTTON, **{"layer": 2, **settings})


@pytest.mark.newest
def test_the_side_is_that_to_which_the_faces_of_the_inner_cloth_look():
    for mirrored in (False, True):
        shirt, jacket = crossing_sheets()
        faces = [face[::-1] for face in grid(8, 8, 0.3, 0.3)[1]] if mirrored else grid(8, 8, 0.3, 0.3)[1]
        shirt = Body(shirt.vertices, faces, COTTON, layer=1)
        assert crossings_before(shirt, jacket) > 10
        simulation = Simulation([shirt, jacket], gravity=NOWHERE)
        assert crossings(simulation, [shirt, jacket]) == 0
        ahead = simulation.positions(jacket)[:, 1].mean() - simulation.positions(shirt)[:, 1].mean()
        assert ahead > 0.003 if mirrored else ahead < -0.003


@pytest.mark.newest
@pytest.mark.parametrize("settings", [{"layer": 0}, {"layer": 1}, {"layer": 2, "apart": True}])
def test_what_is_not_tangled_or_has_no_order_stays(settings):
    """To the last bit, and so does what has no layer beside tangled cloth."""
    shirt, jacket = crossing_sheets(layer=settings["layer"])
    if settings.get("apart"):
        jacket = Body(shirt.vertices - np.array([0.0, 0.02, 0.0]), grid(8, 8, 0.3, 0.3)[1], COTTON, layer=2)
    simulation = Simulation([shirt, jacket])
    for body in (shirt, jacket):
        np.testing.assert_array_equal(simulation.positions(body), body.vertices)
    away = Body(
        shirt.vertices + 1.0, grid(8, 8, 0.3, 0.3)[1], dataclasses.replace(COTTON, pressure_mode="OVERPRESSURE")
    )
    shirt, jacket = crossing_sheets()
    simulation = Simulation([away, shirt, jacket])
    np.testing.assert_array_equal(simulation.positions(away), away.vertices)
    assert np.abs(simulation.positions(jacket) - jacket.vertices).max() > 0.005


@pytest.mark.newest
def test_pins_stay_and_what_they_hold_tangled_is_told():
    shirt, jacket = crossing_sheets()
    jacket = Body(jacket.vertices, grid(8, 8, 0.3, 0.3)[1], COTTON, pins=np.arange(81), layer=2)
    simulation = Simulation([shirt, jacket])
    np.testing.assert_array_equal(simulation.positions(jacket), jacket.vertices)
    assert simulation.crossing_layers == crossings(simulation, [shirt, jacket]) > 0
    simulation.step(1 / 24)


@pytest.mark.newest
def test_reset_starts_in_order_again_and_the_initial_velocity_follows():
    shirt, jacket = crossing_sheets(velocity=(1.0, 2.0, 3.0))
    simulation = Simulation([shirt, jacket])
    once = simulation.positions(jacket).copy()
    np.testing.assert_array_equal(simulation.velocities(jacket), np.tile([1.0, 2.0, 3.0], (81, 1)))
    simulation.step(1 / 24)
    simulation.reset()
    np.testing.assert_array_equal(simulation.positions(jacket), once)
    np.testing.assert_array_equal(simulation.cached_positions(jacket, 0), once.astype(np.float32))


@pytest.mark.newest
def test_it_can_be_stopped_and_begun_again():
    shirt, jacket = crossing_sheets()
    simulation = Simulation([shirt, jacket], in_slices=True)
    for _ in simulation.prepare():
        pass
    begun = simulation.beginning(5)
    slices = sum(1 for _ in zip(range(8), begun))
    assert slices == 8
    begun.close()
    assert (simulation.crossing_layers, simulation.frames.first) == (None, 0)
    simulation.begin(5)
    assert (simulation.crossing_layers, simulation.frames.first) == (0, 5)
    assert crossings(simulation, [shirt, jacket]) == 0


@pytest.mark.newest
def test_what_can_tear_or_flow_does_not_while_it_is_sorted():
    """A torn sheet would have been stretched by more than it bears."""
    vertices, faces = grid(8, 8, 0.3, 0.3)
    split = vertices[np.array(faces).ravel()]
    alone = np.arange(len(split)).reshape(-1, 4)
    weak = dataclasses.replace(COTTON, tear_strength=10.0, stretch_yield=0.001)
    shirt, jacket = crossing_sheets()
    leaning = split[:, [0, 2, 1]] + 0.1 * split[:, [2, 0, 2]] + np.array([0.0, 0.001, 0.007])
    jacket = Body(leaning, alone, weak, layer=2)
    simulation = Simulation([shirt, jacket], gravity=NOWHERE)
    assert crossings(simulation, [shirt, jacket]) == 0
    same = Simulation([jacket]).positions(jacket)
    np.testing.assert_array_equal(same, jacket.vertices)
    joined = jacket.joints
    np.testing.assert_array_equal(simulation.positions(jacket), simulation.positions(jacket)[joined])


@pytest.mark.parametrize("layer", [-1, 1.5, "1"])
def test_a_layer_is_a_whole_number(layer):
    with pytest.raises(ValueError, match="Body: layer must be"):
        Body(*grid(2, 2, 1.0, 1.0), layer=layer)
