"""Distinct integers of an array."""

from __future__ import annotations

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values of an array of integers, ascending, (k,), as of `np.unique`.

    NumPy 2.3 hashes them there, which takes 4 ms for 60,000 where it sorts in 0.3 ms.
    """
    ordered = np.sort(values, axis=None)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
