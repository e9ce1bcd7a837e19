"""The model does not change while a run goes on, and all that the solver remembers is in the state."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.model.model import Model

DT = 1 / 24


def scene() -> tuple[Simulation, Body, Body]:
    """A cloth with firm and soft pins falls over a ball, and a balloon on a floor."""
    vertices, faces = grid(12, 12, 0.6, 0.6)
    cloth = Body(vertices + np.array([0.0, 0.0, 0.25]), faces, Material.preset("Cotton"), pins={0: 1.0, 12: 0.3})
    points, triangles = icosphere(2, 0.2)
    balloon = Body(points + np.array([1.0, 0.0, 0.21]), triangles, Material.preset("Beach Ball"))
    ball = Collider(points, triangles)
    simulation = Simulation([cloth, balloon], [ball, Plane((0, 0, 0), (0, 0, 1))], substeps=8, automatic=True)
    return simulation, cloth, balloon


def arrays(model: Model) -> dict[str, bytes]:
    fields = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    fields |= {f"{name} {number}": array for number, own in enumerate(model.maps) for name, array in own.items()}
    return {name: value.tobytes() for name, value in fields.items() if isinstance(value, np.ndarray)}


def test_a_run_changes_nothing_in_the_model():
    simulation, cloth, _ = scene()
    hand = simulation.grab(cloth, [80, 81])
    model, before = model_of(simulation), arrays(model_of(simulation))
    assert len(before) > 12
    for _ in range(4):
        simulation.set_pin_targets(cloth, simulation.positions(cloth)[cloth.pin_ids] + [0.01, 0.0, 0.0])
        simulation.step(DT)
    simulation.truncate(2)
    simulation.step(DT)
    assert model_of(simulation) is model
    assert arrays(model) == before
    hand.release()
    assert model_of(simulation) is not model


def test_nothing_can_be_assigned():
    model = model_of(scene()[0])
    for field in dataclasses.fields(model):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(model, field.name, None)


def test_what_is_set_makes_another_model():
    simulation, cloth, balloon = scene()
    for change in (
        lambda: simulation.set_material(cloth, Material.preset("Silk")),
        lambda: simulation.set_maps(cloth, {"density": np.full(len(cloth.vertices), 2.0)}),
        lambda: simulation.set_settings(dataclasses.replace(simulation.settings, iterations=2)),
        lambda: simulation.set_colliders([*model_of(simulation).colliders[:0], *model_of(simulation).planes]),
        lambda: simulation.keep_apart(cloth, [1], balloon, [1], 0.1),
    ):
        model, before = model_of(simulation), arrays(model_of(simulation))
        change()
        assert model_of(simulation) is not model
        assert arrays(model) == before


@pytest.mark.newest
def test_a_simulation_goes_on_from_the_state_of_another_one():
    """To the last bit, so nothing else is remembered."""
    one, other = scene(), scene()
    for _ in range(4):
        one[0].step(DT)
    other[0].restore(0, one[0].frames.state(4))
    for simulation, _, _ in (one, other):
        simulation.step(DT)
        simulation.step(DT)
    for body, twin in zip(one[1:], other[1:]):
        np.testing.assert_array_equal(one[0].positions(body), other[0].positions(twin))
        np.testing.assert_array_equal(one[0].velocities(body), other[0].velocities(twin))
