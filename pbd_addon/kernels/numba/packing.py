"""Particles as rows of four numbers, for `vectors`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .compile import kernel

ORDER: Literal["C", "F"] = "F"
INDEX = np.int32
PACKED = True


@kernel()
def pack(p, w):
    q = np.empty((len(w), 4))
    for i in range(len(w)):
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p[0, i], p[1, i], p[2, i], w[i]
    return q


@kernel()
def unpack(q, p):
    for i in range(p.shape[1]):
        p[0, i], p[1, i], p[2, i] = q[i, 0], q[i, 1], q[i, 2]


@kernel()
def note(q, way):
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            way[i, k] = q[i, k]


@kernel()
def lean(q, way, gain):
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            way[i, k] = q[i, k] - way[i, k]
            q[i, k] += gain * way[i, k]


@kernel()
def straighten(q, way, gain):
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            q[i, k] -= gain * way[i, k]
