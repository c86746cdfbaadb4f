"""Objectives of a run: what they are for compiled code, the times that they ask for, and their values (OBJ-1, OBJ-2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, INTEGRAL, NOTHING, SUM, Kinds

CODES = {"integral": INTEGRAL, "final": FINAL, "sum": SUM, "maximum": EXTREME, "minimum": EXTREME}
SIGNS = {"maximum": 1.0, "minimum": -1.0}
NEAR = 1e-9  # of a step: times nearer to the end of a step than this are that end


def asked_times(system: System, t_end: float) -> list[float]:
    """The times of sums, in order; refuses those outside the run."""
    found: set[float] = set()
    for name in system.objectives:
        for t in _times(system, name):
            if not 0.0 <= t <= t_end * (1.0 + 1e-12):
                raise KinegradError(
                    f"The objective {name!r} takes a sum at t = {t:g} s, outside the run from 0 to {t_end:g} s; leave that "
                    "time out, or make t_end larger."
                )
            found.add(min(t, t_end))
    return sorted(found)


def beyond_steps(times: Sequence[float], t_end: float, step: float) -> list[float]:
    """Those of the times that no step of that size from 0 to t_end ends at."""
    return [t for t in times if abs(t - round(t / step) * step) > NEAR * step and t_end - t > NEAR * step]


def kinds_of(system: System, ends: Sequence[float] | None = None) -> Kinds:
    """What the objectives are; sums are taken at those `ends` of steps that are nearest to their times, nowhere without any."""
    if "kinds" in system.tables:
        return system.tables["kinds"]
    system.refuse_objectives()
    names = list(system.objectives)
    if all(kind not in SIGNS and kind != "sum" for kind in system.objectives.values()):
        codes, zeros = np.array([CODES[kind] for kind in system.objectives.values()], np.int64), np.zeros(len(names))
        found = Kinds(codes, zeros, zeros, np.zeros(len(names) + 1, np.int64), np.zeros(0))
        system.tables["kinds"] = found  # no parameter and no time changes them
        return found
    first, times = [0], []
    for name in names:
        asked = _times(system, name) if ends is not None else []
        times += sorted({_nearest(ends, t) for t in asked})
        first.append(len(times))
    return Kinds(
        np.array([CODES[system.objectives[name]] for name in names], np.int64),
        np.array([_sharpness(system, name) for name in names], float),
        np.zeros(len(names)),
        np.array(first, np.int64),
        np.array(times, float),
    )


def weighed(kinds: Kinds, values: Sequence[float], t_end: float) -> Kinds:
    """The same, for derivatives of a run that gave these values."""
    if not kinds.sharpness.any():
        return kinds
    return kinds._replace(total=np.where(kinds.kind == EXTREME, kinds.sharpness * np.real(values) + np.log(t_end), 0.0))


def at_end(count: int) -> Kinds:
    """So many objectives that are taken at the end."""
    zeros = np.zeros(count)
    return Kinds(np.full(count, FINAL, np.int64), zeros, zeros, np.zeros(count + 1, np.int64), np.zeros(0))


def begun_with(kinds: Kinds, g: np.ndarray) -> np.ndarray:
    """What objectives are before the first step, at whose beginning the integrands are g."""
    psi = np.where(kinds.kind == FINAL, g, 0.0)
    if kinds.sharpness.any():
        psi[kinds.kind == EXTREME] = NOTHING
    for o in range(len(psi)) if len(kinds.times) else ():
        if is_taken(kinds, o, 0.0):
            psi[o] = g[o]
    return psi


def is_taken(kinds: Kinds, o: int, t: float) -> bool:
    """Whether t is one of the times of a sum."""
    return bool(t in kinds.times[kinds.first[o] : kinds.first[o + 1]])


def weights_at(kinds: Kinds, t: float, size: float, at_end: bool, g: np.ndarray) -> np.ndarray:
    """(o,) weights of a state in objectives, `size` being that of its time in integrals and g its integrands."""
    weights = np.where(kinds.kind == FINAL, float(at_end), size)
    for o in np.flatnonzero(kinds.kind == SUM) if len(kinds.times) else ():
        weights[o] = is_taken(kinds, o, t)
    if kinds.sharpness.any():
        extreme = kinds.kind == EXTREME
        weights[extreme] *= np.exp(kinds.sharpness[extreme] * g.real[extreme] - kinds.total[extreme])
    return weights


def values_of(kinds: Kinds, psi: np.ndarray, t_end: float) -> np.ndarray:
    """The values of objectives from what runs carry on: of extremes the mean in exponentials (OBJ-2)."""
    values = psi.copy()
    if kinds.sharpness.any():
        extreme = kinds.kind == EXTREME
        values[extreme] = (psi[extreme] - np.log(t_end)) / kinds.sharpness[extreme] if t_end > 0.0 else np.nan
    return values


def _times(system: System, name: str) -> list[float]:
    objective = system.model.objectives.get(name)
    return [] if objective is None or objective.times is None else [float(t) for t in objective.times]


def _sharpness(system: System, name: str) -> float:
    """K of an extreme, negative for a minimum; 0 for all others."""
    sign = SIGNS.get(system.objectives[name])
    if sign is None:
        return 0.0
    value = float(system.parameters.evaluate(system.model.objectives[name].sharpness, system.rho))
    if not (np.isfinite(value) and value > 0.0):
        raise KinegradError(
            f"The sharpness of the objective {name!r} is {value:g}; give a finite number larger than zero, such as 10 over "
            "the differences that matter."
        )
    return sign * value


def _nearest(ends: Sequence[float], t: float) -> float:
    """The entry of a sorted sequence that is nearest to t, as it is there."""
    low, high = 0, len(ends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(ends[middle]) <= t else (low, middle)
    return min((float(ends[low]), float(ends[high])), key=lambda end: abs(end - t))
