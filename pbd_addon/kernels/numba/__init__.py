"""Kernels compiled by Numba; those that would speed up a frame by less than 1 % are NumPy's.

They are there after `parts`, which Blender runs while it is idle: to read them all at once takes most of a second.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..numpy import (
    solve_blocks as solve_blocks,
    sum_by_piece as sum_by_piece,
)

if TYPE_CHECKING:
    from .air import *
    from .blocks import *
    from .bvh import *
    from .chains import *
    from .closest import *
    from .cones import *
    from .contact import *
    from .frames import *
    from .inflation import *
    from .levels import *
    from .motion import *
    from .packing import *
    from .pairs import *
    from .planes import *
    from .projections import *
    from .skins import *
    from .springs import *
    from .steps import *

BEFORE = ("vectors", "compile")
"""What others need: Numba itself, which takes a quarter of a second."""

PARTS = (
    *("steps", "packing", "motion", "chains", "projections", "levels", "air"),
    *("blocks", "bvh", "cones", "closest", "pairs", "contact", "inflation"),
    *("skins", "springs", "planes", "frames"),
)

_imported: list[str] = []
"""Which of them are there."""


def parts() -> Iterator[None]:
    """Import the parts that are not there yet, in slices of a tenth of a second, but for Numba itself."""
    importlib.import_module("llvmlite.binding")
    yield
    for name in (*BEFORE, *PARTS)[len(_imported) :]:
        module = importlib.import_module(f".{name}", __name__)
        if name in PARTS:
            globals().update({name: _for_python(found) for name, found in vars(module).items() if name[0] != "_"})
        _imported.append(name)
        yield


def _for_python(found: Any) -> Any:
    """What other modules call if this is a kernel."""
    compile_ = importlib.import_module(".compile", __name__)
    return compile_.for_python(found) if getattr(found, "nopython_signatures", ()) else found
