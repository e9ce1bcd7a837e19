"""How kernels are compiled: once, when their module is imported, for the types that the engine uses."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

numba.config.reload_config()  # Numba may have been imported before NUMBA_CACHE_DIR was set.

FEW_BITS = np.dtype(int).itemsize < 8
"""Whether arrays of Python's int have 32 bits, as with NumPy before 2.0 on Windows."""


def kernel(*signatures: str, in_any_order: bool = False) -> Callable[[F], F]:
    """Compile a function for its signatures, or read it from the cache in NUMBA_CACHE_DIR.

    With signatures nothing is compiled later in the middle of a frame; arguments of other types raise a TypeError.
    `f8[:]` in a signature accepts any strides, `f8[::1]` only contiguous arrays.

    in_any_order: Sums over rows may be added in vectors, as NumPy adds them, and so with other last digits.
    """
    freely = {"reassoc"} if in_any_order else False
    compile_it = numba.njit(list(signatures), cache=True, fastmath=freely, boundscheck=False, error_model="numpy")

    def compiled(function: F) -> F:
        made: F = compile_it(_nameless(function))
        return with_long_integers(made) if FEW_BITS else made

    return compiled


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels of the same file call."""
    return numba.njit(fastmath=False, boundscheck=False, error_model="numpy")(_nameless(function))


def _nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as if it were defined in Numba.

    A cached function imports the module that it was compiled in, by name. But our module's name varies: inside Blender
    it belongs to another package than in the process that fills the cache.
    """
    names = {**function.__globals__, "__name__": numba.__name__}
    return functools.update_wrapper(types.FunctionType(function.__code__, names), function, ("__name__", "__doc__"))


def with_long_integers(function: F) -> F:
    """Wrap a kernel so that it gets arrays of 32-bit integers as 64-bit ones where it takes these."""
    (types_of, *_) = cast(Any, function).nopython_signatures
    are_long = [isinstance(kind, numba.types.Array) and kind.dtype == numba.types.int64 for kind in types_of.args]

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*(_long(argument) if is_long else argument for argument, is_long in zip(arguments, are_long)))

    return cast(F, call)


def _long(argument: np.ndarray) -> np.ndarray:
    return argument.astype(np.int64) if argument.dtype == np.int32 else argument
