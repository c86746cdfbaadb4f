"""Eight numbers that go through the same arithmetic at once: a vector register, or two, of the machine.

`load` and `store` move lanes between memory and kernels; +, - and * take lanes with lanes or with numbers, so the algebra of
`kinegrad.kernels.vec3` works on tuples of lanes as it does on tuples of numbers.  Compilers seldom vectorise loops over
columns when rows are read and written through unknown indices; here nothing is left to them.  With the compiler switched
off lanes are small NumPy arrays.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from kinegrad.kernels.jit import JIT

WIDTH = 8

if JIT:

    class Lanes(types.Type):
        """The compiler's type of lanes."""

        def __init__(self):
            super().__init__(name=f"lanes{WIDTH}")

    LANES = Lanes()
    _VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)

    @register_model(Lanes)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, _VECTOR)

    def _spread(builder, value):
        """A number in every lane."""
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)

    def _arithmetic(op, name):
        """Teach the compiler one operator."""

        @infer_global(op)
        class _Template(AbstractTemplate):
            def generic(self, args, kws):
                if len(args) == 2 and LANES in args and all(a in (LANES, types.float64) for a in args):
                    return signature(LANES, *args)

        def lower(context, builder, sig, args):
            a, b = (x if kind is LANES else _spread(builder, x) for x, kind in zip(args, sig.args, strict=True))
            return getattr(builder, name)(a, b)

        for left, right in ((LANES, LANES), (LANES, types.float64), (types.float64, LANES)):
            lower_builtin(op, left, right)(lower)

    _arithmetic(operator.add, "fadd")
    _arithmetic(operator.sub, "fsub")
    _arithmetic(operator.mul, "fmul")

    def _place(context, builder, kind, array, i, j):
        """Pointer to lanes in row i of a matrix, from column j on."""
        array = context.make_array(kind)(context, builder, array)
        columns = builder.extract_value(array.shape, 1)
        first = builder.gep(array.data, [builder.add(builder.mul(i, columns), j)])
        return builder.bitcast(first, _VECTOR.as_pointer())

    @intrinsic
    def load(typing, A, i, j):
        """A[i, j : j + WIDTH]."""

        def generate(context, builder, sig, args):
            return builder.load(_place(context, builder, sig.args[0], *args), align=8)

        return LANES(A, types.int64, types.int64), generate

    @intrinsic
    def store(typing, A, i, j, x):
        """A[i, j : j + WIDTH] = x."""

        def generate(context, builder, sig, args):
            builder.store(args[3], _place(context, builder, sig.args[0], *args[:3]), align=8)
            return context.get_dummy_value()

        return types.void(A, types.int64, types.int64, LANES), generate

else:

    def load(A, i, j):
        """A[i, j : j + WIDTH]."""
        return np.array(A[i, j : j + WIDTH])

    def store(A, i, j, x):
        """A[i, j : j + WIDTH] = x."""
        A[i, j : j + WIDTH] = x
