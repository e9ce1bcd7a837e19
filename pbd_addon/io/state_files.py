"""States as arrays for files, to the bit, and back: what comes from a file is checked before it is a `State`.

What a part remembers is called "part.memory" there. Surfaces of the scene are not among them: others keep one for many
frames.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.model import Model, State
from ..model.part import Kept
from ..parts import KEPT
from .frame_files import DamagedError

MOTION = Kept(lambda model, x: x)
"""What is known of positions and velocities."""

NAMES = ("x", "v", *(f"{part}.{name}" for part, own in KEPT.items() for name, kept in own.items() if not kept.is_scene))
"""All arrays that a file can hold of a state; it holds those of the parts that a scene has."""


def arrays_of(state: State) -> dict[str, np.ndarray]:
    """What a file holds of a state, by name."""
    remembered = {f"{part}.{name}": value for part, own in state.memory.items() for name, value in own.items()}
    return {"x": state.x, "v": state.v} | {name: array for name, array in remembered.items() if name in NAMES}


def state_from(
    arrays: Mapping[str, np.ndarray], model: Model, colliders: list[np.ndarray], rails: list[np.ndarray]
) -> State:
    """The state that arrays of a file hold; raises `DamagedError` if a model cannot be in it.

    colliders, rails: Surfaces of the scene then; what penetrated them is nothing if there were others.
    """
    first = model.initial_state()
    found = {name: _checked(name, arrays, like) for name, like in arrays_of(first).items()}
    joined, initial = (each.get("tearing.joined", np.zeros(0, int)) for each in (found, arrays_of(first)))
    # Vertices come apart, and never together.
    if not (are_ids(joined, len(joined)) and (joined[joined] == joined).all() and (initial[joined] == initial).all()):
        raise DamagedError("'tearing.joined' cannot be")
    if found["obstacles.penetrated"].shape[1] != len(colliders):
        found["obstacles.penetrated"] = np.zeros((len(model.bodies), len(colliders)), bool)
    scene = {"obstacles.colliders": colliders, "slides.rails": rails}
    memory = {part: {name: (found | scene)[f"{part}.{name}"] for name in own} for part, own in first.memory.items()}
    return State(found["x"], found["v"], memory)


def _checked(name: str, arrays: Mapping[str, np.ndarray], like: np.ndarray) -> np.ndarray:
    """The array of a name, as kernels expect it; those of a file are read-only."""
    if name not in arrays:
        raise DamagedError(f"'{name}' is missing")
    part, _, memory = name.partition(".")
    if not _can_be(arrays[name], like, KEPT[part][memory] if memory else MOTION):
        raise DamagedError(f"'{name}' cannot be")
    # Prediction errors begin as float64 and go on as float32.
    return np.array(arrays[name], None if name == "obstacles.prediction_error" else like.dtype, order="C")


def _can_be(array: np.ndarray, like: np.ndarray, kept: Kept) -> bool:
    """Whether an array has the type, the shape and the range of its kind; like: with which the model begins."""
    if array.dtype.kind != like.dtype.kind or (array.dtype.kind == "f" and array.itemsize < 4):
        return False
    if kept.fits:
        return kept.fits(array, like)
    fits = array.ndim == like.ndim if kept.any_rows else array.shape == like.shape
    return fits and (array.dtype.kind in "bi" or bool((np.abs(array) <= kept.most).all()))


def are_ids(ids: np.ndarray, count: int) -> bool:
    """Whether all are numbers of `count` things."""
    return bool(((ids >= 0) & (ids < count)).all())
