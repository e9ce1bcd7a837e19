"""Work in slices: generators whose caller does something else in between, as a window that has to be drawn."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def finish(work: Generator[Any, None, Result]) -> Result:
    """Do all slices at once; what the generator returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
