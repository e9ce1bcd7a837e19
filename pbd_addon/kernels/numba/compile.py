"""How kernels are compiled: once, when their module is imported, for the types that `protocol` says."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from ..protocol import Kernels

F = TypeVar("F", bound=Callable[..., Any])

numba.config.reload_config()  # Numba may have been imported before NUMBA_CACHE_DIR was set.

FEW_BITS = np.dtype(int).itemsize < 8
"""Whether arrays of Python's int have 32 bits, as with NumPy before 2.0 on Windows."""

WORDS = {int: "i8", float: "f8", bool: "b1", type(None): "void"}


def kernel(*signatures: str, in_any_order: bool = False) -> Callable[[F], F]:
    """Compile a function for its signatures, or read it from the cache in NUMBA_CACHE_DIR.

    Without any it is that of `protocol`, or by its own annotations if it is not there. Nothing is compiled later in the
    middle of a frame; arguments of other types raise a TypeError.

    in_any_order: Sums over rows may be added in vectors, as NumPy adds them, and so with other last digits.
    """
    freely = {"reassoc"} if in_any_order else False

    def compiled(function: F) -> F:
        wanted = list(signatures) or [signature_of(getattr(Kernels, function.__name__, function))]
        compile_it = numba.njit(wanted, cache=True, fastmath=freely, boundscheck=False, error_model="numpy")
        return cast(F, compile_it(_nameless(function)))

    return compiled


def signature_of(function: Callable[..., Any]) -> str:
    """The signature of an annotated function in Numba's words."""
    hints = typing.get_type_hints(function, include_extras=True)
    returned = _word(hints.pop("return"))
    return f"{returned}({', '.join(map(_word, hints.values()))})"


def _word(hint: Any) -> str:
    if hint in WORDS:
        return WORDS[hint]
    if typing.get_origin(hint) is typing.Annotated:
        return str(hint.__metadata__[0])
    is_plain = typing.get_origin(hint) is tuple
    fields = typing.get_args(hint) if is_plain else typing.get_type_hints(hint, include_extras=True).values()
    return f"Tuple(({', '.join(map(_word, fields))}))"


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call; the cache of one in another file does not notice changes."""
    return numba.njit(fastmath=False, boundscheck=False, error_model="numpy")(_nameless(function))


def _nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as if it were defined in Numba.

    A cached function imports the module that it was compiled in, by name. But our module's name varies: inside Blender
    it belongs to another package than in the process that fills the cache.
    """
    names = {**function.__globals__, "__name__": numba.__name__}
    return functools.update_wrapper(types.FunctionType(function.__code__, names), function, ("__name__", "__doc__"))


def for_python(kernel: Any, few_bits: bool = FEW_BITS) -> Any:
    """What calls a kernel with records, and with arrays of 32-bit integers where it takes long ones.

    Numba tells records from plain tuples. Other kernels are returned as they are.
    """
    kinds = kernel.nopython_signatures[0].args
    records = [place for place, kind in enumerate(kinds) if isinstance(kind, numba.types.BaseTuple)]
    if not records and not few_bits:
        return kernel

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        if few_bits:
            return kernel(*map(_long, kinds, arguments))
        plain = list(arguments)
        for place in records:
            plain[place] = tuple(plain[place])
        return kernel(*plain)

    return call


def _long(kind: Any, argument: Any) -> Any:
    if isinstance(kind, numba.types.BaseTuple):
        return tuple(map(_long, kind, argument))
    is_long = isinstance(kind, numba.types.Array) and kind.dtype == numba.types.int64
    return argument.astype(np.int64) if is_long and argument.dtype == np.int32 else argument
