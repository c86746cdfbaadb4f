"""Graphs as Python functions: a statement for each node, for scalars that are evaluated again and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kinegrad.expressions.arithmetic import OPERATIONS
from kinegrad.expressions.graph import Scalar

INFIX = {"add": "+", "subtract": "-", "multiply": "*"}
AS_THEY_ARE = {
    name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "tanh")
}
CAREFUL = OPERATIONS, INFIX
QUICK = OPERATIONS | AS_THEY_ARE, INFIX | {"divide": "/"}


def as_function(outputs: Sequence[Scalar], inputs: Sequence[Scalar]) -> Callable[..., list]:
    """A function of the numbers of `inputs`, floats or complex, that gives the numbers of `outputs` in a list.

    Operations are tried as Python does them; where one of them raises, those that do not take their place.
    """
    if not outputs:
        return lambda *_: []
    quick, careful = (_written(outputs, inputs, operations, infix) for operations, infix in (QUICK, CAREFUL))

    def function(*values):
        try:
            return quick(*values)
        except (ArithmeticError, TypeError, ValueError):
            return careful(*values)

    return function


def _written(outputs: Sequence[Scalar], inputs: Sequence[Scalar], operations: dict, infix: dict) -> Callable[..., list]:
    graph, known, lines = outputs[0].graph, dict(operations), []
    names = {x.index: f"x{x.index}" for x in inputs}
    for i in graph.needed(outputs, names):
        operation, payload = graph.operations[i], graph.payload[i]
        names[i] = f"x{i}"
        if operation == "constant":
            known[names[i]] = payload
            continue
        if operation == "input":
            raise ValueError(f"the outputs depend on {payload}, which is not among the inputs")
        operands = [names[k] for k in graph.operands[i]]
        if operation in infix:
            value = f" {infix[operation]} ".join(operands)
        else:
            value = f"{operation}({', '.join([*operands, *(() if payload is None else (repr(payload),))])})"
        lines.append(f"    {names[i]} = {value}\n")
    source = f"def function({', '.join(names[x.index] for x in inputs)}):\n{''.join(lines)}"
    source += f"    return [{', '.join(names[x.index] for x in outputs)}]\n"
    exec(compile(source, "<expressions>", "exec"), known)
    return known["function"]
