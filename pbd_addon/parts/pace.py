"""Pace: how the last frame was stepped, for those that choose their substeps; see `stepping/adaptive.py`."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ..model.model import REASONS, Model, Pace as PaceOfFrame
from ..model.part import Kept, Part


def _is_pace(array: np.ndarray, first: np.ndarray) -> bool:
    """Whether an array can be the `Pace` of a frame."""
    return array.shape == first.shape and bool(
        (array >= 0.0).all() and array[2] < len(REASONS) and (array < 1e12).all()
    )


class Pace(Part):
    """It remembers the `Pace` of the last frame, (3,)."""

    name = "pace"
    MEMORY = MappingProxyType({"last": Kept(fits=_is_pace)})

    @classmethod
    def build(cls, model: Model, before: Pace | None) -> Pace:
        return before or cls()

    def first_memory(self, model: Model, x: np.ndarray) -> dict[str, Any]:
        return {"last": np.array(PaceOfFrame())}
