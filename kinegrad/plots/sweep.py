"""Figures of many designs: curves of one variable, maps of two, scatters of more, histograms of tolerances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.plots.figure import draw, finish

MOST = 6  # variables that scatters show
SMALL = (3.4, 2.9)  # inches of a panel among many
LEVELS = 12
SMOOTH = 200  # points of a curve
FAR = 1.0  # widths of a histogram: limits beyond are told and not drawn
HIGH = 2.0  # heights of a histogram that a normal distribution may have
WIDE = 4.0  # deviations that a normal distribution is drawn over


@dataclass(frozen=True, eq=False)
class Designs:
    """What is drawn: k designs of n variables with g goals, the first `aims` of which are to be small.

    Attributes
    ----------
    values : (k, n) array
    goals : (k, g) array
        nan where a design does not work.
    limits : (g, 2) array
        Infinite where a goal has none.
    logarithmic : (n,) array of bool
    grid : int
        Points of each variable, where the designs are all nodes of a grid; else 0.
    """

    labels: tuple[str, ...]
    values: np.ndarray
    names: tuple[str, ...]
    goals: np.ndarray
    limits: np.ndarray
    aims: int
    logarithmic: np.ndarray
    grid: int

    @property
    def works(self) -> np.ndarray:
        """(k,) whether designs work."""
        return np.isfinite(self.goals).all(axis=1)

    @property
    def allowed(self) -> np.ndarray:
        """(k,) whether designs work and keep the limits."""
        with np.errstate(invalid="ignore"):
            return self.works & ((self.goals >= self.limits[:, 0]) & (self.goals <= self.limits[:, 1])).all(axis=1)

    @property
    def excess(self) -> np.ndarray:
        """(k,) by how much designs exceed limits, at most, in parts of what goals vary by; negative within all of them."""
        spread = np.ptp(self.goals[self.works], axis=0) if self.works.any() else np.ones(len(self.names))
        over = np.maximum(self.goals - self.limits[:, 1], self.limits[:, 0] - self.goals)
        return (over / np.where(spread > 0.0, spread, 1.0)).max(axis=1, initial=-np.inf)

    @property
    def best(self) -> int | None:
        """The design within the limits whose largest aim is least; None without any, or where nothing is to be small."""
        if not self.allowed.any() or not self.aims:
            return None
        aims = np.where(self.allowed, self.goals[:, : self.aims].max(axis=1), np.inf)
        return int(aims.argmin())


def plot_sweep(title: str, designs: Designs, path: str | Path | None = None):
    """A matplotlib figure with a panel for each goal; of three or more variables, one for each goal and variable."""
    n, goals = len(designs.labels), range(len(designs.names))
    if n == 1:
        return draw(title, [partial(_curve, designs, g, 0, True) for g in goals], path, columns=1)
    if n == 2:
        return draw(title, [partial(_map, designs, g) for g in goals], path)
    shown = _telling(designs)
    if len(shown) < n:
        title += f" ({len(shown)} of {n} variables, those that change the first goal most)"
    panels = [partial(_curve, designs, g, k, False) for g in goals for k in shown]
    return draw(title, panels, path, columns=len(shown), size=SMALL)


def plot_tolerances(
    title: str,
    designs: Designs,
    nominal: Sequence[float],
    deviations: Sequence[float],
    shares: Sequence[Mapping[str, float]],
    path: str | Path | None = None,
):
    """A matplotlib figure: for each goal a histogram with the normal distribution of first order, and what it comes from."""
    panels = []
    for g, name in enumerate(designs.names):
        panels.append(partial(_histogram, designs, g, nominal[g], deviations[g]))
        panels.append(partial(_shares, name, shares[g]))
    return draw(title, panels, path, columns=2)


# --- panels ---


def _curve(designs: Designs, g: int, k: int, line: bool, figure, place) -> None:
    """A goal over a variable."""
    axes = figure.add_subplot(*place)
    order = np.argsort(designs.values[:, k], kind="stable")
    x, y, works, allowed = (
        a[order] for a in (designs.values[:, k], designs.goals[:, g], designs.works, designs.allowed)
    )
    if line:
        axes.plot(x, y, "-", lw=1.0, color="C0")
    axes.plot(x[allowed], y[allowed], "o", ms=4 if line else 3, color="C0", label="design")
    beyond = works & ~allowed
    if beyond.any():
        axes.plot(x[beyond], y[beyond], "o", ms=4 if line else 3, color="0.65", label="beyond a limit")
    if designs.logarithmic[k]:
        axes.set_xscale("log")
    _limits(axes.axhline, designs, g)
    _best(axes, designs, k, lambda i: designs.goals[i, g])
    if not works.all():
        low = axes.get_ylim()[0]
        axes.plot(x[~works], np.full((~works).sum(), low), "x", color="C3", ms=5, label="does not work", clip_on=False)
        axes.set_ylim(bottom=low)
    axes.set_xlabel(designs.labels[k], parse_math=False)
    axes.set_ylabel(designs.names[g], parse_math=False)
    finish(axes, legend=line)
    rows, columns, number = place
    if not line and number == rows * columns:
        figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=5)


def _map(designs: Designs, g: int, figure, place) -> None:
    """A goal over two variables: filled contours of a grid, coloured points of others."""
    axes = figure.add_subplot(*place)
    (x, y), z, works = designs.values.T, designs.goals[:, g], designs.works
    if designs.grid > 1 and works.any():
        shape = (designs.grid, designs.grid)
        X, Y, Z = x.reshape(shape), y.reshape(shape), np.ma.masked_invalid(z.reshape(shape))
        drawn = axes.contourf(X, Y, Z, LEVELS, cmap="viridis")
        _shade(axes, X, Y, np.ma.masked_invalid(designs.excess.reshape(shape)))
        axes.plot(x[works], y[works], ".", ms=2, color="k", alpha=0.35)
    else:
        drawn = axes.scatter(x[works], y[works], c=z[works], s=18, cmap="viridis")
        beyond = works & ~designs.allowed
        if beyond.any():
            axes.plot(x[beyond], y[beyond], "o", ms=6, mfc="none", mec="0.25", mew=0.8, label="beyond a limit")
    if not works.all():
        axes.plot(x[~works], y[~works], "x", ms=5, color="C3", label="does not work", clip_on=False)
    _best(axes, designs, 0, lambda i: y[i])
    for log, set_scale in zip(designs.logarithmic, (axes.set_xscale, axes.set_yscale), strict=True):
        if log:
            set_scale("log")
    if works.any():
        figure.colorbar(drawn, ax=axes).set_label(designs.names[g], parse_math=False)
    axes.set_xlabel(designs.labels[0], parse_math=False)
    axes.set_ylabel(designs.labels[1], parse_math=False)
    finish(axes, legend=False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)


def _histogram(designs: Designs, g: int, nominal: float, deviation: float, figure, place) -> None:
    """How often a goal has a value, beside the normal distribution of first order."""
    axes = figure.add_subplot(*place)
    z = designs.goals[designs.works, g]
    heights, *_ = axes.hist(z, bins="auto", density=True, color="C0", alpha=0.45, label=f"{len(z)} designs")
    if deviation > 0.0:
        x = nominal + deviation * np.linspace(-WIDE, WIDE, SMOOTH)
        y = np.exp(-0.5 * ((x - nominal) / deviation) ** 2) / (deviation * np.sqrt(2.0 * np.pi))
        axes.plot(x, y, color="C1", lw=1.8, label=f"first order,\ndeviation {deviation:.3g}")
        if y.max() > HIGH * heights.max(initial=0.0) > 0.0:
            axes.set_ylim(0.0, HIGH * heights.max())  # a goal that is flat to first order would hide its samples
    axes.axvline(nominal, color="k", lw=0.8, ls=":", label=f"nominal {nominal:.5g}")
    low, high = designs.limits[g]
    if np.isfinite([low, high]).any():
        left, right = axes.get_xlim()
        _limits(axes.axvline, designs, g, (left - FAR * (right - left), right + FAR * (right - left)))
        out, limits = np.mean((z < low) | (z > high)), sorted({x for x in (low, high) if np.isfinite(x)})
        axes.plot([], [], " ", label=f"{100.0 * out:.3g} % beyond {' and '.join(f'{x:.5g}' for x in limits)}")
    axes.set_xlabel(designs.names[g], parse_math=False)
    axes.set_ylabel("density")
    finish(axes)


def _shares(name: str, shares: Mapping[str, float], figure, place) -> None:
    """What parts of a variance come from which variable."""
    axes = figure.add_subplot(*place)
    largest = sorted(shares.items(), key=lambda one: one[1])[-2 * MOST :]
    axes.barh([label for label, _ in largest], [100.0 * share for _, share in largest], color="C1", alpha=0.8)
    axes.set_xlabel(f"share of the variance of {name} [%]", parse_math=False)
    finish(axes, legend=False)


# --- parts of panels ---


def _limits(line, designs: Designs, g: int, within=(-np.inf, np.inf)) -> None:
    """Lines at the limits of a goal that are within a range."""
    for limit in sorted({float(limit) for limit in designs.limits[g] if np.isfinite(limit)}):
        if within[0] <= limit <= within[1]:
            line(limit, color="C3", lw=1.2, ls="--", label=f"limit {limit:.5g}")


def _shade(axes, X: np.ndarray, Y: np.ndarray, excess) -> None:
    """What is beyond limits, paler, with a line where it begins."""
    if excess.count() and excess.max() > 0.0:
        axes.contourf(X, Y, excess, [0.0, float(excess.max())], colors="white", alpha=0.45)
        axes.plot([], [], "s", color="0.85", label="beyond a limit")
        if excess.min() < 0.0:
            axes.contour(X, Y, excess, [0.0], colors="C3", linewidths=1.6)
            axes.plot([], [], color="C3", lw=1.6, label="limit")


def _best(axes, designs: Designs, k: int, height) -> None:
    """A star at the best design, over variable k."""
    i = designs.best
    if i is not None:
        how = {"ms": 13, "color": "C1", "mec": "k", "mew": 0.6, "clip_on": False, "zorder": 5, "ls": "none"}
        axes.plot(designs.values[i, k], height(i), "*", label="best of these", **how)


def _telling(designs: Designs) -> list[int]:
    """The variables that go with the first goal most, by the correlation of their ranks; in their order."""
    n, works = len(designs.labels), designs.works
    if n <= MOST or works.sum() < 3:
        return list(range(min(n, MOST)))
    ranks = np.argsort(np.argsort(np.column_stack([designs.values, designs.goals[:, :1]])[works], axis=0), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.abs(np.nan_to_num(np.corrcoef(ranks.T)[-1, :-1]))
    return sorted(np.argsort(-together, kind="stable")[:MOST].tolist())
