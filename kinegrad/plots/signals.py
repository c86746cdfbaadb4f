"""Panels of signals: one unit an axis, by time or over another signal, of one motion or of several beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kinegrad.errors import KinegradError
from kinegrad.model.signals import Signal
from kinegrad.plots.figure import Panel, finish

DASHES = ("-", "--", ":", "-.")


def by_label(motion, beside) -> dict[str, object]:
    """The motion and those beside it, by labels for the legend; the labels are empty where there is one motion alone."""
    if not beside:
        return {"": motion}
    others = beside if isinstance(beside, Mapping) else {f"motion {k}": other for k, other in enumerate(beside, 2)}
    mine = "this motion" if isinstance(beside, Mapping) else "motion 1"
    if mine in others:
        raise KinegradError(f"A motion beside this one is called {mine!r}, as this one is; give it another label.")
    return {mine: motion, **others}


def signal_panels(motion, groups: Sequence[Sequence[str]], x: str | None = None, beside=()) -> list[Panel]:
    """A panel for each group of signals and each unit in it; `x` is the signal along the other axis, or the time."""
    motions = by_label(motion, beside)
    across = None if x is None else motion.catalogue.canonical(x)
    names = list(dict.fromkeys([name for group in groups for name in group] + ([across] if across else [])))
    found = {label: one.signals(*names) for label, one in motions.items()}
    panels = []
    for group in groups:
        units: dict[str, list[Signal]] = {}
        for name in group:
            units.setdefault(motion.catalogue[name].unit, []).append(motion.catalogue[name])
        panels += [partial(_panel, found, signals, across) for signals in units.values()]
    return panels


def _panel(found, signals: Sequence[Signal], across: str | None, figure, place) -> None:
    axes = figure.add_subplot(*place)
    for m, (label, histories) in enumerate(found.items()):
        along = histories.t if across is None else histories[across]
        for k, signal in enumerate(signals):
            words = signal.name if not label else f"{signal.name}, {label}" if len(signals) > 1 else label
            style = DASHES[m % len(DASHES)] if len(signals) > 1 else "-"
            colour = f"C{(k if len(signals) > 1 else m) % 10}"
            points = {"marker": "o"} if len(along) == 1 else {}
            axes.plot(along, histories[signal.name], style, lw=1, color=colour, label=words, **points)
    first, histories = signals[0], next(iter(found.values()))
    below = "time [s]" if across is None else histories.signals[across].label
    axes.set_xlabel(below, parse_math=False)
    axes.set_ylabel(first.label if len(signals) == 1 else _shared_label(signals), parse_math=False)
    axes.set_title(first.name if len(signals) == 1 else _title(signals), parse_math=False)
    finish(axes, legend=len(signals) * len(found) > 1)


def _shared_label(signals: Sequence[Signal]) -> str:
    """What several signals of one unit are; where that is not known, the last word that their names share."""
    if signals[0].unit:
        return f"{signals[0].dimension} [{signals[0].unit}]"
    words = {signal.name.rpartition(".")[2] for signal in signals}
    return words.pop() if len(words) == 1 else "value"


def _title(signals: Sequence[Signal]) -> str:
    owners = dict.fromkeys(signal.owner for signal in signals if signal.owner)
    return ", ".join(owners) if 0 < len(owners) <= 4 else signals[0].dimension.capitalize() or "Signals"
