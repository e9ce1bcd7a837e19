"""Pace: how the last frame was stepped, for those that choose their substeps; see `stepping/adaptive.py`."""

from __future__ import annotations

import numpy as np

from ..model.model import REASONS, Pace as PaceOfFrame
from ..model.part import Kept, Part, remembers


def _is_pace(array: np.ndarray, first: np.ndarray) -> bool:
    """Whether an array can be the `Pace` of a frame."""
    return array.shape == first.shape and bool(
        (array >= 0.0).all() and array[2] < len(REASONS) and (array < 1e12).all()
    )


class Pace(Part):
    """It remembers the `Pace` of the last frame, (3,), and what that has left to look back at, see `stepping.carrying`:
    positions and velocities, (9, n), or (9, 0), for how long, and of which state, (3,).
    """

    name = "pace"
    MEMORY = remembers(
        last=Kept(lambda model, x: np.array(PaceOfFrame()), fits=_is_pace),
        past=Kept(lambda model, x: np.zeros((9, 0)), any_rows=True, is_single=True),
        span=Kept(lambda model, x: np.zeros(3)),
    )
