"""The numbers that a solver changes: scaled values of parameters, and back (OPT-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import ModelError
from kinegrad.model.element import dotted
from kinegrad.model.model import Finding
from kinegrad.model.parameters import Parameters
from kinegrad.optimize.description import Variable


@dataclass(frozen=True, eq=False)
class Variables:
    """Entries of the parameters that vary, one number each.

    Attributes
    ----------
    labels : tuple of str
        Such as ``a`` and ``u[3]``.
    start, lower, upper, scale : (n,) arrays
        In units of the parameters; bounds may be infinite.
    log : (n,) array of bool
        Where the solver sees the logarithm.
    lists : set of str
        Lists that vary as a whole.
    """

    labels: tuple[str, ...]
    positions: np.ndarray
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
    log: np.ndarray
    lists: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def entries(self) -> dict[str, np.ndarray]:
        """Places by name: of all entries for a list that varies as a whole."""
        found: dict[str, list[int]] = {}
        for k, label in enumerate(self.labels):
            name, _, _ = label.partition("[")
            found.setdefault(name if name in self.lists else label, []).append(k)
        return {name: np.array(places) for name, places in found.items()}

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """What the solver sees of values."""
        with np.errstate(all="ignore"):
            return np.where(self.log, np.log(np.where(self.log, values, 1.0)), values / self.scale)

    def values(self, x: np.ndarray) -> np.ndarray:
        """Values of what the solver sees, kept within the bounds against rounding."""
        found = x * self.scale
        if self.log.any():
            with np.errstate(all="ignore"):
                found = np.where(self.log, np.exp(np.where(self.log, x, 0.0)), found)
        return np.minimum(np.maximum(found, self.lower), self.upper)

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Derivatives of the values by what the solver sees."""
        return np.where(self.log, values, self.scale)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds that the solver sees."""
        with np.errstate(all="ignore"):
            low = np.where(
                self.log & ~(self.lower > 0.0),
                -np.inf,
                self.scaled(np.where(self.log, np.maximum(self.lower, 1e-300), self.lower)),
            )
            high = self.scaled(self.upper)
        return low, high

    def named(self, values: np.ndarray) -> dict:
        """Values by parameter: a list of them for a list."""
        found: dict = {}
        for label, value in zip(self.labels, np.asarray(values).tolist(), strict=True):
            name, bracket, _ = label.partition("[")
            if bracket and name in self.lists:
                found.setdefault(name, []).append(value)
            else:
                found[label] = value
        return found


def collect(
    given: Mapping[str, Variable], parameters: Parameters, rho: np.ndarray
) -> tuple[Variables | None, list[Finding]]:
    """The variables of a study about parameters with the values `rho`, and what is wrong with them."""
    findings: list[Finding] = []
    labels: list[str] = []
    columns: dict[str, list[np.ndarray]] = {key: [] for key in ("start", "lower", "upper", "scale", "log")}
    position = {label: k for k, label in enumerate(parameters.independent)}
    if not given:
        findings.append((("variables",), "variables is empty; name at least one parameter that may change."))
    for name, variable in given.items():
        path = ("variables", name)
        try:
            own = parameters.expand(name)
        except ModelError as error:
            findings.append((path, f"{dotted(path)}: {error.problems[0].sentence}"))
            continue
        derived = [label for label in own if label not in position]
        twice = [label for label in own if label in labels]
        if derived:
            text = f"is derived from other parameters ({derived[0]!r} follows); vary those, or make it a number in the model."
            findings.append((path, f"{dotted(path)} {text}"))
            continue
        if twice:
            findings.append((path, f"{dotted(path)} varies {twice[0]!r}, which varies already; keep one of the two."))
            continue
        now = np.array([rho[position[label]] for label in own])
        found, wrong = _one(path, variable, own, now)
        findings += wrong
        if not wrong:
            labels += own
            for key, values in zip(columns, found, strict=True):
                columns[key].append(values)
    if findings:
        return None, findings
    joined = {key: np.concatenate(values) for key, values in columns.items()}
    lists = frozenset(name for name in given if parameters.expand(name) != (name,))
    return Variables(tuple(labels), parameters.positions(labels), **joined, lists=lists), []


def _one(path: tuple, variable: Variable, labels: tuple[str, ...], now: np.ndarray) -> tuple[tuple, list[Finding]]:
    """(start, lower, upper, scale, log) of one variable, and what is wrong."""
    findings: list[Finding] = []

    def full(key: tuple, value, absent: float) -> np.ndarray:
        if value is None:
            return np.full(len(now), absent)
        if isinstance(value, tuple):
            if len(value) != len(now):
                text = f"has {len(value)} entries, and the parameter has {len(now)}; give as many, or one for all."
                findings.append(((*path, *key), f"{dotted((*path, *key))} {text}"))
                return np.full(len(now), absent)
            return np.array([absent if entry is None else entry for entry in value], float)
        return np.full(len(now), float(value))

    lower, upper = full(("bounds", 0), variable.bounds[0], -np.inf), full(("bounds", 1), variable.bounds[1], np.inf)
    start = now if variable.start is None else full(("start",), variable.start, 0.0)
    log = np.full(len(now), variable.scale == "log")
    if findings:
        return (), findings
    for k, label in enumerate(labels):
        if lower[k] > upper[k]:
            text = f"are [{lower[k]:g}, {upper[k]:g}] for {label!r}; exchange the two."
            findings.append(((*path, "bounds"), f"{dotted((*path, 'bounds'))} {text}"))
        elif lower[k] == upper[k]:
            text = f"leave {label!r} no room at {lower[k]:g}; widen them, or set the parameter instead."
            findings.append(((*path, "bounds"), f"{dotted((*path, 'bounds'))} {text}"))
        elif not lower[k] <= start[k] <= upper[k]:
            key = "bounds" if variable.start is None else "start"
            who = "the model has" if variable.start is None else "the start is"
            text = (
                f"{who} {label!r} = {start[k]:g}, outside its bounds [{lower[k]:g}, {upper[k]:g}]; give a start within."
            )
            findings.append(((*path, key), f"{dotted(path)}: {text}"))
        elif log[k] and np.isfinite(lower[k]) and lower[k] < 0.0:
            text = (
                f"is log, and {label!r} may be {lower[k]:g} by its bounds; a logarithm needs numbers larger than zero."
            )
            findings.append(((*path, "scale"), f"{dotted((*path, 'scale'))} {text}"))
        elif log[k] and not (start[k] > 0.0 and upper[k] > 0.0):
            text = f"is log, and {label!r} starts at {start[k]:g}; a logarithm needs numbers larger than zero."
            findings.append(((*path, "scale"), f"{dotted((*path, 'scale'))} {text}"))
        if findings:
            break
    if log.any() or variable.scale is None:
        width = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
        scale = np.where(start != 0.0, np.abs(start), width)
    else:
        scale = full(("scale",), variable.scale, 1.0)
    if log.any():
        lower = np.maximum(lower, 0.0)
        scale = np.ones(len(now))
    return (start, lower, upper, scale, log), findings
