"""Figures of reactions: forces and moments in joints, by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.plots.figure import draw, finish

MOST_JOINTS = 8  # whose magnitudes are drawn when none is named
QUANTITIES = (("Force", "N", slice(0, 3)), ("Moment", "N m", slice(3, 6)))
NOTHING = 1e-9  # what is smaller, relative to the largest force or moment, is not drawn


def plot_reactions(
    t: np.ndarray,
    reactions: Mapping[str, np.ndarray],
    names: Sequence[str] = (),
    title="",
    path: str | Path | None = None,
):
    """A matplotlib figure of forces and moments in joints, on the second body, in global components.

    Parameters
    ----------
    t : (k,) array
        Times [s].
    reactions : mapping of joint name to (k, 6) array
        Force [N], then moment [N m]; `Motion.reactions()` gives them. What its `unique` marks as one of many values
        says so in the legend.
    names : sequence of str
        Joints whose components are drawn; by default the magnitudes of the joints with the largest forces.
    """
    return draw(title or "Reactions", panels(t, reactions, names), path)


def panels(t: np.ndarray, reactions: Mapping[str, np.ndarray], names: Sequence[str] = ()) -> list:
    """A panel of forces and one of moments: magnitudes of all joints, or components of those named."""
    if not reactions:
        raise KinegradError("The model has no joints that transmit a reaction; there is nothing to plot.")
    if names:
        chosen, sures = {name: reactions[name] for name in names}, {name: _unique(reactions, name) for name in names}
        return [partial(_components, t, chosen, sures, *what) for what in QUANTITIES]
    return [partial(_magnitudes, t, reactions, *what) for what in QUANTITIES]


def _magnitudes(t, reactions, quantity, unit, part, figure, place) -> None:
    axes, least = figure.add_subplot(*place), _negligible(reactions)
    size = {name: np.linalg.norm(values[:, part], axis=1) for name, values in reactions.items()}
    largest = sorted(size, key=lambda name: -np.max(size[name], initial=0.0))[:MOST_JOINTS]
    shown = f" ({len(largest)} largest of {len(size)})" if len(size) > len(largest) else ""
    axes.set(title=f"{quantity} in the joints, magnitude{shown}")
    if np.max([size[name].max(initial=0.0) for name in largest]) <= least:
        return _say_zero(axes, quantity)
    for name in (name for name in size if name in largest):
        doubtful = ~_unique(reactions, name)[part] & (np.abs(reactions[name][:, part]).max(axis=0, initial=0.0) > least)
        axes.plot(t, size[name], lw=1, label=f"{name} (not unique)" if doubtful.any() else name)
    axes.set(xlabel="time [s]", ylabel=f"{quantity.lower()} [{unit}]")
    return finish(axes)


def _components(t, reactions, sures, quantity, unit, part, figure, place) -> None:
    axes, least = figure.add_subplot(*place), _negligible(reactions)
    axes.set(title=f"{quantity} on the second body")
    for k, (name, values) in enumerate(reactions.items()):
        for c, dash in enumerate(("-", "--", ":")):
            component = values[:, part][:, c]
            if np.abs(component).max(initial=0.0) > least:
                sure = "" if sures[name][part][c] else " (not unique)"
                axes.plot(t, component, dash, lw=1, color=f"C{k % 10}", label=f"{name} {'xyz'[c]}{sure}")
    if not axes.get_lines():
        return _say_zero(axes, quantity)
    axes.set(xlabel="time [s]", ylabel=f"{quantity.lower()} [{unit}]")
    return finish(axes)


def _negligible(reactions: Mapping[str, np.ndarray]) -> float:
    """What counts as zero beside the largest force [N] or moment [N m]."""
    return NOTHING * max(np.abs(values).max(initial=0.0) for values in reactions.values())


def _say_zero(axes, quantity: str) -> None:
    """A word in place of a figure of rounding errors."""
    axes.text(0.5, 0.5, f"all {quantity.lower()}s are zero", ha="center", va="center", transform=axes.transAxes)
    axes.set(xticks=[], yticks=[])


def _unique(reactions, name: str) -> np.ndarray:
    """(6,) which components follow from the equations; all where nothing is said about it."""
    return np.asarray(getattr(reactions, "unique", {}).get(name, np.ones(6, bool)), bool)
