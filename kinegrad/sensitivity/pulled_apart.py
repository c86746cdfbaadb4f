"""Numbers that no assembled mechanism has other values of, because its constraints are redundant (KIN-9)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.errors import AccuracyWarning, KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.kernels.products import LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kernels.status import OK
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.least_squares import RANK_TOLERANCE
from kinegrad.kinematics.singular import MANY
from kinegrad.kinematics.units import units_of
from kinegrad.sensitivity.rounding import put, states_of

HELD = 1e-7  # of what a number changes rows by: what they may not follow
HELD_BY_FRONTS = 1e-3  # the same where least squares end before they have found what rows hardly see
PROBES = 2  # combinations by chance of rows that follow from the others
FEW = 50  # parameters at a time, by fronts


class Apart(NamedTuple):
    """Combinations of rows whose derivatives by coordinates vanish, at some states of what was found."""

    pushes: np.ndarray  # (k, slots) what they change by with each number
    sizes: np.ndarray  # (k, slots) and what is large for it

    def of(self, J: Jacobian) -> np.ndarray:
        """(p,) whether they change with what moves the numbers by J (slots, p)."""
        if not len(self.pushes):
            return np.zeros(J.shape[1], bool)
        return (np.abs(J.pull(self.pushes)) > HELD * J.pull_sizes(self.sizes)).any(axis=0)


def refuse_apart(found, labels: Sequence[str]) -> None:
    """Raises where a parameter would pull apart what was found: a motion, an assembly, or an equilibrium.

    Which parameters rows can follow is a matter of the mechanism, and is looked at once.
    """
    known = found.system.tables.setdefault("followed", set())
    if tuple(labels) in known:
        return
    apart = pulled_apart(found, labels)
    if apart:
        raise KinegradError(sentence(found, apart[0]))
    known.add(tuple(labels))


def pulled_apart(found, labels: Sequence[str]) -> list[str]:
    """Parameters whose changes rows cannot follow."""
    if not found.system.m:
        return []
    if found.system.solver == DENSE:
        lost = combinations(found).of(found.system.derivatives(labels))
        return [label for label, is_lost in zip(labels, lost, strict=True) if is_lost]
    few = [labels[k : k + FEW] for k in range(0, len(labels), FEW)]
    return [label for part in few for label, _, _ in _left(found, part, HELD_BY_FRONTS)]


def sentence(found, label: str, *others: str) -> str:
    """Why there is no derivative by a parameter, and by others."""
    t, row = max(((t, row) for _, t, row in _left(found, [label], HELD)), default=(0.0, ""), key=lambda x: -x[0])
    names = f", {row!r} among them" if row else ""
    return (
        f"There is no derivative by {', '.join(map(repr, (label, *others)))}: the constraints are redundant, and with another "
        f"value of it they could not all hold at t = {t:.6g} s{names}. Let other numbers follow it so that the mechanism stays "
        "assembled, or take joints that leave more free."
    )


def combinations(found) -> Apart:
    """Two by chance at each state, by full matrices; none where coordinates are more than `MANY`."""
    system, pushes, sizes = _whole(found.system), [], []
    none = np.zeros((0, len(found.s)))
    if system.n > MANY:
        return Apart(none, none)
    system = system.with_solver(DENSE)
    work, rng = system.workspace(s=found.s), np.random.default_rng(0)
    for t, *state in states_of(found)[1]:
        put(work, t, *state)
        if not system.m or work.call(LINEARISE) != OK:
            continue
        J, units, scale, held = _rows(system, work)
        U, values, _ = np.linalg.svd((scale[:, None] * units.of(J))[held])
        loose = U[:, int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum()) :]
        if not loose.shape[1]:
            continue
        rows = np.zeros((2 * PROBES, system.m))
        rows[:PROBES, held] = (loose @ rng.standard_normal((loose.shape[1], PROBES))).T
        rows[PROBES:, held] = rng.standard_normal((PROBES, held.sum()))
        pulled = np.array([_by_slots(work, row * scale * units.rows) for row in rows])
        pushes += list(pulled[:PROBES])
        sizes += [np.abs(pulled[PROBES:]).max(axis=0)] * PROBES
    return Apart(np.array(pushes), np.array(sizes)) if pushes else Apart(none, none)


def _left(found, labels: Sequence[str], allowed: float) -> list[tuple[str, float, str]]:
    """Parameters whose changes leave more of rows than is allowed by least squares: the first time, and the row left most."""
    left: dict[str, tuple[float, str]] = {}
    system = _whole(found.system)
    work = system.workspace(s=found.s, ds=found.system.directions(labels))
    for t, *state in states_of(found)[1]:
        put(work, t, *state)
        if work.call(LINEARISE) != OK:
            continue
        J, units, scale, held = _rows(system, work)
        right = np.where(held[:, None], work["Phi_s"][: system.m], 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            rest = right + J @ units.refined(J, -right)
        rest, right = (scale[:, None] * np.abs(units.right(x)) for x in (rest, right))
        for k in np.flatnonzero(rest.max(axis=0) > allowed * right.max(axis=0)):
            left.setdefault(labels[k], (float(t), system.row_names[int(rest[:, k].argmax())]))
    return [(label, *where) for label, where in left.items()]


def _whole(system: System) -> System:
    """A system with the rows that vanish by structure: what they ask of numbers is not forgotten."""
    whole = system.tables.get("every_row", system)
    return whole.with_solver(system.solver)


def _rows(system: System, work) -> tuple:
    """Rows by coordinates, their units, 1 over their sizes in these, and which are rows of positions."""
    J = first_rows(work, "Phi_q", system.m)
    units = units_of(work, J)
    return J, units, 1.0 / units.sizes(J), work["level"][: system.m] == 0


def _by_slots(work, row: np.ndarray) -> np.ndarray:
    """(slots,) derivatives of a combination of rows by the slots."""
    for name in ("mu", "eta_v", "eta_a", "yp", "yv", "ya", "ys"):
        work[name][:] = 0.0
    work["psi_s"][:] = 0.0
    work["yp"][: len(row)] = row
    work["flag"][OBJECTIVE] = 0
    work["par"][WEIGHT] = 0.0
    work.call(PULLBACK)
    return work["psi_s"][0].real.copy()
