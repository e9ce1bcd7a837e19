"""How kernels that take most of the time of a frame have particles and rows in memory."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from .arrays import DenseNumbers, Vectors


class Packing(Protocol):
    """Packed particles.

    Attributes:
        ORDER: Order in memory of what rows have in (k, m): "C" for NumPy, which reads the first particles of all rows,
            then the second ones; "F" for Numba, which reads row by row: it has that from beyond the second cache, in
            half the time where it lies in one place.
        INDEX: Type of particles' indices in rows: 4 bytes for Numba; NumPy gathers more slowly with these.
        PACKED: Whether packed particles have their inverse masses with them, so that rows need none.
    """

    ORDER: Literal["C", "F"]
    INDEX: type[np.signedinteger]
    PACKED: bool

    def pack(self, p: Vectors, w: DenseNumbers) -> Vectors:
        """Positions (3, n) [m] as packed kernels take them, for inverse masses w (n,) [1/kg].

        NumPy takes p itself, Numba (n, 4): position and inverse mass of each particle, which it reads and writes as one
        vector.
        """

    def unpack(self, q: Vectors, p: Vectors) -> None:
        """Write packed positions back to p, (3, n)."""

    def note(self, q: Vectors, way: Vectors) -> None:
        """Set `way` to positions q, packed or (3, n)."""

    def lean(self, q: Vectors, way: Vectors, gain: float) -> None:
        """Set `way` from positions that it has noted to the way from there to q, and go on by `gain` times that."""

    def straighten(self, q: Vectors, way: Vectors, gain: float) -> None:
        """Take back `gain` times `way`."""
