"""The arithmetic of the solver: one module per backend, with the same functions.

A kernel takes arrays and numbers, works in place on the predicted positions `p`, and knows nothing of bodies,
settings or Blender.

Layout: positions are component-major, (3, n): one row per axis, so that an operation on x, y or z runs over
contiguous memory. Indices are (k, m): row r of a kind of constraint connects the particles `indices[:, r]`. Rows are
sorted by color; `starts` says where each color begins. No two rows of a color share a particle, so a color can be
gathered, computed and scattered at once. Values that depend only on masses and the length of a substep, such as the
factor from a residual to a step, are computed by the constraints.

Each file has the same name in three packages: `protocol` has the signatures of its functions, with their docstrings and
the records that they take; `numpy` and `numba` implement them.

What is laid out otherwise, each in one place, because it is what takes the time of a frame (see docs/kernels.md):

- NumPy does not write a color back before it reads the next: `numpy.layout`, prepared by `constraints.base`.
- Numba solves chains of edges side by side, in the lanes of vector registers: `numba.chains`, laid out by
  `constraints.chains.lay_out`. So it does hinges with angles, in `numba.projections`, and triangles in air, in
  `numba.air`, four at a time.
- Numba's distances, flat hinges, tethers and chains take packed particles: `packing` and `numba.vectors`. Consecutive
  kinds share them: `solver`.
- What a row has lies in one place for Numba, with indices of 4 bytes, and in columns for NumPy: `ORDER` and `INDEX` in
  `protocol.packing`, by `constraints.base.laid_out`.
- Where one pass a substep is made, no multipliers are kept but for the last substep of a frame: `Constraints.once`.
- Prediction and velocities read and write each array once: `steps`.

NumPy's kernels run everywhere. Numba's are several times faster and give the same result up to rounding. Their first
`load` compiles for about a quarter of a minute; later ones read a cache in the folder NUMBA_CACHE_DIR or else beside
the sources. `python -m pbd_addon.kernels` fills the cache in a separate process.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Generator
from typing import cast

from .protocol import Kernels as Kernels

BACKENDS = ("numpy", "numba")

FACE, EDGES, POINTS = 0, 1, 2
"""Kinds of contact rows: a vertex and a triangle, two edges, two vertices (each twice, as edges without length)."""


def available() -> tuple[str, ...]:
    """Backends that are installed; imports none of them."""
    return tuple(name for name in BACKENDS if importlib.util.find_spec(name))


def load(name: str = "auto") -> Kernels:
    """The kernels called `name`: "numpy", "numba", or "auto", see `loading`."""
    work = loading(name)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return cast(Kernels, end.value)


def loading(name: str = "auto") -> Generator[None, None, Kernels]:
    """Load kernels in slices.

    "auto" is the value of the environment variable PBD_KERNELS, or else NumPy: nothing is compiled unasked.

    Raises:
        ValueError: There is no such backend.
        ImportError: Numba is not installed.
    """
    if name == "auto":
        name = os.environ.get("PBD_KERNELS", BACKENDS[0])
    if name not in BACKENDS:
        raise ValueError(f"kernels must be auto or one of {', '.join(BACKENDS)}, not {name!r}")
    if name not in available():
        raise ImportError(f"kernels {name!r} need the Python package {name}, which is not installed")
    if name == "numba":
        from . import numba

        yield from numba.parts()
        return numba
    from . import numpy

    return numpy
