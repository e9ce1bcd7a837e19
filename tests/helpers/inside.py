"""What a simulation keeps to itself: the only place in the tests that reaches for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # In Blender these modules have other names.
    from pbd_addon import Simulation
    from pbd_addon.model.model import Model, State, Targets


def model_of(simulation: Simulation) -> Model:
    return simulation._model


def state_of(simulation: Simulation) -> State:
    return simulation._state


def targets_of(simulation: Simulation) -> Targets:
    return simulation._targets


def set_model(simulation: Simulation, model: Model) -> None:
    simulation._model = model
