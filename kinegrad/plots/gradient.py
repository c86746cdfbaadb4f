"""Figures of gradients: how much each parameter matters to each objective, and when the gradient comes about."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.plots.figure import draw, finish

MOST_OBJECTIVES = 6
MOST_BARS = 12  # of an objective; the longest are kept
MOST_LINES = 8


def plot_gradient(gradient, path: str | Path | None = None):
    """A matplotlib figure with a row for each objective: relative sensitivities as bars, and the gradient by time.

    A bar is ``(rho/|psi|) dpsi/drho``: the change of the objective in percent when the parameter grows by one percent.
    The course in time is there when the gradient was made with ``history=True``; with derivatives by every number of the model
    their sums by body and element stand in its place.
    """
    labels, values, matrix = _what_is_shown(gradient)
    names = list(gradient.values)[:MOST_OBJECTIVES]
    elements = None if gradient.by_slot is None else gradient.by_element()
    panels = []
    for i, name in enumerate(names):
        panels.append(partial(_bars, name, gradient.values[name], labels, values, matrix[i]))
        if elements is not None:
            panels.append(partial(_elements, name, {key: row[name] for key, row in elements.items()}))
        elif gradient.history is not None:
            panels.append(partial(_history, name, gradient.values[name], gradient, gradient.history[:, i]))
    columns = 1 if gradient.history is None and elements is None else 2
    title = f"{gradient.motion.system.model.title or 'Model'}: gradient, {gradient.method}"
    if len(gradient.values) > len(names):
        title += f" ({len(names)} of {len(gradient.values)} objectives)"
    return draw(title, panels, path, columns)


def _what_is_shown(gradient):
    """Labels, values and derivatives: of every number of the model where they are known, else of the parameters."""
    system = gradient.motion.system
    if gradient.by_slot is None:
        index = {label: k for k, label in enumerate(system.parameters.independent)}
        return gradient.wrt, system.rho[[index[label] for label in gradient.wrt]], gradient.matrix
    table = gradient.by_number()
    matrix = np.array([list(row.values()) for row in table.values()])
    return system.slots.field_paths, system.slots.field_values(system.rho), matrix


def relative(value: float, at: np.ndarray, derivatives: np.ndarray) -> np.ndarray:
    """Percent of the objective per percent of each number; of the objective's unit where its value is zero."""
    return at * derivatives / (abs(value) or 1.0)


def _bars(name, value, labels, at, derivatives, figure, place) -> None:
    """Relative sensitivities: in the order of the parameters, or where only the largest are shown, by their sizes."""
    axes = figure.add_subplot(*place)
    size = relative(value, at, derivatives)
    kept = np.argsort(-np.abs(size), kind="stable")[:MOST_BARS]
    kept = kept if len(kept) < len(size) else sorted(kept)
    rows = np.arange(len(kept))
    axes.barh(rows, size[kept], color=["C0" if size[k] >= 0.0 else "C3" for k in kept], height=0.7)
    axes.set_yticks(rows, [f"{labels[k]} (is 0)" if at[k] == 0.0 else labels[k] for k in kept], parse_math=False)
    axes.set_ylim(len(kept) - 0.4, -0.6)
    axes.axvline(0.0, color="k", lw=0.8)
    for row, k in zip(rows, kept, strict=True):
        axes.annotate(
            f"{size[k] + 0.0:.3g}", (size[k], row), (4 if size[k] >= 0.0 else -4, 0), textcoords="offset points",
            ha="left" if size[k] >= 0.0 else "right", va="center", fontsize="small",
        )  # fmt: skip
    axes.margins(x=0.18)
    shown = f", {len(kept)} largest of {len(size)}" if len(size) > len(kept) else ""
    unit = "% per %" if value else "per unit of the logarithm"
    axes.set(title=f"{name} = {value:.6g}{shown}", xlabel=f"relative sensitivity [{unit}]")
    finish(axes, legend=False)


def _elements(name, sums, figure, place) -> None:
    """Sums of magnitudes of relative sensitivities by body and element, largest first."""
    axes = figure.add_subplot(*place)
    kept = sorted(sums, key=lambda key: -sums[key])[:MOST_BARS]
    rows = np.arange(len(kept))
    axes.barh(rows, [sums[key] for key in kept], color="C2", height=0.7)
    axes.set_yticks(rows, kept, parse_math=False)
    axes.set_ylim(len(kept) - 0.4, -0.6)
    for row, key in zip(rows, kept, strict=True):
        axes.annotate(
            f"{sums[key]:.3g}", (sums[key], row), (4, 0), textcoords="offset points", va="center", fontsize="small"
        )
    axes.margins(x=0.18)
    shown = f", {len(kept)} largest of {len(sums)}" if len(sums) > len(kept) else ""
    axes.set(title=f"{name} by body and element{shown}", xlabel="sum of relative sensitivities")


def _history(name, value, gradient, values, figure, place) -> None:
    """The course of the gradient in the units of the bars, so that parameters of all kinds stand on one axis."""
    axes, labels, t = figure.add_subplot(*place), gradient.wrt, gradient.history_t
    if np.isnan(values[:-1]).any():
        axes.text(0.5, 0.5, f"{name} is taken at the end:\nno course in time", ha="center", va="center")
        axes.set_axis_off()
        return
    system = gradient.motion.system
    at = system.rho[[system.parameters.independent.index(label) for label in labels]]
    values = relative(value, at, values)
    largest = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MOST_LINES]
    for k in sorted(largest):
        axes.plot(t, values[:, k], lw=1, label=f"by {labels[k]}" + (" (is 0)" if at[k] == 0.0 else ""))
    shown = f" ({len(largest)} largest of {len(labels)})" if len(labels) > len(largest) else ""
    which = "by changes from each time on" if gradient.method == "discrete-adjoint" else "up to each time"
    axes.set(title=f"Gradient of {name} {which}{shown}", xlabel="time [s]")
    unit = "% per %" if value else "per unit of the logarithm"
    axes.set_ylabel(f"relative sensitivity [{unit}]", parse_math=False)
    finish(axes)
