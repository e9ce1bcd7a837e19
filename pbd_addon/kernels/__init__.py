"""The arithmetic of the solver: one module per backend, with the same functions.

A kernel takes arrays and numbers, works in place on the predicted positions `p`, and knows nothing of bodies,
settings or Blender.

Layout: positions are component-major, (3, n): one row per axis, so that an operation on x, y or z runs over
contiguous memory. Indices are (k, m): row r of a constraint kind ties the particles `indices[:, r]`. Rows are
sorted by color; `starts` tells where each color begins. No two rows of a color share a particle, so a color can be
gathered, computed and scattered at once. What depends on masses and on the length of a substep alone, such as the
factor from a residual to a step, is computed by the constraints and handed over.

Each file has a subject and the same name in three packages: `protocol` says what its functions do, `numpy` and `numba`
do it. NumPy does not write a color back before it reads the next: see `numpy.layout`.

NumPy's kernels run everywhere. Numba's are several times faster and give the same result up to rounding; the first
`load` of them compiles for a quarter of a minute or so, later ones read the compiled code from a cache, which is in
the folder NUMBA_CACHE_DIR or else beside the sources. `python -m pbd_addon.kernels` fills the cache, in a process of
its own.
"""

from __future__ import annotations

import importlib.util
import os

from .protocol import Kernels as Kernels

BACKENDS = ("numpy", "numba")

FACE, EDGES, POINTS = 0, 1, 2
"""Kinds of contact rows: a vertex and a triangle, two edges, two vertices (each twice, as edges without length)."""


def available() -> tuple[str, ...]:
    """Backends that can be imported here; imports none of them."""
    return tuple(name for name in BACKENDS if importlib.util.find_spec(name))


def load(name: str = "auto") -> Kernels:
    """The kernels called `name`: "numpy", "numba", or "auto".

    "auto" is what the environment variable PBD_KERNELS says, else NumPy: nothing is compiled unasked.

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

        return numba
    from . import numpy

    return numpy
