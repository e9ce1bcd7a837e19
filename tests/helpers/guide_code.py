"""Code that the pages of docs/ show, to be run as it stands there."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import types
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[2] / "docs"
PHYSICS, AIR = DOCS / "physics.md", DOCS / "air.md"


def own_kind() -> str:
    """The example of a kind of constraint of one's own."""
    blocks = re.findall(r"^```python\n(.*?)^```", PHYSICS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "add_constraints" in block)


@functools.cache
def own_kind_run() -> tuple[dict, str]:
    """What the example defines, and what it prints."""
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(own_kind(), names)
    return names, printed.getvalue().strip()


def area(rest_areas: np.ndarray) -> types.FunctionType:
    """The function of the example, with these rest areas (m,) [m²]."""
    names = own_kind_run()[0]
    return types.FunctionType(names["area"].__code__, {**names, "rest_areas": rest_areas})


def whirl() -> str:
    """The example of air of one's own."""
    blocks = re.findall(r"^```python\n(.*?)^```", AIR.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "AirVelocity" in block)
