"""Particles as rows of four numbers, for `vectors`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .compile import kernel

ORDER: Literal["C", "F"] = "F"
INDEX = np.int32
PACKED = True


@kernel("f8[:,::1](f8[:,::1], f8[::1])")
def pack(p: np.ndarray, w: np.ndarray) -> np.ndarray:
    q = np.empty((len(w), 4))
    for i in range(len(w)):
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p[0, i], p[1, i], p[2, i], w[i]
    return q


@kernel("void(f8[:,::1], f8[:,::1])")
def unpack(q: np.ndarray, p: np.ndarray) -> None:
    for i in range(p.shape[1]):
        p[0, i], p[1, i], p[2, i] = q[i, 0], q[i, 1], q[i, 2]
