"""The derivative of objectives by the end of the run, and what it gives where the end follows parameters (OBJ-5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, INTEGRAL
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, OBSERVE, TIME
from kinegrad.kinematics.least_squares import refined
from kinegrad.kinematics.units import units_of
from kinegrad.motion import Motion
from kinegrad.objectives import kinds_of, weighed

PART = 0.1  # of a step: differences of states that the motion passes there


def end_terms(motion: Motion, follows: dict, labels: Sequence[str]) -> np.ndarray | None:
    """(o, p) what parameters change of the objectives through the end of the run; None where it follows none of them."""
    if not _moving(motion, follows, labels):
        return None
    return np.outer(by_end(motion), _slopes(motion.system, follows["t_end"], labels))


def that_move_the_end(motion: Motion, labels: Sequence[str]) -> tuple[str, ...]:
    """Those of some parameters which the end of the run follows."""
    return _moving(motion, getattr(motion, "follows", None), labels)


def _moving(motion: Motion, follows: dict | None, labels: Sequence[str]) -> tuple[str, ...]:
    behind = motion.system.parameters.behind(follows["t_end"]) if follows and "t_end" in follows else ()
    return tuple(label for label in labels if label in behind)


def by_end(motion: Motion) -> np.ndarray:
    """(o,) derivatives of the objectives by the end of the run, at its last state: the end terms of the continuous motion."""
    kinds, t_end = kinds_of(motion.system, motion.ts), float(motion.ts[-1])
    g, rate = _integrands(motion)
    values = np.array(list(motion.objectives.values())).real
    total = weighed(kinds, values, t_end).total
    found = np.zeros(len(g))
    found[kinds.kind == INTEGRAL] = g[kinds.kind == INTEGRAL]
    found[kinds.kind == FINAL] = rate[kinds.kind == FINAL]
    at = kinds.kind == EXTREME
    found[at] = (np.exp(kinds.sharpness[at] * g[at] - total[at]) - 1.0 / t_end) / kinds.sharpness[at]
    return found


def _integrands(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(o,) g at the last state, and its rate along the motion that goes on from there."""
    system = motion.system
    work = system.workspace(s=motion.s)
    work["flag"][FREEDOMS] = 0
    q, v, a, t = (x[-1].real for x in (motion.q, motion.qd, motion.qdd, motion.t))

    def put(dt: float) -> None:
        work["par"][TIME] = t + dt
        work["q"][:] = q + dt * v + 0.5 * dt**2 * a
        work["v"][:] = work["vp"][:] = v + dt * a

    def value(dt: float) -> np.ndarray:
        put(dt)
        work["ap"][:] = _accelerations(work)
        work.call(OBSERVE)
        return work["g"].copy()

    def slope(dt: float) -> np.ndarray:
        return (value(dt) - value(-dt)) / (2.0 * dt)

    size = PART * float(np.max(motion.hs[-2:]))
    rate = (4.0 * slope(0.5 * size) - slope(size)) / 3.0
    put(0.0)
    work.call(EVALUATE)
    work["ap"][:] = a
    work.call(OBSERVE)
    return work["g"].copy(), rate


def _accelerations(work) -> np.ndarray:
    """Accelerations at the state of a workspace."""
    n, m = work.system.n, work.system.m
    work.call(EVALUATE)
    M, f, J = np.array(work["M"]), work["f"].copy(), np.array(work["J"][:m])
    work["ap"][:] = 0.0
    work.call(BIAS)
    c = work["c"][:m].copy()
    units = units_of(work, J)
    M, J, f, c = units.square(M), units.of(J), units.columns * f, units.right(c)
    scale = np.abs(np.diag(M)).max(initial=0.0) or 1.0
    matrix = np.block([[M / scale, J.T], [J, np.zeros((m, m))]])
    return units.columns * refined(matrix, -np.concatenate([f / scale, c])[:, None])[:n, 0]


def _slopes(system, expression, labels: Sequence[str]) -> np.ndarray:
    """(p,) derivatives of an expression in parameters by some of them."""
    from kinegrad.expressions.graph import Graph, evaluate, scalarise_number

    graph = Graph()
    value = scalarise_number(expression, graph, system.parameters.resolve(graph))
    inputs = {graph.payload[x.index]: x for x in graph.inputs_of(value)}
    known = dict(zip(system.parameters.independent, system.rho.tolist(), strict=True))
    slopes = graph.gradient(value, list(inputs.values()))
    found = dict(zip(inputs, evaluate(slopes, {name: known[name] for name in inputs}), strict=True))
    return np.array([found.get(label, 0.0) for label in labels])
