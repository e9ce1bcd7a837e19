"""How kernels are compiled: once, when their module is imported, for the types that the engine uses."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

numba.config.reload_config()  # others may have imported Numba before NUMBA_CACHE_DIR was set

FEW_BITS = np.dtype(int).itemsize < 8
"""Whether Python's int makes 32 bit arrays: NumPy before 2.0 on Windows."""


def kernel(signature: str) -> Callable[[F], F]:
    """Compile a function for one signature, or read it from the cache, which is where NUMBA_CACHE_DIR says.

    With a signature nothing is compiled later in the middle of a frame; arguments of other types are a TypeError.
    `f8[:]` in a signature takes any strides, `f8[::1]` only a contiguous array.
    """
    compile_it = numba.njit(signature, cache=True, fastmath=False, boundscheck=False, error_model="numpy")

    def compiled(function: F) -> F:
        made: F = compile_it(_nameless(function))
        return with_long_integers(made) if FEW_BITS else made

    return compiled


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels of the same file call: it is compiled into them."""
    return numba.njit(fastmath=False, boundscheck=False, error_model="numpy")(_nameless(function))


def _nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as if it came from Numba.

    What is read from the cache imports the module that it was compiled in, by its name. But ours depends on who asks:
    inside Blender we are a part of another package than in a process that fills the cache.
    """
    names = {**function.__globals__, "__name__": numba.__name__}
    return functools.update_wrapper(types.FunctionType(function.__code__, names), function, ("__name__", "__doc__"))


def with_long_integers(function: F) -> F:
    """The function, with arrays of 32 bit integers handed on as 64 bit ones."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*(_long(argument) for argument in arguments))

    return cast(F, call)


def _long(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype == np.int32:
        return argument.astype(np.int64)
    return argument
