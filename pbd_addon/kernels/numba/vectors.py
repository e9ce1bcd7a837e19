"""Vectors of four numbers in one register, for kernels: position and inverse mass of a particle.

LLVM makes vectors of loops over many rows, but not of what is done with x, y and z of a single row. Rows of a color lie
all over the mesh, so that vectors over them would have to be gathered number by number. Here a particle is read and
written as a whole, see `packing`. The type exists within compiled functions only.

Operators act by component, also on a vector and a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model

WIDTH = 4
"""Numbers in a vector: position and inverse mass. It is a register with AVX, two with SSE and on ARM."""

ALIGNMENT = 8
"""Of arrays [bytes]: NumPy does not align to whole vectors."""

REGISTER, PLACE = ir.VectorType(ir.DoubleType(), WIDTH), ir.IntType(32)
WEIGHT = ir.Constant(PLACE, WIDTH - 1)


class _Vector(types.Type):
    """The type in Numba."""

    def __init__(self) -> None:
        super().__init__("Vector")


vector = _Vector()


@register_model(_Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, REGISTER)


def _define(symbol: Callable[..., Any], build: str, *operands: types.Type) -> None:
    """Let an operator of these operands be an instruction of LLVM, which takes numbers as vectors of equal ones."""

    @infer_global(symbol)
    class _Typing(ConcreteTemplate):
        cases: ClassVar = [signature(vector, *operands)]

    @lower_builtin(symbol, *operands)
    def _generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = [arg if arg.type == REGISTER else _repeated(builder, arg) for arg in args]
        return getattr(builder, build)(*whole)


def _repeated(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(REGISTER, ir.Undefined)
    return _all(builder, builder.insert_element(nothing, number, ir.Constant(PLACE, 0)), 0)


_define(operator.add, "fadd", vector, vector)
_define(operator.add, "fadd", vector, types.float64)
_define(operator.sub, "fsub", vector, vector)
_define(operator.mul, "fmul", vector, vector)
_define(operator.mul, "fmul", types.float64, vector)
_define(operator.truediv, "fdiv", vector, vector)


def _address(context: Any, builder: Any, sig: Any, args: Any, step: int = WIDTH) -> Any:
    """Of the vector at i steps into an array, which are the first two arguments."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    place = builder.mul(args[1], ir.Constant(args[1].type, step))
    return builder.bitcast(builder.gep(data, [place], inbounds=True), REGISTER.as_pointer())


@intrinsic
def load(typing: Any, q: Any, i: Any) -> Any:
    """Row i of an array, (n, 4) C-contiguous float64."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = builder.load(_address(context, builder, sig, args))
        found.align = ALIGNMENT
        return found

    return vector(q, i), generate


@intrinsic
def load_from(typing: Any, values: Any, i: Any) -> Any:
    """Four numbers of an array (n,), C-contiguous float64, from place i on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = builder.load(_address(context, builder, sig, args, 1))
        found.align = ALIGNMENT
        return found

    return vector(values, i), generate


@intrinsic
def store(typing: Any, q: Any, i: Any, a: Any) -> Any:
    """Set row i of an array, as `load`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, sig, args)).align = ALIGNMENT
        return context.get_dummy_value()

    return types.void(q, i, vector), generate


@intrinsic
def dot(typing: Any, a: Any, b: Any) -> Any:
    """Product of the first three numbers of two vectors."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        products = builder.fmul(*args)
        x, y, z = _extracted(builder, products, 3)
        return builder.fadd(builder.fadd(x, y), z)

    return types.float64(vector, vector), generate


@intrinsic
def cross(typing: Any, a: Any, b: Any) -> Any:
    """Cross product of the first three numbers of two vectors; the fourth one is undefined."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        nothing = ir.Constant(REGISTER, ir.Undefined)

        def turned(one: Any) -> Any:
            return builder.shuffle_vector(one, nothing, _places([1, 2, 0, 3]))

        a, b = args
        return turned(builder.fsub(builder.fmul(a, turned(b)), builder.fmul(turned(a), b)))

    return vector(vector, vector), generate


@intrinsic
def weight(typing: Any, a: Any) -> Any:
    """The fourth number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], WEIGHT)

    return types.float64(vector), generate


@intrinsic
def weights(typing: Any, a: Any) -> Any:
    """Four times the fourth number: shuffled at once, it takes less than as a number of its own."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _all(builder, args[0], WIDTH - 1)

    return vector(vector), generate


@intrinsic
def spread(typing: Any, a: Any) -> Any:
    """Four vectors: of the first number alone, of the second one, and so on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_tuple(builder, sig.return_type, [_all(builder, args[0], k) for k in range(WIDTH)])

    return types.UniTuple(vector, WIDTH)(vector), generate


def _all(builder: Any, a: Any, place: int) -> Any:
    """A vector of the number at one place of another."""
    return builder.shuffle_vector(a, ir.Constant(REGISTER, ir.Undefined), _places([place] * WIDTH))


def _places(numbers: list[int]) -> Any:
    return ir.Constant(ir.VectorType(PLACE, WIDTH), numbers)


@intrinsic
def way(typing: Any, a: Any) -> Any:
    """The vector with 0 as its fourth number, so that it leaves the weight of what it is added to."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], ir.Constant(ir.DoubleType(), 0.0), WEIGHT)

    return vector(vector), generate


@intrinsic
def vector_of(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """A vector of three numbers and 0."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _inserted(builder, args)

    return vector(*[types.float64] * 3), generate


@intrinsic
def four(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """A vector of four numbers, of as many rows."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _inserted(builder, args)

    return vector(*[types.float64] * 4), generate


def _inserted(builder: Any, numbers: Any) -> Any:
    found = ir.Constant(REGISTER, [0.0] * WIDTH)
    for place, number in enumerate(numbers):
        found = builder.insert_element(found, number, ir.Constant(PLACE, place))
    return found


@intrinsic
def axes(typing: Any, a: Any) -> Any:
    """The first three numbers, as a tuple."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_tuple(builder, sig.return_type, _extracted(builder, args[0], 3))

    return types.UniTuple(types.float64, 3)(vector), generate


@intrinsic
def numbers(typing: Any, a: Any) -> Any:
    """All four numbers, as a tuple."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_tuple(builder, sig.return_type, _extracted(builder, args[0], 4))

    return types.UniTuple(types.float64, 4)(vector), generate


@intrinsic
def transposed(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four vectors of the first numbers of these four, of their second numbers, and so on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def mixed(one: Any, other: Any, places: list[int]) -> Any:
            return builder.shuffle_vector(one, other, _places(places))

        a, b, c, d = args
        even, odd = ([mixed(one, other, [k, k + 4, k + 2, k + 6]) for one, other in ((a, b), (c, d))] for k in (0, 1))
        low, high = ([mixed(one, other, [k, k + 1, k + 4, k + 5]) for one, other in (even, odd)] for k in (0, 2))
        return context.make_tuple(builder, sig.return_type, [*low, *high])

    return types.UniTuple(vector, 4)(*[vector] * 4), generate


def _extracted(builder: Any, a: Any, count: int) -> list[Any]:
    return [builder.extract_element(a, ir.Constant(PLACE, place)) for place in range(count)]


@intrinsic
def root(typing: Any, a: Any) -> Any:
    """Square roots."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(REGISTER, [REGISTER])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.v4f64"), args)

    return vector(vector), generate


@intrinsic
def by_sign(typing: Any, a: Any, positive: Any, negative: Any) -> Any:
    """Numbers of `negative` where those of a are below 0, else those of `positive`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, positive, negative = args
        is_negative = builder.fcmp_ordered("<", a, ir.Constant(REGISTER, [0.0] * WIDTH))
        return builder.select(is_negative, negative, positive)

    return vector(vector, vector, vector), generate
