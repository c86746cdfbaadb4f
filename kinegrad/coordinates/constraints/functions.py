"""Functions in rows: followed to the formula they compute, which is differentiated as an expression is (LAW-10), or called with
their derivatives, if these are given (LAW-11).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kinegrad.coordinates.laws import Formula
from kinegrad.errors import ExpressionError
from kinegrad.expressions.graph import Graph, Scalar, evaluate
from kinegrad.expressions.trace import Untraceable, trace
from kinegrad.laws import Law

SAMPLES = 5  # points at which the formula is compared with the function
AGREE = 1e-6  # the same operations in the same order differ by rounding alone

REMEDY = (
    "write it with arithmetic and NumPy's functions (np.sin, not math.sin) and without branches, or as an expression, or give "
    "law(..., derivative=[first, second, third])"
)


def function_value(formula: Formula, law: Law, owner: str, level: int) -> Scalar:
    """The Scalar of a law in a row of that level, 0 or 1; an ExpressionError where it cannot serve there."""
    return called(formula, law, owner, level) if law.higher else followed(formula, law)


def called(formula: Formula, law: Law, owner: str, level: int) -> Scalar:
    """The value of a law whose derivatives are given, as far as the level needs them."""
    orders = 3 - level
    if 1 + len(law.higher) < orders:
        raise ExpressionError(
            f"is the function {law.name}, given with its second derivatives, and a row of positions needs the third too; give "
            "law(..., derivative=[first, second, third])."
        )
    arguments = [formula.parse(x) for x in law.inputs]
    rates = [u[k] for u in formula.scalars.values() for k in (1, 2)]
    moving = [i for i, x in enumerate(arguments) if not set(rates).isdisjoint(formula.graph.inputs_of(x))]
    for i in moving:
        partials = formula.graph.gradient(arguments[i], rates)
        if not set(rates).isdisjoint(formula.graph.inputs_of(*partials)):
            raise ExpressionError(
                f"has the argument {str(law.inputs[i])!r}, which is not linear in velocities; give velocities."
            )
    return formula.call(replace(law, linear=tuple(moving)), owner, 1, orders)[0]


def followed(formula: Formula, law: Law) -> Scalar:
    """The Scalar that the function of a law computes of its arguments; an ExpressionError where it cannot be followed."""
    if law.address is not None:
        raise ExpressionError(
            f"is the compiled function {law.name}, and a row needs derivatives up to the third, which it does not give; "
            "give a Python function, or an expression."
        )
    own = Graph()
    inputs = [own.input(f"x{i}") for i in range(len(law.inputs))]
    _compare(law, inputs, _trace(law, inputs, own))
    return _trace(law, [formula.parse(argument) for argument in law.inputs], formula.graph)


def _trace(law: Law, inputs: list[Scalar], graph: Graph) -> Scalar:
    needs = "and a row needs its formula, for derivatives up to the third"
    try:
        out = trace(law.function, inputs, graph)
    except Untraceable as error:
        raise ExpressionError(f"is the function {law.name}, which {error}, {needs}; {REMEDY}.") from None
    except Exception as error:
        found = f"which raised {type(error).__name__} ({error}) when it was followed"
        raise ExpressionError(f"is the function {law.name}, {found}, {needs}; {REMEDY}.") from error
    if len(out) != 1:
        raise ExpressionError(
            f"is the function {law.name}, which returned {len(out)} numbers, and a row is one; return one number."
        )
    return out[0]


def _compare(law: Law, inputs: list[Scalar], formula: Scalar) -> None:
    """Raise where the function, given numbers, computes something else than the formula it left behind."""
    rng = np.random.default_rng(0)
    for x in rng.uniform(-1.5, 1.5, (SAMPLES, len(inputs))):
        with np.errstate(all="ignore"):
            try:
                value = float(np.squeeze(law.function(*x.tolist())))
            except Exception:  # outside its domain
                continue
        found = evaluate([formula], dict(zip(inputs, x.tolist(), strict=True)))[0]
        if math.isfinite(value) and not abs(found - value) <= AGREE * (1.0 + abs(value)):
            raise ExpressionError(
                f"is the function {law.name}, which gives {value:.9g} where the formula that it computes of symbols gives "
                f"{found:.9g}; it has to do the same at every call and with every kind of number."
            )
