"""The largest of several functions made small: by one more variable above them all, or by a smooth largest (OPT-7)."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.problem import StudyProblem

SHARPNESS = (1e1, 1e2, 1e3, 1e4, 1e5)


class Epigraph:
    """The task: make s small with f_i(x) - s <= 0; x and s are the variables."""

    def __init__(self, problem: StudyProblem, start: np.ndarray):
        self.problem, self.n, self._k = problem, problem.n + 1, problem.n_goals
        self.start = np.append(start, problem.value(start))
        self.lower, self.upper = np.append(problem.lower, -np.inf), np.append(problem.upper, np.inf)

    @property
    def constraint_limits(self):
        low, high = self.problem.constraint_limits
        return np.concatenate([np.full(self._k, -np.inf), low]), np.concatenate([np.zeros(self._k), high])

    def value(self, x):
        return float(x[-1])

    def gradient(self, x):
        out = np.zeros(self.n)
        out[-1] = 1.0
        return out

    def constraints(self, x):
        goals = self.problem.goals(x[:-1]).copy()
        goals[: self._k] -= x[-1]
        return goals

    def jacobian(self, x):
        slopes = self.problem.slopes(x[:-1])
        last = np.zeros((len(slopes), 1))
        last[: self._k] = -1.0
        return np.hstack([slopes, last])

    def hessian_product(self, x, v, multipliers):
        return np.append(multipliers @ self.problem.second.along(x[:-1], v[:-1]), 0.0)


class SmoothLargest:
    """The task: log(Σ exp(k f_i))/k, which is above the largest by log(number)/k at most."""

    def __init__(self, problem: StudyProblem, start: np.ndarray, sharpness: float):
        self.problem, self.n, self.start, self.sharpness = problem, problem.n, start, sharpness
        self.lower, self.upper = problem.lower, problem.upper

    @property
    def constraint_limits(self):
        return self.problem.constraint_limits

    def _weights(self, x) -> tuple[np.ndarray, float]:
        goals = self.problem.goals(x)[: self.problem.n_goals]
        most = goals.max()
        parts = np.exp(self.sharpness * (goals - most))
        return parts / parts.sum(), float(most + np.log(parts.sum()) / self.sharpness)

    def value(self, x):
        return self._weights(x)[1]

    def hessian_product(self, x, v, multipliers):
        k, weights = self.problem.n_goals, self._weights(x)[0]
        rows, slopes = self.problem.second.along(x, v), self.problem.slopes(x)[:k]
        along = slopes @ v
        found = weights @ rows[:k] + self.sharpness * ((weights * (along - weights @ along)) @ slopes)
        return found if multipliers is None else found + multipliers @ rows[k:]

    def gradient(self, x):
        return self._weights(x)[0] @ self.problem.slopes(x)[: self.problem.n_goals]

    def constraints(self, x):
        return self.problem.constraints(x)

    def jacobian(self, x):
        return self.problem.jacobian(x)
