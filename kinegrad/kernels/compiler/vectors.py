"""Numba's type of lanes (`kinegrad.kernels.lanes`), their arithmetic, and the operations that make them."""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import TypingError, types
from numba.extending import lower_builtin, models, register_model, type_callable

from kinegrad.kernels.compiler.bounds import check_index

_INDEX = ir.IntType(32)


class Lanes(types.Type):
    """The compiler's type of `width` lanes."""

    def __init__(self, width):
        super().__init__(name=f"lanes{width}")
        self.vector = ir.VectorType(ir.DoubleType(), width)


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)


LANES = {width: Lanes(width) for width in (4, 8)}


def _spread(builder, vector, value):
    """A number in every lane."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _INDEX(0))
    zeros = ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _arithmetic(op, name):
    """Teach the compiler one operator."""

    @type_callable(op)
    def _result(context):
        def typer(a, b):
            lanes = [kind for kind in (a, b) if isinstance(kind, Lanes)]
            if lanes and all(kind in (lanes[0], types.float64) for kind in (a, b)):
                return lanes[0]

        return typer

    def lower(context, builder, sig, args):
        vector = sig.return_type.vector
        a, b = (
            x if isinstance(kind, Lanes) else _spread(builder, vector, x)
            for x, kind in zip(args, sig.args, strict=True)
        )
        return getattr(builder, name)(a, b)

    for lanes in LANES.values():
        for left, right in ((lanes, lanes), (lanes, types.float64), (types.float64, lanes)):
            lower_builtin(op, left, right)(lower)


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")


def _place(context, builder, kind, vector, matrix, i, j):
    """Pointer to lanes in row i of a matrix, from column j on."""
    matrix = context.make_array(kind)(context, builder, matrix)
    rows, columns = (builder.extract_value(matrix.shape, axis) for axis in (0, 1))
    check_index(context, builder, i, rows, 0)
    check_index(context, builder, j, columns, 1)
    check_index(context, builder, builder.add(j, j.type(vector.count - 1)), columns, 1)
    first = builder.gep(matrix.data, [builder.add(builder.mul(i, columns), j)])
    return builder.bitcast(first, vector.as_pointer())


def _check(A):
    if not (isinstance(A, types.Array) and A.ndim == 2 and A.layout == "C" and A.dtype == types.float64):
        raise TypingError(f"lanes are read from matrices of floats kept by rows, not from {A}")


def load_lanes(width):
    """``load(A, i, j)``: lanes of row i of A, from column j on."""
    lanes = LANES[width]

    def definition(typing, A, i, j):
        _check(A)

        def generate(context, builder, sig, args):
            return builder.load(_place(context, builder, sig.args[0], lanes.vector, *args), align=8)

        return lanes(A, types.int64, types.int64), generate

    return definition


def store_lanes(width):
    """``store(A, i, j, x)``: put lanes into row i of A, from column j on."""
    lanes = LANES[width]

    def definition(typing, A, i, j, x):
        _check(A)

        def generate(context, builder, sig, args):
            builder.store(args[3], _place(context, builder, sig.args[0], lanes.vector, *args[:3]), align=8)
            return context.get_dummy_value()

        return types.void(A, types.int64, types.int64, lanes), generate

    return definition


def spread_lanes(width):
    """``spread(x)``: a number in every lane."""
    lanes = LANES[width]

    def definition(typing, x):
        def generate(context, builder, sig, args):
            return _spread(builder, lanes.vector, args[0])

        return lanes(types.float64), generate

    return definition


def lanes_of(width):
    """``of(a, b, c, d)``: that many numbers as lanes."""
    lanes = LANES[width]

    def definition(typing, a, b, c, d):
        def generate(context, builder, sig, args):
            made = ir.Constant(lanes.vector, ir.Undefined)
            for k, x in enumerate(args):
                made = builder.insert_element(made, x, _INDEX(k))
            return made

        return lanes(*[types.float64] * width), generate

    return definition


def lane():
    """``lane(x, k)``: lane number k."""

    def definition(typing, x, k):
        def generate(context, builder, sig, args):
            return builder.extract_element(args[0], builder.trunc(args[1], _INDEX))

        return types.float64(x, types.int64), generate

    return definition
