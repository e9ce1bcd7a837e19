"""NumPy takes positions as they are, axis by axis."""

from __future__ import annotations

from typing import Literal

import numpy as np

ORDER: Literal["C", "F"] = "C"
INDEX = np.int64
PACKED = False


def pack(p, w):
    return p


def unpack(q, p):
    pass


def note(q, way):
    way[:] = q


def lean(q, way, gain):
    np.subtract(q, way, out=way)
    if gain:
        q += gain * way


def straighten(q, way, gain):
    q -= gain * way
