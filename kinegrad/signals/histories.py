"""Histories of signals of a motion, whatever they are made of: formulas, orientations, reactions, work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.signals import axes_names
from kinegrad.errors import place_of
from kinegrad.model.names import resolve
from kinegrad.model.quantities import NORM
from kinegrad.model.signals import Catalogue, Signal
from kinegrad.signals.orientations import quaternions, rotation_vectors
from kinegrad.signals.watch import Watch


@dataclass(frozen=True, eq=False)
class Histories(Mapping):
    """Signals of a motion: a mapping from names to (k,) arrays, in the order in which they were asked for.

    Attributes
    ----------
    t : (k,) array
    signals : dict of name to Signal
    values : (k, signals) array
    """

    t: np.ndarray
    signals: dict[str, Signal]
    values: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[:, place_of(name, self.signals, "signal")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.signals)

    def __len__(self) -> int:
        return len(self.signals)

    def __contains__(self, name: object) -> bool:
        return name in self.signals

    def __repr__(self) -> str:
        return f"<Histories of {len(self)} signals at {len(self.t)} times>"

    @property
    def units(self) -> dict[str, str]:
        """Units by name."""
        return {name: signal.unit for name, signal in self.signals.items()}

    def summary(self) -> dict[str, dict]:
        """{name: {unit, final, min, max}} as plain numbers."""
        least, largest = self.values.min(axis=0), self.values.max(axis=0)
        rows = zip(self.signals.values(), self.values[-1].tolist(), least.tolist(), largest.tolist(), strict=True)
        return {s.name: {"unit": s.unit, "final": final, "min": low, "max": high} for s, final, low, high in rows}


def chosen(catalogue: Catalogue, names: Iterable[str]) -> list[str]:
    """Listed names of the signals that `names` stand for, each once: vectors by component, "all" for all."""
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(catalogue if name == "all" else catalogue.expand(name))
    return list(found)


def histories(motion, names: Sequence[str], rows: np.ndarray | None = None) -> Histories:
    """Histories of signals by their listed names, at all states of a motion or at chosen rows of it."""
    catalogue = motion.catalogue
    t = np.asarray(motion.t if rows is None else motion.t[rows])
    signals = {name: catalogue[name] for name in names}
    known = {name for name, signal in signals.items() if name in ENERGIES and signal.group == "system"}
    formulas = [name for name, signal in signals.items() if signal.is_formula and name not in known]
    found = _formulas(motion, formulas, rows) if formulas else np.zeros((len(t), 0))
    if len(formulas) == len(names):
        return Histories(t, signals, found)
    columns = dict(zip(formulas, found.T, strict=True))
    results: dict[str, list] = {}
    for name in names:
        if name not in columns:
            reference = resolve(motion.system.model, name)
            results.setdefault(reference.part, []).append((name, reference))
    for part, wanted in results.items():
        values = RESULTS[part](motion, [reference for _, reference in wanted], rows)
        columns |= zip((name for name, _ in wanted), values, strict=True)
    return Histories(t, signals, np.stack([columns[name] for name in names], axis=1))


def _formulas(motion, names: Sequence[str], rows: np.ndarray | None) -> np.ndarray:
    """(k, names) what formulas give; angles with their turns are followed through all states."""
    watch = Watch(motion.system, names, motion.s, motion.extra.get("turns"))
    pick = rows if rows is not None and not len(watch.bound) else None
    t = motion.t if pick is None else motion.t[pick]
    found = watch(t, lambda part: motion.scheme.motion(motion.traj[part if pick is None else pick[part]]))
    watch.work.give_back()
    return found if rows is None or pick is not None else found[rows]


# --- what is known when a motion is ---


def _rotation(motion, references, rows) -> Iterator[np.ndarray]:
    """Components of rotation vectors with their turns, from the axes of bodies (SIG-8)."""
    bodies = list(dict.fromkeys(reference.element for reference in references))
    axes = [name for body in bodies for name in axes_names(body)]
    A = _formulas(motion, axes, None).reshape(len(motion.t), len(bodies), 3, 3).swapaxes(2, 3)
    vectors = rotation_vectors(quaternions(A))
    vectors = vectors if rows is None else vectors[rows]
    for reference in references:
        yield _component(vectors[:, bodies.index(reference.element)], reference.component)


def _reaction(motion, references, rows) -> Iterator[np.ndarray]:
    found = motion.reactions(rows=rows)
    for reference in references:
        part = slice(0, 3) if reference.part == "reaction.force" else slice(3, 6)
        yield _component(found[reference.element][:, part], reference.component)


def _of_driver(motion, references, rows) -> Iterator[np.ndarray]:
    found = motion.reactions(rows=rows)
    for reference in references:
        yield (found.forces if reference.part == "force" else found.powers)[reference.element]


def _work(motion, references, rows) -> Iterator[np.ndarray]:
    for _ in references:
        yield motion.energies.work if rows is None else motion.energies.work[rows]


def _component(x: np.ndarray, which: int) -> np.ndarray:
    return np.sqrt((x * x).sum(axis=1)) if which == NORM else x[:, which]


def _energy(motion, references, rows) -> Iterator[np.ndarray]:
    for reference in references:
        values = getattr(motion.energies, ENERGIES[reference.part])
        yield values if rows is None else values[rows]


ENERGIES = {"kinetic_energy": "kinetic", "potential_energy": "potential"}
"""Signals with a formula, which goes through all bodies, that a motion knows without it."""

RESULTS = {
    **dict.fromkeys(ENERGIES, _energy),
    "rotation": _rotation,
    "reaction.force": _reaction,
    "reaction.moment": _reaction,
    "force": _of_driver,
    "power": _of_driver,
    "work": _work,
}
"""What gives each quantity that no formula gives, by its part: an array for each reference."""
