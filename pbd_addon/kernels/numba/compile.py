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


def kernel(*signatures: str) -> Callable[[F], F]:
    """Compile a function for its signatures, or read it from the cache in NUMBA_CACHE_DIR.

    With signatures nothing is compiled later in the middle of a frame; arguments of other types raise a TypeError.
    `f8[:]` in a signature accepts any strides, `f8[::1]` only contiguous arrays.
    """
    compile_it = numba.njit(list(signatures), cache=True, fastmath=False, boundscheck=False, error_model="numpy")

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
    """Wrap a function so that it gets arrays of 32-bit integers as 64-bit ones."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*(_long(argument) for argument in arguments))

    return cast(F, call)


def _long(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype == np.int32:
        return argument.astype(np.int64)
    return argument
