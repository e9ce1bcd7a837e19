"""Validation of the public API's arguments: converted to the solver's types, or refused in one sentence.

`where` names the argument for the caller, as "Flag: pins". Nothing is rounded, truncated, wrapped or guessed: a bool is
neither a number nor a vertex, 2.0 is not a count, and -1 is not the last index. Each function raises `ValueError` with
a sentence that names the argument and what it got.
"""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Collection, Container, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

T = TypeVar("T")

FARTHEST = 1e-3 * 2.0**52
"""Largest coordinate [m]. float64 has 52 binary digits after the first: farther out, points a millimeter apart, the
distance of thin cloth, become equal. Squares and cubes of smaller coordinates cannot overflow."""

LEAST, MOST = 2.0**-100, 2.0**100
"""Smallest and largest magnitude of all other numbers that are not 0. A product or quotient of ten of them is within
the range of float64, 2**-1022 to 2**1024."""

TINY = 2.0**-500
"""A coordinate of smaller magnitude counts as 0 [m]: its square would underflow."""


def refuse(where: str, wanted: str, value: object) -> NoReturn:
    """Raise the `ValueError`; a long value is truncated, an array is described by its type and shape."""
    if isinstance(value, np.ndarray) and value.size > 4:
        got = f"{value.dtype} of shape {value.shape}"
    else:
        got = " ".join(repr(value).split())
    raise ValueError(f"{where} must be {wanted}, not {got if len(got) <= 80 else got[:77] + '...'}")


def instance(where: str, value: object, kind: type[T]) -> T:
    """An object of a class."""
    return value if isinstance(value, kind) else refuse(where, f"a {kind.__name__}", value)


def different(where: str, values: object, *kinds: type[T]) -> list[T]:
    """A list of different objects of these classes."""
    found = sequence(where, values)
    for number, value in enumerate(found):
        if not isinstance(value, kinds):
            refuse(f"{where}[{number}]", "a " + " or a ".join(kind.__name__ for kind in kinds), value)
        if any(value is earlier for earlier in found[:number]):
            raise ValueError(f"{where}[{number}] is there twice")
    return found


def member(where: str, value: T, known: Container[T]) -> T:
    """One of the bodies, planes or colliders of a simulation, which are compared by identity."""
    with contextlib.suppress(TypeError):  # an argument without a hash is none of them
        if value in known:
            return value
    refuse(where, "one of this simulation", getattr(value, "name", value))


def sequence(where: str, values: object) -> list[Any]:
    """A list of the items of an iterable."""
    if not isinstance(values, str | Mapping):
        try:
            return list(values)  # type: ignore[call-overload]
        except TypeError:  # It is not iterable, or is a 0-dimensional array.
            pass
    refuse(where, "a list", values)


def switch(where: str, value: object) -> bool:
    """True or False."""
    return bool(value) if isinstance(value, bool | np.bool_) else refuse(where, "True or False", value)


def choice(where: str, value: object, choices: Collection[str]) -> str:
    """One of the strings `choices`."""
    return (
        value if isinstance(value, str) and value in choices else refuse(where, f"one of {', '.join(choices)}", value)
    )


def number(
    where: str,
    value: object,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    above: float | None = None,
) -> float:
    """A finite real number: at least `low`, at most `high`, greater than `above`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        refuse(where, "a number", value)
    try:
        found = float(value)
    except OverflowError:  # an int of 400 digits
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{where} must be a finite number, not {found:g}")
    if found and not LEAST <= abs(found) <= MOST:
        raise ValueError(f"{where} must be 0 or of a size from {LEAST:.1g} to {MOST:.1g}, not {found:g}")
    for words, limit, holds in (
        ("above", above, above is None or found > above),
        ("at least", low, low is None or found >= low),
        ("at most", high, high is None or found <= high),
    ):
        if not holds:
            raise ValueError(f"{where} must be {words} {limit:g} {unit}".rstrip() + f", not {found:g}")
    return found


def whole(where: str, value: object, low: float | None = None, high: float | None = None) -> int:
    """An integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        refuse(where, "a whole number", value)
    number(where, value, low, high)
    return int(value)


def real_array(where: str, values: object) -> np.ndarray:
    """A new float64 array of any shape."""
    try:
        found = np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        refuse(where, "an array of numbers", values)
    unmasked(where, values)
    if found.dtype.kind not in "iuf":
        refuse(where, "real numbers", values)
    with np.errstate(over="ignore"):  # A long double that becomes infinite is refused as such.
        return np.array(found, float)


def vectors(where: str, values: object, count: int | None = None) -> np.ndarray:
    """Points or directions, (n, 3) float64; n above 0, or `count`."""
    found = real_array(where, values)
    if found.ndim != 2 or found.shape[1] != 3 or len(found) != (len(found) or 1 if count is None else count):
        wanted = "(n, 3) with n > 0" if count is None else f"({count}, 3)"
        raise ValueError(f"{where} must have shape {wanted}, not {found.shape}")
    bad = np.flatnonzero(~(np.abs(found) <= FARTHEST).all(axis=1))
    if len(bad):
        row = found[bad[0]]
        wanted = f"at most {FARTHEST:.2g} m from the origin" if np.isfinite(row).all() else "finite numbers"
        raise ValueError(f"{where} must be {wanted}, row {bad[0]} is {row.tolist()}")
    found[np.abs(found) < TINY] = 0.0
    return found


def vector(where: str, value: object) -> np.ndarray:
    """One point or direction, (3,) float64."""
    found = real_array(where, value)
    if found.shape != (3,) or not (np.abs(found) <= FARTHEST).all():
        refuse(where, f"three finite numbers up to {FARTHEST:.2g}", value)
    return found


def per_vertex(
    where: str, values: object, count: int, low: float | None = None, unit: str = "", above: float | None = None
) -> np.ndarray:
    """A finite number in that range for each of `count` rows, (count,) float64."""
    found = real_array(where, values)
    if found.shape != (count,):
        raise ValueError(f"{where} must have shape ({count},), not {found.shape}")
    sound = (found == 0.0) | ((np.abs(found) >= LEAST) & (np.abs(found) <= MOST))
    if low is not None:
        sound &= found >= low
    if above is not None:
        sound &= found > above
    for row in np.flatnonzero(~sound)[:1].tolist():
        number(f"{where}[{row}]", found[row], low, None, unit, above)
    return found


def ids(where: str, values: object, count: int, width: int | None = None) -> np.ndarray:
    """Ids of some of `count` vertices, (k,) int64, or (k, width)."""
    found = integers(where, values, width)
    for worst in (found.min(), found.max()) if found.size else ():
        if not 0 <= worst < count:
            raise ValueError(f"{where} names vertex {worst}, but there are {count} vertices")
    return found.astype(np.int64)


def unmasked(where: str, values: object) -> None:
    """Refuse an array of NumPy's that masks some of its entries, which would count as if it did not."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        hidden = int(np.ma.count_masked(values))
        raise ValueError(f"{where} must have no masked entries, but {hidden} are: fill them or leave them out")


def integers(where: str, values: object, width: int | None = None) -> np.ndarray:
    """Integers, (k,) or (k, width)."""
    unmasked(where, values)
    if not isinstance(values, np.ndarray):
        values = sequence(where, values)
        if any(isinstance(value, bool) for value in values):
            refuse(where, "integers", values)
    shape = "(k,)" if width is None else f"(k, {width})"
    try:
        found = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"{where} must have shape {shape}, its rows differ in length") from None
    if not found.size:
        return np.zeros(0 if width is None else (0, width), np.int64)
    if found.dtype.kind not in "iu":
        refuse(where, "integers", values)
    if found.shape != (len(found) if found.ndim else 0, *(() if width is None else (width,))):
        raise ValueError(f"{where} must have shape {shape}, not {found.shape}")
    return found
