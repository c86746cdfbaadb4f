"""Figures of searches: what is minimised, and the violation of constraints, by evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from kinegrad.plots.figure import draw, finish

SMALLEST = 1e-16  # of a violation that is drawn


def plot_convergence(
    title: str, history: np.ndarray, constrained: bool, path: str | Path | None = None, begins: Sequence[int] = ()
):
    """A matplotlib figure of (k, 3) numbers, values and violations; designs that did not work are marked on the axis.

    Lines mark the evaluations with which stages after the first begin; the best so far is that of its stage.
    """
    panels = [partial(_values, history, begins)]
    if constrained:
        panels.append(partial(_violations, history, begins))
    return draw(title, panels, path, columns=1)


def _values(history, begins, figure, place) -> None:
    axes = figure.add_subplot(*place)
    number, value, violation = history.T
    good = np.isfinite(value)
    feasible = good & (violation <= 1e-6)
    axes.plot(number[good], value[good], "o-", ms=3, lw=0.8, color="C0", alpha=0.6, label="design")
    label = "best so far"
    for first, end in pairwise((-np.inf, *begins, np.inf)):
        stage = feasible & (number >= first) & (number < end)
        if stage.any():
            best = np.minimum.accumulate(value[stage])
            axes.step(number[stage], best, where="post", color="C1", lw=1.6, label=label)
            label = None
    _stages(axes, begins)
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


def _stages(axes, begins) -> None:
    """Lines where stages begin."""
    for first in begins:
        axes.axvline(first - 0.5, color="0.5", lw=0.8, ls="--")


def _violations(history, begins, figure, place) -> None:
    axes = figure.add_subplot(*place)
    number, _, violation = history.T
    good = np.isfinite(violation)
    axes.semilogy(number[good], np.maximum(violation[good], SMALLEST), "o-", ms=3, lw=0.8, color="C2")
    _stages(axes, begins)
    axes.set(xlabel="evaluation", ylabel="largest violation of a constraint [scaled]")
    finish(axes, legend=False)
