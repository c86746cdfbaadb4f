"""Figures of searches: what is minimised, and the violation of constraints, by evaluation."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.plots.figure import draw, finish

SMALLEST = 1e-16  # of a violation that is drawn


def plot_convergence(title: str, history: np.ndarray, constrained: bool, path: str | Path | None = None):
    """A matplotlib figure of (k, 3) numbers, values and violations; designs that did not work are marked on the axis."""
    panels = [partial(_values, history)]
    if constrained:
        panels.append(partial(_violations, history))
    return draw(title, panels, path, columns=1)


def _values(history, figure, place) -> None:
    axes = figure.add_subplot(*place)
    number, value, violation = history.T
    good = np.isfinite(value)
    feasible = good & (violation <= 1e-6)
    axes.plot(number[good], value[good], "o-", ms=3, lw=0.8, color="C0", alpha=0.6, label="design")
    if feasible.any():
        best = np.minimum.accumulate(value[feasible])
        axes.step(number[feasible], best, where="post", color="C1", lw=1.6, label="best so far")
    if (~good).any():
        low = axes.get_ylim()[0]
        axes.plot(
            number[~good], np.full((~good).sum(), low), "x", color="C3", ms=5, label="does not work", clip_on=False
        )
        axes.set_ylim(bottom=low)
    if good.any() and value[good].min() > 0.0 and value[good].max() > 100.0 * value[good].min():
        axes.set_yscale("log")
    axes.set(xlabel="evaluation", ylabel="what is minimised")
    finish(axes)


def _violations(history, figure, place) -> None:
    axes = figure.add_subplot(*place)
    number, _, violation = history.T
    good = np.isfinite(violation)
    axes.semilogy(number[good], np.maximum(violation[good], SMALLEST), "o-", ms=3, lw=0.8, color="C2")
    axes.set(xlabel="evaluation", ylabel="largest violation of a constraint [scaled]")
    finish(axes, legend=False)
