"""Splines in time on a measure: a law whose value is that of a cubic (LAW-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.forces.laws import add_law, on_measure
from kinegrad.expressions.syntax import Expression


def lower(elements, name: str, force) -> None:
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    times = np.array([elements.parameters.evaluate(t) for t in force.times])
    slots, path = elements.slots, f"forces.{name}"
    if isinstance(force.values, str):
        labels = elements.parameters.expand(force.values)
        fields = [slots.field(f"parameters.{label}", Expression.parse(label)) for label in labels]
    else:
        fields = [slots.field(f"{path}.values[{i}]", x) for i, x in enumerate(force.values)]
    slot = slots.linear(f"{path}.cubics", fields, natural_spline(times))
    first = len(elements.times)
    formula.spline = elements.add("spline", name, {"t0": first, "t1": first + len(times), "slot": slot})
    elements.times += times.tolist()
    add_law(elements, name, formula, on_measure(formula, measure, formula.w))


def natural_spline(times: np.ndarray) -> np.ndarray:
    """Matrix from ordinates to the cubic coefficients c0 c1 c2 c3 of each interval: a natural cubic spline (LAW-6)."""
    n = len(times)
    h = np.diff(times)
    A = np.eye(n)
    B = np.zeros((n, n))
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        B[i, i - 1 : i + 2] = 6.0 / h[i - 1], -6.0 / h[i - 1] - 6.0 / h[i], 6.0 / h[i]
    second = np.linalg.solve(A, B)
    C = np.zeros((4 * (n - 1), n))
    one = np.eye(n)
    for i in range(n - 1):
        C[4 * i] = one[i]
        C[4 * i + 1] = (one[i + 1] - one[i]) / h[i] - h[i] * (2.0 * second[i] + second[i + 1]) / 6.0
        C[4 * i + 2] = 0.5 * second[i]
        C[4 * i + 3] = (second[i + 1] - second[i]) / (6.0 * h[i])
    return C
