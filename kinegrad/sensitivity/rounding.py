"""What rounding may make of derivatives: a part of what they could be (CER-5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.objectives import INTEGRAL
from kinegrad.kernels.products import FREEDOMS, LINEARISE, OBSERVE, POSITION, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.start import row_sizes, usual_moves
from kinegrad.objectives import kinds_of

if TYPE_CHECKING:
    from kinegrad.sensitivity.result import Gradient

ROUNDING = 1e-13  # of the size of an objective, over that of a parameter
INSTANTS = 5
CHANCES = 3  # states beside each instant


def beyond(difference: np.ndarray, rounding: np.ndarray | float) -> np.ndarray:
    """|difference| where it is more than rounding, else 0."""
    size = np.abs(difference)
    return np.where(size <= rounding, 0.0, size)


def rounding_of(gradient: Gradient) -> np.ndarray:
    """(objectives, parameters) what rounding may make of each entry."""
    return ROUNDING * np.outer(_sizes_of_objectives(gradient.motion), parts_of(gradient.motion, gradient.wrt))


def parts_of(found, labels: Sequence[str]) -> np.ndarray:
    """(parameters,) by what part of its size a motion could change when a parameter changes by 1.

    That is one over the parameter; for one that is zero, what rows and accelerations would change by if nothing else held them.
    """
    system = found.system
    rho = np.abs(system.rho[system.parameters.positions(labels)])
    none = rho == 0.0
    parts = 1.0 / np.where(none, 1.0, rho)
    if none.any():
        parts[none] = _by_terms(found, system.directions([labels[k] for k in np.flatnonzero(none)]))
    return parts


def sizes_of_parameters(found, labels: Sequence[str]) -> np.ndarray:
    """(parameters,) their sizes: of one that is zero, what would move the mechanism by its own size, 1 where nothing does."""
    parts = parts_of(found, labels)
    return 1.0 / np.where(parts > 0.0, parts, 1.0)


def states_of(found) -> tuple[float, list[tuple]]:
    """The time that a motion takes, and (t, q, qd, qdd) at some of its instants; of an assembly or equilibrium there is one."""
    if np.ndim(found.q) == 1:
        still = np.zeros_like(found.q)
        return 0.0, [(getattr(found, "t", 0.0), found.q, getattr(found, "qd", still), getattr(found, "qdd", still))]
    chosen = np.unique(np.linspace(0, len(found.t) - 1, INSTANTS).astype(int))
    return float(found.t[-1]), [(found.t[k], found.q[k], found.qd[k], found.qdd[k]) for k in chosen]


def _beside(work, state: tuple, time: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The usual moves, and a state as it is and with rates that differ by usual ones, then with positions that do too."""
    put(work, *state)
    work.call(POSITION)
    moves, rng = usual_moves(work.system, work), np.random.default_rng(0)
    per_time = 1.0 / time if time > 0.0 else 0.0
    usual = moves, np.abs(state[2]) + moves * per_time, np.abs(state[3]) + moves * per_time**2
    for chance in range(1 if work.system.solves_again else CHANCES + 1):  # forces are those of states that hold
        x = rng.uniform(-1.0, 1.0, (3, len(moves))) if chance else np.zeros((3, len(moves)))
        yield moves, [step * size for step, size in zip(x, usual, strict=True)]


def _sizes_of_objectives(found) -> np.ndarray:
    """(objectives,) what they come to at the states of a motion, and where its coordinates and rates differ by usual ones."""
    system, (time, states) = found.system, states_of(found)
    work = system.workspace(s=found.s)
    sizes = np.abs(np.array(list(found.objectives.values()), float))
    length = np.where(kinds_of(system).kind == INTEGRAL, time or 1.0, 1.0)
    for t, *state in states:
        for _, other in _beside(work, (t, *state), time):
            put(work, t, *(x + dx for x, dx in zip(state, other, strict=True)))
            try:
                work.call(POSITION)
                work.call(OBSERVE)
            except KinegradError:
                continue
            g = length * np.abs(work["g"])
            sizes = np.where(np.isfinite(g), np.maximum(sizes, g), sizes)
    work.give_back()
    return sizes


def _by_terms(found, ds: np.ndarray) -> np.ndarray:
    """(p,) changes of rows in their sizes, and of accelerations over the time of the motion, by directions in the slots."""
    system, (time, states) = found.system, states_of(found)
    work, m, parts = system.workspace(s=found.s, ds=ds), system.m, np.zeros(len(ds))
    for t, q, *rates in states:
        for moves, (_, *other) in _beside(work, (t, q, *rates), time):
            put(work, t, q, *(x + dx for x, dx in zip(rates, other, strict=True)))
            work["flag"][FREEDOMS] = 1
            if work.call(LINEARISE) != OK:
                continue
            rows = row_sizes(system, work, m + len(system.freedoms))
            inertia = np.abs(work.matrix("M").diagonal() * moves**2).max(initial=0.0)
            terms = [work["Phi_s"] / rows[:, None]]
            terms += [moves[:, None] * work["R_s"] * (time**2 / inertia)] if inertia > 0.0 else []
            for size, freedom in zip(rows[m:], system.freedoms, strict=True):
                terms.append(ds[:, freedom.position][None] / size)
                terms += [ds[:, freedom.velocity][None] * time / size] if freedom.velocity >= 0 else []
            parts = np.maximum(parts, np.abs(np.concatenate(terms)).max(axis=0))
    return parts


def put(work, t: float, q, qd, qdd) -> None:
    """A state in a workspace, as it stands."""
    for name in ("dv", "da", "sv", "sa", "lam"):
        work[name][:] = 0.0
    work["par"][TIME], work["flag"][FREEDOMS] = t, 0
    work["q"][:] = q
    work["v"][:] = work["vp"][:] = qd
    work["a"][:] = work["ap"][:] = qdd
