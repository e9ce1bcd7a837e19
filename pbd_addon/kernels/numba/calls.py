"""Calls of compiled kernels by their address, with arguments that wait in memory as 64-bit words.

A kernel that calls another one by its name takes a copy of its code, which is compiled again: for a frame that takes as
long as for all kernels, and Numba's cache does not notice when the other one changes. A call by address has neither.

The words of an array are its address, its shape and its strides; those of a number are the number.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, sigutils, types
from numba.extending import intrinsic
from numba.np import arrayobj, numpy_support

WORD = ir.IntType(64)


@functools.lru_cache(maxsize=256)
def signature(kernel: Any) -> Any:
    """The types that a kernel was compiled for."""
    (found,) = kernel.nopython_signatures
    return found


@functools.lru_cache(maxsize=256)
def address(kernel: Any) -> int:
    """Where the code of a kernel is."""
    compiled = kernel.overloads[signature(kernel).args]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def table(**kernels: Any) -> np.ndarray:
    """Addresses of kernels by name, a record (1,).

    The name of its last field depends on their types: so what is compiled for it is not read from a cache of others.
    """
    types_of = " ".join(f"{name} {signature(kernel)}" for name, kernel in kernels.items())
    fields = [*kernels, "of_" + hashlib.sha256(types_of.encode()).hexdigest()[:16]]
    record = np.dtype([(name, np.int64) for name in fields], align=True)
    return np.array([(*map(address, kernels.values()), 0)], record)


def with_table(found: np.ndarray, others: str) -> Any:
    """The types of a kernel that takes a `table` before its `others`."""
    arguments, returned = sigutils.normalize_signature(others)
    return returned(types.Array(numpy_support.from_dtype(found.dtype), 1, "C", readonly=False), *arguments)


def words(kernel: Any, given: int, arguments: Sequence[Any]) -> list[int]:
    """The arguments of a kernel behind the first `given` ones, records `spread`, for its `caller`.

    Arrays must be kept alive.

    Raises:
        TypeError: An array is not what the kernel was compiled for.
    """
    found: list[int] = []
    kinds = _kinds(kernel, given)
    if len(kinds) != len(arguments):
        raise TypeError(f"{kernel.__name__} takes {len(kinds)} arguments behind {given}, not {len(arguments)}")
    for (kind, dtype), argument in zip(kinds, arguments):
        if dtype is not None:
            fits = argument.dtype == dtype and argument.ndim == kind.ndim
            if not fits or (kind.layout == "C" and not argument.flags.c_contiguous):
                raise TypeError(f"{kernel.__name__} takes {kind}, not {argument.dtype} {argument.shape}")
            found += [argument.__array_interface__["data"][0], *argument.shape, *argument.strides]
        elif kind is types.float64:
            found.append(int(np.float64(argument).view(np.int64)))
        else:
            found.append(int(argument))
    return found


@functools.lru_cache(maxsize=256)
def _kinds(kernel: Any, given: int) -> list[tuple[Any, np.dtype | None]]:
    """The types of arguments behind the first `given` ones, records `spread`, and of arrays what they hold."""
    kinds = spread(signature(kernel).args[given:])
    return [(kind, numpy_support.as_dtype(kind.dtype) if isinstance(kind, types.Array) else None) for kind in kinds]


def spread(kinds: Sequence[Any]) -> list[Any]:
    """Types of arguments, with those in a tuple instead of it."""
    return [each for kind in kinds for each in (kind if isinstance(kind, types.BaseTuple) else (kind,))]


def caller(kernel: Any) -> Callable[..., Any]:
    """What calls a kernel of these types within compiled functions: f(address, words, at, given).

    `given` is a tuple of its first arguments; the others are read from words (k,) int64, from place `at` on.
    """
    kinds, returned = signature(kernel).args, signature(kernel).return_type

    @intrinsic
    def call(typing: Any, address: Any, words: Any, at: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            address, words, at, given = args
            values = [
                context.cast(builder, value, known, kind)
                for value, known, kind in zip(cgutils.unpack_tuple(builder, given), sig.args[3], kinds)
            ]
            data = context.make_array(sig.args[1])(context, builder, words).data
            for kind in kinds[len(values) :]:
                found = []
                for part in spread([kind]):
                    count = 1 + 2 * part.ndim if isinstance(part, types.Array) else 1
                    places = [builder.add(at, ir.Constant(at.type, k)) for k in range(count + 1)]
                    read = [builder.load(builder.gep(data, [place], inbounds=True)) for place in places[:-1]]
                    found.append(_value(context, builder, part, read))
                    at = places[-1]
                is_record = isinstance(kind, types.BaseTuple)
                values.append(context.make_tuple(builder, kind, found) if is_record else found[0])
            function = context.call_conv.get_function_type(returned, kinds)
            pointer = builder.inttoptr(address, function.as_pointer())
            status, found = context.call_conv.call_function(builder, pointer, returned, kinds, values)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return found

        return returned(address, words, at, given), generate

    return call


def _value(context: Any, builder: Any, kind: Any, read: list[Any]) -> Any:
    """A number or an array from its words."""
    if kind == types.float64:
        return builder.bitcast(read[0], ir.DoubleType())
    if kind == types.boolean:
        return builder.trunc(read[0], ir.IntType(1))
    if not isinstance(kind, types.Array):
        return read[0]
    made = context.make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    pointer = builder.inttoptr(read[0], context.get_data_type(kind.dtype).as_pointer())
    shape, strides = read[1 : 1 + kind.ndim], read[1 + kind.ndim :]
    arrayobj.populate_array(made, pointer, shape, strides, size, None)
    return made._getvalue()
