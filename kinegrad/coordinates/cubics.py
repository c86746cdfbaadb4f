"""Cubic splines: from ordinates to the coefficients of each interval, as linear maps."""

from __future__ import annotations

import numpy as np

from kinegrad.expressions.maps import LinearMap


class CubicSpline(LinearMap):
    """From ordinates to the cubic coefficients c0 c1 c2 c3 of each interval, with two continuous derivatives (LAW-6).

    At the ends second derivatives vanish (a natural spline) or, if they are `flat`, first ones.  Its matrix is full, but second
    derivatives come from three diagonals: work and memory grow with the number of ordinates.
    """

    def __init__(self, abscissas: np.ndarray, flat: bool = False):
        self.h, self.flat = np.diff(abscissas), flat
        self.shape = 4 * len(self.h), len(abscissas)
        middle, self.known = 2.0 * (self.h[:-1] + self.h[1:]), slice(None) if flat else slice(1, -1)
        if flat:
            middle = 2.0 * np.concatenate([self.h[:1], self.h[:-1] + self.h[1:], self.h[-1:]])
        self.bent = Tridiagonal(self.h if flat else self.h[1:-1], middle)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y, h = x.T, self.h  # ordinates along the last axis
        slope = np.diff(y) / h
        second = np.zeros_like(slope, shape=y.shape)
        second[..., self.known] = self.bent.solve(6.0 * np.diff(self._with_ends(slope)))
        c = np.empty_like(slope, shape=(*slope.shape, 4))
        c[..., 0] = y[..., :-1]
        c[..., 1] = slope - h * (2.0 * second[..., :-1] + second[..., 1:]) / 6.0
        c[..., 2] = 0.5 * second[..., :-1]
        c[..., 3] = np.diff(second) / (6.0 * h)
        return c.reshape(*x.shape[1:], self.shape[0]).T

    def _with_ends(self, slope: np.ndarray) -> np.ndarray:
        """Slopes, between those at the ends where these are given: zeros."""
        return np.pad(slope, [(0, 0)] * (slope.ndim - 1) + [(1, 1)]) if self.flat else slope

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        h = self.h
        by = gradient.reshape(*gradient.shape[:-1], len(h), 4)
        by0, by1, by2, by3 = np.ascontiguousarray(np.moveaxis(by, -1, 0))
        bend, cubic = h * by1 / 6.0, by3 / (6.0 * h)
        by_second = np.zeros_like(by1, shape=(*gradient.shape[:-1], self.shape[1]))
        by_second[..., :-1] = 0.5 * by2 - cubic - 2.0 * bend
        by_second[..., 1:] += cubic - bend
        jump = 6.0 * self.bent.solve(by_second[..., self.known])
        by_slope = self._with_ends(by1)
        by_slope[..., 1:] += jump
        by_slope[..., :-1] -= jump
        by_slope = (by_slope[..., 1:-1] if self.flat else by_slope) / h
        out = np.zeros_like(by_slope, shape=(*gradient.shape[:-1], self.shape[1]))
        out[..., :-1] = by0 - by_slope
        out[..., 1:] += by_slope
        return out


class Tridiagonal:
    """A symmetric matrix of three diagonals whose middle one dominates, factored by cyclic reduction.

    Every other unknown is eliminated, and so on until few are left, whose inverse is written out: each round is a few
    operations on whole arrays. Rows of the unit matrix fill the size up to 2^k - 1, so that every unknown that goes has two
    neighbours.
    """

    FEW = 127  # a product with so small an inverse takes less time than two rounds

    def __init__(self, beside: np.ndarray, middle: np.ndarray):
        self.size = len(middle)
        self.full = 2 ** self.size.bit_length() - 1
        low, diagonal, high = np.zeros(self.full), np.ones(self.full), np.zeros(self.full)
        diagonal[: self.size] = middle
        low[1 : self.size] = high[: max(self.size - 1, 0)] = beside
        self.rounds = []
        while len(diagonal) > self.FEW:
            even, odd = slice(0, None, 2), slice(1, None, 2)
            before, after = -low[odd] / diagonal[even][:-1], -high[odd] / diagonal[even][1:]
            self.rounds.append((before, after, low[even][1:].copy(), high[even][:-1].copy(), diagonal[even].copy()))
            diagonal = diagonal[odd] + before * high[even][:-1] + after * low[even][1:]
            low, high = before * low[even][:-1], after * high[even][1:]
        rest = np.eye(len(diagonal)) + np.diag((high / diagonal)[:-1], 1) + np.diag((low / diagonal)[1:], -1)
        self.inverse = (np.linalg.inv(rest) / diagonal).T

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for right-hand sides (..., size)."""
        x = np.zeros_like(right, shape=(*right.shape[:-1], self.full))
        x[..., : self.size] = right
        reduced = []
        for before, after, *_ in self.rounds:
            even = x[..., ::2].copy()
            x = x[..., 1::2] + before * even[..., :-1] + after * even[..., 1:]
            reduced.append(even)
        x = x @ self.inverse
        for (*_, low, high, diagonal), even in zip(reversed(self.rounds), reversed(reduced), strict=True):
            even[..., 1:] -= low * x
            even[..., :-1] -= high * x
            even /= diagonal
            both = np.empty_like(x, shape=(*x.shape[:-1], 2 * x.shape[-1] + 1))
            both[..., ::2], both[..., 1::2] = even, x
            x = both
        return x[..., : self.size]
