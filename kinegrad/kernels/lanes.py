"""Four or eight numbers that go through the same arithmetic at once: a vector register, or two, of the machine.

`load` and `store` move eight lanes between memory and kernels, `load4` and `store4` four; +, - and * take lanes with lanes or
with numbers, so the algebra of `kinegrad.kernels.vec3` works on tuples of lanes as it does on tuples of numbers.  Compilers
seldom vectorise loops over columns when rows are read and written through unknown indices; here nothing is left to them.
With the compiler switched off lanes are small NumPy arrays.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from kinegrad.kernels.jit import JIT

WIDTH = 8

if JIT:

    class Lanes(types.Type):
        """The compiler's type of `width` lanes."""

        def __init__(self, width):
            super().__init__(name=f"lanes{width}")
            self.vector = ir.VectorType(ir.DoubleType(), width)

    @register_model(Lanes)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, kind.vector)

    LANES4, LANES8 = Lanes(4), Lanes(WIDTH)

    def _spread(builder, vector, value):
        """A number in every lane."""
        one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
        return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

    def _arithmetic(op, name):
        """Teach the compiler one operator."""

        @infer_global(op)
        class _Template(AbstractTemplate):
            def generic(self, args, kws):
                lanes = [a for a in args if isinstance(a, Lanes)]
                if len(args) == 2 and lanes and all(a in (lanes[0], types.float64) for a in args):
                    return signature(lanes[0], *args)

        def lower(context, builder, sig, args):
            vector = sig.return_type.vector
            a, b = (
                x if isinstance(kind, Lanes) else _spread(builder, vector, x)
                for x, kind in zip(args, sig.args, strict=True)
            )
            return getattr(builder, name)(a, b)

        for lanes in (LANES4, LANES8):
            for left, right in ((lanes, lanes), (lanes, types.float64), (types.float64, lanes)):
                lower_builtin(op, left, right)(lower)

    _arithmetic(operator.add, "fadd")
    _arithmetic(operator.sub, "fsub")
    _arithmetic(operator.mul, "fmul")

    def _place(context, builder, kind, vector, array, i, j):
        """Pointer to lanes in row i of a matrix, from column j on."""
        array = context.make_array(kind)(context, builder, array)
        columns = builder.extract_value(array.shape, 1)
        first = builder.gep(array.data, [builder.add(builder.mul(i, columns), j)])
        return builder.bitcast(first, vector.as_pointer())

    def _check(A):
        if not (isinstance(A, types.Array) and A.ndim == 2 and A.layout == "C" and A.dtype == types.float64):
            raise TypingError(f"lanes are read from matrices of floats kept by rows, not from {A}")

    def _movers(lanes):
        """Functions that read and write lanes."""

        @intrinsic
        def load(typing, A, i, j):
            """Lanes of row i of A, from column j on."""
            _check(A)

            def generate(context, builder, sig, args):
                return builder.load(_place(context, builder, sig.args[0], lanes.vector, *args), align=8)

            return lanes(A, types.int64, types.int64), generate

        @intrinsic
        def store(typing, A, i, j, x):
            """Put lanes into row i of A, from column j on."""
            _check(A)

            def generate(context, builder, sig, args):
                builder.store(args[3], _place(context, builder, sig.args[0], lanes.vector, *args[:3]), align=8)
                return context.get_dummy_value()

            return types.void(A, types.int64, types.int64, lanes), generate

        return load, store

    load4, store4 = _movers(LANES4)
    load, store = _movers(LANES8)

    @intrinsic
    def spread4(typing, x):
        """A number in four lanes."""

        def generate(context, builder, sig, args):
            return _spread(builder, LANES4.vector, args[0])

        return LANES4(types.float64), generate

    @intrinsic
    def of4(typing, a, b, c, d):
        """Four numbers as lanes."""

        def generate(context, builder, sig, args):
            lanes = ir.Constant(LANES4.vector, ir.Undefined)
            for k, x in enumerate(args):
                lanes = builder.insert_element(lanes, x, ir.IntType(32)(k))
            return lanes

        return LANES4(*[types.float64] * 4), generate

    @intrinsic
    def lane(typing, x, k):
        """Lane number k."""

        def generate(context, builder, sig, args):
            return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

        return types.float64(x, types.int64), generate

else:

    def _movers(width):
        def load(A, i, j):
            return np.array(A[i, j : j + width])

        def store(A, i, j, x):
            A[i, j : j + width] = x

        return load, store

    load4, store4 = _movers(4)
    load, store = _movers(WIDTH)

    def spread4(x):
        """A number in four lanes."""
        return np.full(4, x)

    def of4(a, b, c, d):
        """Four numbers as lanes."""
        return np.array([a, b, c, d])

    def lane(x, k):
        """Lane number k."""
        return x[k]
