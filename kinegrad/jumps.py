"""Jumps of sign and step: their times, and time steps that end there (LAW-14)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.expressions.graph import Graph, evaluate, scalarise_number
from kinegrad.expressions.syntax import OF_TIME, Expression

SAMPLES = 20_000  # of an argument that is not linear in t, at most; four a step
LEAST_SAMPLES = 1000
#: Half the step across a jump, in steps.  Of an implicit one, the force has to come out of positions that are rounded.
IMPLICIT, EXPLICIT = 1e-5, 1e-9
SETTLING = 24  # steps after it, in which what an integrator remembers of the time before falls to 1e-7 or less
ROUNDING = 16.0 * np.finfo(float).eps


def arguments(system: System) -> list[Expression]:
    """What sign and step are taken of, anywhere in forces and objectives; looked for once in a system."""
    from kinegrad.model.checks import all_expressions

    if "jumps" not in system.tables:
        found = {}
        for _, expression, _ in all_expressions(system.model):
            for call in expression.calls(OF_TIME):
                found[Expression(call.arguments[0])] = None
        system.tables["jumps"] = list(found)
    return system.tables["jumps"]


def jump_times(system: System, t_end: float, step: float) -> list[float]:
    """The times from 0 to t_end at which something in the model jumps."""
    times = [t for argument in arguments(system) for t in _zeros(*_function(system, argument), t_end, step)]
    return merged([t for t in times if 0.0 <= t <= t_end], ROUNDING * t_end)


def merged(times: Sequence[float], near: float) -> list[float]:
    """These times in order, one of those that are no further apart than `near`."""
    out: list[float] = []
    for t in sorted(times):
        if not out or t - out[-1] > near:
            out.append(t)
    return out


def parameters_of(system: System, argument: Expression) -> set[str]:
    """Labels of the independent parameters that a time of a jump depends on."""
    graph = Graph()
    parameter = system.parameters.resolve(graph)
    g = scalarise_number(argument, graph, lambda name, i: graph.input("t") if name == "t" else parameter(name, i))
    return {graph.payload[x.index] for x in graph.inputs_of(g)} - {"t"}


def _function(system: System, argument: Expression) -> tuple[Callable[[float], float], float | None]:
    """The argument as a function of t, and its slope when that is a constant."""
    graph = Graph()
    t, parameter = graph.input("t"), system.parameters.resolve(graph)
    g = scalarise_number(argument, graph, lambda name, index: t if name == "t" else parameter(name, index))
    given = dict(zip(system.parameters.independent, system.rho.tolist(), strict=True))
    slope = graph.derivative(g, t)
    known = {graph.payload[x.index]: given.get(graph.payload[x.index], 0.0) for x in graph.inputs_of(g, slope)}
    linear = evaluate([slope], known)[0] if t not in graph.inputs_of(slope) else None
    return lambda time: evaluate([g], known | {"t": time})[0], linear


def _zeros(g: Callable[[float], float], slope: float | None, t_end: float, step: float) -> list[float]:
    """Where a function of time is zero and changes its sign, or may do so at the ends."""
    if slope is not None:
        return [-g(0.0) / slope] if slope != 0.0 else []
    count = int(np.clip(4.0 * t_end / step, LEAST_SAMPLES, SAMPLES))
    out, last = [], None  # the last sample that was not zero
    for t in np.linspace(0.0, t_end, count + 1).tolist():
        value = g(t)
        if value == 0.0 and t in (0.0, t_end):
            out.append(t)
        if last is not None and last[1] * value < 0.0:
            out.append(_bisect(g, *last, t))
        if value != 0.0:
            last = t, value
    return out


def _bisect(g: Callable[[float], float], low: float, value: float, high: float) -> float:
    """Where g, which is `value` at `low`, changes its sign before `high`, to rounding."""
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        if g(middle) * value > 0.0:
            low = middle
        else:
            high = middle


def stops_at(
    jumps: Sequence[float],
    t_end: float,
    step: float,
    integrator=None,
    every: float | None = None,
    also: Sequence[float] = (),
) -> list[float]:
    """Times at which steps end, t_end last: just before and just after jumps, at multiples of `every`, and those in `also`.

    An integrator with accelerations of its own, which remember the forces before, makes some more small steps after a jump.
    """
    explicit, remembers = (integrator.explicit, integrator.extended) if integrator is not None else (False, False)
    gap = max((EXPLICIT if explicit else IMPLICIT) * step, ROUNDING * t_end)
    after = 2 * SETTLING + 1 if remembers else 1
    stops = [*also, *([] if every is None else [every * k for k in range(1, math.ceil(t_end / every - 1e-9))])]
    stops = [t for t in stops if not any(jump - 2.0 * gap < t < jump + (after + 1) * gap for jump in jumps)]
    stops += [jump + k * gap for jump in jumps for k in range(-1, after + 1, 2)]
    return [*merged([t for t in stops if 0.5 * gap < t < t_end - 0.5 * gap], 0.5 * gap), t_end]


def grid_through(stops: Sequence[float], step: float) -> np.ndarray:
    """Times from 0 of steps that are no longer than `step`, alike between two stops, and end at all of these."""
    pieces = [[0.0]]
    for a, b in zip([0.0, *stops], stops, strict=False):
        count = max(1, math.ceil((b - a) / step - 1e-9))
        pieces.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(pieces)
