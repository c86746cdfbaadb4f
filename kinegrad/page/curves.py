"""Curves of a page: signals that are packed into it, and which of them its panels show first.

A series is ``{name, unit, group, owner, meaning, y}``; ``short`` is what a panel with a title of its own calls it, ``total``
the value of an objective. Components of points are not packed: the page has them from where bodies are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kinegrad.coordinates.coordinate_set import ONE
from kinegrad.errors import KinegradError
from kinegrad.model.signals import Signal, groups_of
from kinegrad.page.packing import packed
from kinegrad.plots.motion import ROUNDING

MOST = 48  # signals that are packed when none are asked for
SHOWN = 6  # curves of a panel at first
POWERS = str.maketrans({"2": "²", "3": "³", "4": "⁴"})


class Curves:
    """Series and panels of one motion at chosen rows.

    Parameters
    ----------
    asked : str or sequence of str
        Signals to show, as `Motion.plot` takes them: "," on the same axes, ";" in a new panel; "all" packs all.
    """

    def __init__(self, motion, rows: np.ndarray, asked: str | Sequence[str] = ()):
        self.motion, self.rows = motion, rows
        self.catalogue = motion.catalogue
        texts = ";".join([asked] if isinstance(asked, str) else asked).split(";")
        parts = [[name.strip() for name in text.split(",")] for text in texts]
        named = [",".join(name for name in part if name != "all") for part in parts]
        self.asked = groups_of(self.catalogue, *named) if any(named) else []
        chosen = [name for group in self.asked for name in group]
        everything = any("all" in part for part in parts)
        self.names = list(dict.fromkeys([*chosen, *(self.catalogue if everything else self._usual())]))

    def document(self) -> dict:
        """What the page reads: `series`, `panels`, and how many signals the model has."""
        series = [*self._signals(), *self._energies(), *self._violations(), *self._coordinates()]
        known = {one["name"]: one for one in series}
        panels = [panel for panel in self._panels(known) if panel["names"]]
        return {"series": list(known.values()), "panels": panels, "signals": len(self.catalogue)}

    # --- series ---

    def _usual(self) -> list[str]:
        """The signals that are packed when nothing is said: what elements do, not where each point is."""

        def rank(signal: Signal) -> int:
            if signal.group in ("measure", "objective", "driver") and signal.name == signal.owner:
                return 0
            if signal.group in ("force", "driver", "constraint") and signal.name.endswith((".force", ".force.norm")):
                return 1
            if signal.group == "joint" and ".reaction." not in signal.name:
                return 2 + 2 * signal.name.count(".velocity") + 9 * signal.name.count(".acceleration")
            if signal.name.endswith((".reaction.force.norm", ".force.norm")):
                return 3
            return 5 if signal.group in ("force", "driver") and not signal.name.endswith((".x", ".y", ".z")) else 9

        ranked = sorted(((rank(s), k, s.name) for k, s in enumerate(self.catalogue.values())), key=lambda x: x[:2])
        totals = [name for name in ("kinetic_energy", "potential_energy", "work") if name in self.catalogue]
        return [name for place, _, name in ranked if place < 9][:MOST] + totals

    def _signals(self) -> list[dict]:
        return series_of(self.motion, self.names, self.rows)

    def _energies(self) -> Iterator[dict]:
        e, rows = self.motion.energies, self.rows
        energies = {"kinetic": e.kinetic, "potential": e.potential, "total": e.kinetic + e.potential}
        for name, values in energies.items():
            yield _own(f"change of {name} energy", "J", "Since the start.", values[rows] - values[0], short=name)

    def _violations(self) -> Iterator[dict]:
        motion = self.motion
        violation = np.where(motion.constraint_violation > ROUNDING, motion.constraint_violation, np.nan)[self.rows]
        levels = zip(("position", "velocity", "acceleration"), ("m", "m/s", "m/s²"), strict=True)
        for k, (name, unit) in enumerate(levels):
            if motion.system.m and np.isfinite(violation[:, k]).any():
                meaning = f"Largest violation of constraints, {name} level."
                yield _own(f"violation, {name}", unit, meaning, violation[:, k], short=name)

    def _coordinates(self) -> Iterator[dict]:
        """Coordinates of the set that are no signals, such as Euler parameters; the first of many."""
        others = [(k, c) for k, c in enumerate(self.motion.system.coordinates) if c not in self.catalogue]
        for k, c in others[:MOST]:
            yield _own(str(c), c.unit if c.unit != ONE else "", "Coordinate of the set.", self.motion.q[self.rows, k])

    # --- panels ---

    def _panels(self, known: dict[str, dict]) -> Iterator[dict]:
        if self.asked:
            yield from ({"names": group} for group in self.asked)
        else:
            forces = [s for s in known.values() if s["group"] in ("force", "driver") and ".force" in s["name"]]
            yield {"title": "Forces", "names": _first(forces)}
            joints = [s for s in known.values() if s["group"] == "joint"]
            plain = [s for s in joints if not s["name"].endswith((".velocity", ".acceleration", ".norm"))]
            yield {"title": "Joints", "names": _first(plain)}
            others = [s for s in known.values() if s["group"] == "own" and s["meaning"].startswith("Coordinate")]
            yield {"title": "Coordinates", "names": [] if plain else _first(others)}
            measures = [s for s in known.values() if s["group"] == "measure" and s["name"] == s["owner"]]
            yield {"title": "Measures", "names": _first(measures)}
        changes = [f"change of {name} energy" for name in ("kinetic", "potential", "total")]
        of_system = known.get("work", {}).get("group") == "system"  # no element has its name
        work = ["work"] if of_system and np.abs(self.motion.energies.work).max() > 0.0 else []
        yield {"title": "Energy", "note": "change since the start", "names": [*changes, *work]}
        objectives = [s["name"] for s in known.values() if s["group"] == "objective"][:1]
        yield {"title": "Objectives", "note": "what is integrated, or taken at the end", "names": objectives}
        broken = [name for name in known if name.startswith("violation, ")]
        yield {"title": "Constraint violation", "note": "largest of all rows", "log": True, "names": broken}


def series_of(motion, names: Iterable[str], rows: np.ndarray) -> list[dict]:
    """Signals by name, packed."""
    names = list(names)
    if not names:
        return []
    found = motion.signals(*names, rows=rows)
    series = []
    for name, values in found.items():
        signal = found.signals[name]
        row = entry(signal) | {"y": packed(values)}
        if signal.group == "objective" and name in motion.objectives:
            total = float(motion.objectives[name])
            row["total"] = total if np.isfinite(total) else None
        series.append(row)
    return series


def entry(signal: Signal) -> dict:
    """What the page tells of a signal."""
    unit = signal.unit.translate(POWERS)
    return {
        "name": signal.name,
        "unit": unit,
        "group": signal.group,
        "owner": signal.owner,
        "meaning": signal.meaning,
    }


def listed(motion) -> list[list[str]]:
    """All signals of a motion as rows [name, unit, group, owner, meaning], for a page that can ask for them."""
    return [list(entry(signal).values()) for signal in motion.catalogue.values()]


def refuse_unknown(motion, names: Iterable[str]) -> list[str]:
    """Listed names; raises for one that is no signal."""
    found = []
    for name in names:
        if not isinstance(name, str):
            raise KinegradError("the request names a signal that is no text.")
        found += motion.catalogue.expand(name)
    return found


def _own(name: str, unit: str, meaning: str, values: np.ndarray, short: str | None = None) -> dict:
    """A series that is no signal."""
    row = {"name": name, "unit": unit, "group": "own", "owner": "", "meaning": meaning, "y": packed(values)}
    return row if short is None else row | {"short": short}


def _first(series: list[dict]) -> list[str]:
    """The first names of those with the unit of the first."""
    return [s["name"] for s in series if s["unit"] == series[0]["unit"]][:SHOWN]
