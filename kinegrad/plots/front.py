"""A figure of a front: goals against each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.plots.figure import draw, finish


def plot_front(title: str, names: Sequence[str], goals: np.ndarray, path: str | Path | None = None):
    """A matplotlib figure with a panel for each goal but the first, over the first."""
    panels = [partial(_against, names[0], name, goals[:, 0], goals[:, k]) for k, name in enumerate(names) if k]
    return draw(title, panels, path, columns=1)


def _against(across: str, up: str, x: np.ndarray, y: np.ndarray, figure, place) -> None:
    axes = figure.add_subplot(*place)
    axes.plot(x, y, "o-", ms=4, lw=0.8)
    axes.set(xlabel=across, ylabel=up)
    finish(axes, legend=False)
