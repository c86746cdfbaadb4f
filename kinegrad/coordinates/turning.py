"""How bodies turn, in formulas: from the rates of their axes (SIG-3)."""

from __future__ import annotations

from kinegrad.coordinates.joints.rows import cross, dot
from kinegrad.expressions import graph as algebra

TINY = 1e-60  # beside the square of a sine: away from 0/0 without rotation
NEAR_HALF = -0.9  # trace of a rotation by 162 degrees


def angular(elements, formula, body: str, rate: int = 1) -> list:
    """ω (rate 1) or its rate (2) of a body, global, from its axes (SIG-3)."""
    if rate == 1:
        return along(*turning(elements, formula, body))
    total = None
    for marker in elements.axes(body):
        term = cross(elements.components(formula, marker), elements.components(formula, marker, rate))
        total = term if total is None else [a + b for a, b in zip(total, term, strict=True)]
    return [0.5 * x for x in total]


def turning(elements, formula, body: str) -> tuple[list, list]:
    """The axes of a body, and its angular velocity along them: ω_1 = ė_2·e_3 and so on (SIG-3)."""
    markers = elements.axes(body)
    e, ed = ([elements.components(formula, marker, k) for marker in markers] for k in range(2))
    return e, [dot(ed[k - 2], e[k - 1]) for k in range(3)]


def along(axes: list, x: list) -> list:
    """Σ x_k e_k."""
    return [sum((axes[k][c] * x[k] for k in (1, 2)), axes[0][c] * x[0]) for c in range(3)]


def rotation_vector(e: list, g: list) -> tuple[list, list]:
    """The rotation vector (BSH-1) from axes e to axes g, along e, of less than half a turn; what changes its sign beyond that.

    The latter is zero where the rotation is far from half a turn.
    """
    twice = [dot(e[k - 1], g[k - 2]) - dot(e[k - 2], g[k - 1]) for k in range(3)]
    trace = dot(e[0], g[0]) + dot(e[1], g[1]) + dot(e[2], g[2])
    size = algebra.sqrt(dot(twice, twice) + TINY)
    ratio = algebra.atan2(size, trace - 1.0) / size
    near = algebra.largest(algebra.sign(NEAR_HALF - trace), 0.0 * trace)
    return [ratio * x for x in twice], [near * x for x in twice]


def rotation(elements, formula, body: str) -> list:
    """The rotation vector from the ground to a body, global, of less than half a turn (SIG-9)."""
    ground = [[formula.graph.constant(float(j == k)) for k in range(3)] for j in range(3)]
    theta, beyond = rotation_vector(ground, [elements.components(formula, axis) for axis in elements.axes(body)])
    formula.jumps += beyond
    return theta
