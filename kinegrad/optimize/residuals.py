"""Measured signals beside those of a run: residuals at the times of the data, with exact derivatives (OPT-11)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NODES = 4  # instants of a run between which a value is found
SAME = 1e-9  # of a step: times that are one


@dataclass(frozen=True, eq=False)
class ResidualPlan:
    """One measured signal.

    Attributes
    ----------
    signal : str
        As the catalogue of the model lists it.
    objective : str
        The name under which systems of the study compute it.
    t, values : (k,) arrays
    sigma : (k,) array or None
        Standard deviations of the values, where they are known.
    case : str
        The case in which it was measured; empty without cases.
    """

    name: str
    signal: str
    objective: str
    t: np.ndarray
    values: np.ndarray
    sigma: np.ndarray | None
    case: str

    def __len__(self) -> int:
        return len(self.t)

    @property
    def divisor(self) -> np.ndarray:
        """(k,) what differences are divided by."""
        return np.ones(len(self)) if self.sigma is None else self.sigma


def stencil(ts: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, 4) instants of a run, and their weights, that give values at the times t: by a cubic through the nearest four.

    At an instant of the run its own value is taken.
    """
    ts, t = np.asarray(ts, float), np.asarray(t, float)
    nodes = min(NODES, len(ts))
    step = np.diff(ts).max(initial=0.0)
    first = np.clip(np.searchsorted(ts, t) - nodes // 2, 0, len(ts) - nodes)
    rows = first[:, None] + np.arange(nodes)
    at, weights = ts[rows], np.ones(rows.shape)
    for i in range(nodes):
        for j in range(nodes):
            if i != j:
                weights[:, i] *= (t - at[:, j]) / (at[:, i] - at[:, j])
    met = np.abs(at - t[:, None]) <= SAME * step
    some = met.any(axis=1)
    weights[some] = met[some]
    return rows, weights


@dataclass(frozen=True, eq=False)
class Places:
    """Where the residuals of a case are found in runs with the same instants `ts`.

    Attributes
    ----------
    rows : (m,) array
        Instants that are needed, increasing.
    stencils : list of two (k, 4) arrays
        For each residual: numbers among `rows`, and weights.
    """

    ts: np.ndarray
    rows: np.ndarray
    stencils: list[tuple[np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, ts: np.ndarray, residuals: list[ResidualPlan]) -> Places:
        """Those of these residuals."""
        found = [stencil(ts, one.t) for one in residuals]
        needed = np.unique(np.concatenate([rows[weights != 0.0] for rows, weights in found]))
        place = np.zeros(len(ts), int)
        place[needed] = np.arange(len(needed))
        return cls(np.array(ts), needed, [(place[rows], weights) for rows, weights in found])


class Fits:
    """Residuals of one case: which instants of a run they need, and what these give."""

    def __init__(self, residuals: list[ResidualPlan]):
        self.residuals = residuals
        self.signals = list(dict.fromkeys(one.signal for one in residuals))
        self.objectives = list(dict.fromkeys(one.objective for one in residuals))
        self.size = sum(map(len, residuals))
        self._places: Places | None = None

    def places(self, ts: np.ndarray) -> Places:
        """Those of all residuals; found once for runs with the same instants."""
        if self._places is None or not np.array_equal(ts, self._places.ts):
            self._places = Places.of(ts, self.residuals)
        return self._places

    def values(self, found) -> np.ndarray:
        """(r,) residuals of what an analysis found: (signal − data)/sigma."""
        places = self.places(found.times)
        course = found.course(self.signals, places.rows)
        parts = []
        for one, (rows, weights) in zip(self.residuals, places.stencils, strict=True):
            y = course[:, self.signals.index(one.signal)]
            parts.append(((weights * y[rows]).sum(axis=1) - one.values) / one.divisor)
        return np.concatenate(parts)

    def slopes(self, found, labels: tuple[str, ...]) -> np.ndarray:
        """(r, p) their derivatives."""
        places = self.places(found.times)
        names, course = found.course_slopes(labels, places.rows)
        parts = []
        for one, (rows, weights) in zip(self.residuals, places.stencils, strict=True):
            by_row = course[:, names.index(one.objective)][rows]
            parts.append(np.einsum("kj,kjp->kp", weights, by_row) / one.divisor[:, None])
        return np.concatenate(parts)
