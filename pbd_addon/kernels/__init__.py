"""The arithmetic of the solver: one module per backend, with the same functions.

A kernel takes arrays and numbers, works in place on the predicted positions `p`, and knows nothing of bodies,
settings or Blender.

Layout: positions are component-major, (3, n): one row per axis, so that an operation on x, y or z runs over
contiguous memory. Indices are (k, m): row r of a constraint kind ties the particles `indices[:, r]`. Rows are
sorted by color; `starts` tells where each color begins. No two rows of a color share a particle, so a color can be
gathered, computed and scattered at once.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

BACKENDS = ("numpy",)


def load(name: str = "auto") -> ModuleType:
    """The module of kernels called `name`: "numpy", or "auto" for the fastest that is there.

    The environment variable PBD_KERNELS says what "auto" is.

    Raises:
        ValueError: There is no such backend.
    """
    if name == "auto":
        name = os.environ.get("PBD_KERNELS", BACKENDS[0])
    if name not in BACKENDS:
        raise ValueError(f"kernels must be auto or one of {', '.join(BACKENDS)}, not {name!r}")
    return importlib.import_module(f".{name}_kernels", __package__)
