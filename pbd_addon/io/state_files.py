"""States as arrays for files, to the bit, and back: what comes from a file is checked before it is a `State`.

Colliders and rails are not among them: they are surfaces of the scene, of which others keep one for many frames.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from ..air.wind import MODES
from ..arrays.arguments import FARTHEST
from ..model.model import REASONS, Model, Pace, State
from .frame_files import DamagedError

NAMES = tuple(field.name for field in dataclasses.fields(State) if field.name not in ("colliders", "rails"))
"""The arrays of a state in a file."""

OF_ANY_ROWS = ("skin", "inside", "seams", "plastic")
"""What counts as unknown if it has other rows than the model, which cloth that tears changes."""

LENGTHS_OF_AIR = (0, 1, 5 + MODES)
"""See `air.Memory`."""


def arrays_of(state: State) -> dict[str, np.ndarray]:
    """What a file holds of a state, by name."""
    found = {name: np.asarray(getattr(state, name)) for name in NAMES}
    return found | {"planes": found["planes"].reshape(-1, 2, 3).astype(float)}


def state_from(
    arrays: Mapping[str, np.ndarray], model: Model, colliders: list[np.ndarray], rails: list[np.ndarray]
) -> State:
    """The state that arrays of a file hold; raises `DamagedError` if a model cannot be in it.

    colliders, rails: As in `State`; `penetrated` is nothing if there were others.
    """
    like = arrays_of(model.initial_state())
    missing = [name for name in NAMES if name not in arrays]
    if missing:
        raise DamagedError(f"'{missing[0]}' is missing")
    kept = {name: arrays[name] for name in NAMES}
    for name, array in kept.items():
        if not _can_be(name, array, like[name]):
            raise DamagedError(f"'{name}' cannot be")
    # As kernels expect it; those of a file are read-only. Prediction errors begin as float64 and go on as float32.
    kept = {
        name: np.array(array, None if name == "prediction_error" else like[name].dtype, order="C")
        for name, array in kept.items()
    }
    joined, initial = kept["joined"], like["joined"]  # Vertices come apart, and never together.
    if not (_in_range(joined, len(joined)) and (joined[joined] == joined).all() and (initial[joined] == initial).all()):
        raise DamagedError("'joined' cannot be")
    if kept["penetrated"].shape[1] != len(colliders):
        kept["penetrated"] = np.zeros((len(model.bodies), len(colliders)), bool)
    planes, pace, is_apart = kept.pop("planes"), kept.pop("pace"), kept.pop("is_apart")
    return State(
        **kept, planes=[(one[0], one[1]) for one in planes], colliders=colliders, rails=rails,
        pace=Pace(*pace.tolist()), is_apart=bool(is_apart),
    )  # fmt: skip


def _can_be(name: str, array: np.ndarray, like: np.ndarray) -> bool:
    """Whether an array has the type, the shape and the range of its kind; like: as the state of the model begins."""
    if array.dtype.kind != like.dtype.kind or (array.dtype.kind == "f" and array.itemsize < 4):
        return False
    if name in OF_ANY_ROWS or name == "air":
        fits = array.ndim == like.ndim and (name != "air" or len(array) in LENGTHS_OF_AIR)
    elif name == "penetrated":
        fits = array.ndim == 2 and len(array) == len(like)
    else:
        fits = array.shape == like.shape
    if not fits or array.dtype.kind in "bi":
        return fits
    if name == "prediction_error":
        return bool((np.isnan(array) | (np.abs(array) <= FARTHEST)).all())
    if name == "pace":
        return bool((array >= 0.0).all() and (array <= FARTHEST).all() and array[2] < len(REASONS))
    return bool((np.abs(array) <= (FARTHEST if name != "plastic" else 10.0)).all())


def _in_range(ids: np.ndarray, count: int) -> bool:
    return bool(((ids >= 0) & (ids < count)).all())
