"""Splines in time on a measure: a law whose value is that of a cubic (LAW-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.forces.laws import add_law, on_measure
from kinegrad.expressions.maps import LinearMap
from kinegrad.expressions.syntax import Expression


def lower(elements, name: str, force) -> None:
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    times = np.array(elements.parameters.evaluate_all(force.times))
    slots, path = elements.slots, f"forces.{name}"
    if isinstance(force.values, str):
        labels = elements.parameters.expand(force.values)
        fields = [slots.field(f"parameters.{label}", Expression.parse(label)) for label in labels]
    else:
        fields = [slots.field(f"{path}.values[{i}]", x) for i, x in enumerate(force.values)]
    slot = slots.linear(f"{path}.cubics", fields, NaturalSpline(times))
    first = len(elements.times)
    formula.spline = elements.add("spline", name, {"t0": first, "t1": first + len(times), "slot": slot})
    elements.times += times.tolist()
    add_law(elements, name, formula, on_measure(formula, measure, formula.w))


class NaturalSpline(LinearMap):
    """From ordinates to the cubic coefficients c0 c1 c2 c3 of each interval: a natural cubic spline (LAW-6).

    Its matrix is full, but second derivatives come from three diagonals: work and memory grow with the number of ordinates.
    """

    def __init__(self, times: np.ndarray):
        h = np.diff(times)
        self.h = h[:, None]
        self.shape = 4 * len(h), len(times)
        self.interior = Tridiagonal(h[1:-1], 2.0 * (h[:-1] + h[1:]))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y, h = x.reshape(len(x), -1), self.h
        slope = np.diff(y, axis=0) / h
        second = np.zeros_like(slope, shape=y.shape)
        second[1:-1] = self.interior.solve(6.0 * np.diff(slope, axis=0))
        c = np.empty_like(second, shape=(len(h), 4, y.shape[1]))
        c[:, 0] = y[:-1]
        c[:, 1] = slope - h * (2.0 * second[:-1] + second[1:]) / 6.0
        c[:, 2] = 0.5 * second[:-1]
        c[:, 3] = np.diff(second, axis=0) / (6.0 * h)
        return c.reshape(self.shape[0], *x.shape[1:])

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        h = self.h
        by0, by1, by2, by3 = np.moveaxis(gradient.reshape(-1, len(h), 4), (2, 1), (0, 1))  # each (intervals, k)
        cubic = by3 / (6.0 * h)
        by_second = 0.5 * by2[1:] - cubic[1:] - h[1:] * by1[1:] / 3.0 + cubic[:-1] - h[:-1] * by1[:-1] / 6.0
        bends = 6.0 * self.interior.solve(by_second)
        by_slope = by1.copy()
        by_slope[1:] += bends
        by_slope[:-1] -= bends
        by_slope /= h
        out = np.zeros_like(by_slope, shape=(self.shape[1], by_slope.shape[1]))
        out[:-1] = by0 - by_slope
        out[1:] += by_slope
        return out.T.reshape(*gradient.shape[:-1], self.shape[1])


class Tridiagonal:
    """A symmetric matrix of three diagonals whose middle one dominates, factored by cyclic reduction.

    Every other unknown is eliminated, and so on until one is left: as many rounds as the size has binary digits, each of a few
    operations on arrays. Rows of the unit matrix fill the size up to 2^k - 1, so that every unknown that goes has two neighbours.
    """

    def __init__(self, beside: np.ndarray, middle: np.ndarray):
        self.size = len(middle)
        full = 2 ** self.size.bit_length() - 1
        low, diagonal, high = np.zeros(full), np.ones(full), np.zeros(full)
        diagonal[: self.size] = middle
        low[1 : self.size] = high[: max(self.size - 1, 0)] = beside
        self.rounds = []
        while len(diagonal):
            ends, kept = slice(0, None, 2), slice(1, None, 2)
            before, after = -low[kept] / diagonal[ends][:-1], -high[kept] / diagonal[ends][1:]
            self.rounds.append([x[:, None] for x in (before, after, low[ends][1:], high[ends][:-1], diagonal[ends])])
            diagonal = diagonal[kept] + before * high[ends][:-1] + after * low[ends][1:]
            low, high = before * low[ends][:-1], after * high[ends][1:]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for right-hand sides (size, k)."""
        full = len(self.rounds[0][4]) * 2 - 1 if self.rounds else 0
        x = np.zeros_like(right, shape=(full, right.shape[1]))
        x[: self.size] = right
        reduced = [x]
        for before, after, *_ in self.rounds[:-1]:
            x = reduced[-1]
            reduced.append(x[1::2] + before * x[:-1:2] + after * x[2::2])
        inner = reduced[-1][1::2]  # nothing
        for (_, _, low, high, diagonal), x in zip(reversed(self.rounds), reversed(reduced), strict=False):
            x[1::2] = inner
            x[2::2] -= low * inner
            x[:-1:2] -= high * inner
            x[::2] /= diagonal
            inner = x
        return inner[: self.size]
