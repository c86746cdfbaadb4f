"""Singular positions on the way of a motion by drivers, and why it could not go on (DRV-7, DRV-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kernels.status import INCONSISTENT, LOST_RANK, NOT_CONVERGED, WORDS
from kinegrad.kinematics.culprits import culprit, failure, left_table
from kinegrad.statics.drivers import scaled_rows

if TYPE_CHECKING:
    from kinegrad.statics.drive import Driven

LOST = 0.05  # of what the weakest direction was seen at best: singular values below it are lost


def passed(driven: Driven) -> list[dict]:
    """The singular positions that the motion passed: time, rank of the rows, and the coordinate that is free there."""
    path, found = driven.path, []
    count = min(int(path.count[0]), len(path.events))
    for when, q in zip(path.events[:count, 0], path.events[:count, 1:], strict=True):
        rank, name = _rank(driven, float(when), q)
        if rank < driven.system.n:
            found.append({"t": float(when), "rank": rank, "n": driven.system.n, "coordinate": name, "passed": True})
    return found


def _rank(driven: Driven, t: float, q: np.ndarray) -> tuple[int, str]:
    """The rank of the rows at a position, small singular values not counted, and the coordinate that moves most freely."""
    system, work = driven.system, driven.work
    work["q"][:], work["par"][TIME] = q, t
    work["flag"][FREEDOMS] = 0
    work.call(POSITION)
    _, values, directions = np.linalg.svd(scaled_rows(driven))
    rank = int((values > LOST * driven.path.info[driven.kernels.MOST_SEEN]).sum())
    return rank, str(system.coordinates[int(np.abs(directions[-1]).argmax())])


def reason(driven: Driven, status: int) -> tuple[str, list[dict]]:
    """One sentence on why the motion ended with this status, and the singular position at which it did, if it was one."""
    path, kernels, system = driven.path, driven.kernels, driven.system
    t, seen, most = (float(path.info[k]) for k in (kernels.T0, kernels.SEEN, kernels.MOST_SEEN))
    left = left_table(system, driven.work)
    if left:
        return f"The motion cannot go on after t = {t:.9g} s: {left}.", []
    if status in (LOST_RANK, NOT_CONVERGED, INCONSISTENT) and seen < LOST * most:
        when = t + _time_left(path)
        rank, name = _rank(driven, t, path.q.real)
        sentence = (
            f"The mechanism locks up at t = {when:.9g} s: its drivers ask for a position beyond its reach, near which {name!r} "
            f"moves faster and faster; the constraints and drivers have rank {rank} of {system.n} there. End before, or change "
            "the drivers."
        )
        return sentence, [{"t": when, "rank": rank, "n": system.n, "coordinate": name, "passed": False}]
    failed = failure(driven.work, status)
    if failed:
        happened, remedy = failed
        return (
            f"The motion cannot go on after t = {t:.9g} s: {culprit(system, driven.work, status)}, {happened}; {remedy}.",
            [],
        )
    if status == INCONSISTENT:
        what, row, off = _contradiction(driven)
        return (
            f"No {what} satisfy all constraints after t = {t:.9g} s: {row!r} is off by {off:.3g}. A driver contradicts the "
            "other constraints.",
            [],
        )
    if status in (LOST_RANK, NOT_CONVERGED):
        return (
            f"The mechanism cannot be followed after t = {t:.9g} s: its drivers ask for a jump, or for a position beyond its "
            "reach. Look at their expressions there.",
            [],
        )
    who = culprit(system, driven.work, status)
    what = f"the value of {who} is infinite or not a number" if who else WORDS.get(status, f"status {status}")
    return f"The motion cannot go on after t = {t:.9g} s: {what}; check the expressions there.", []


def _time_left(path) -> float:
    """From the last state to the end, where the free motion comes to it as the square root of the time left (DRV-8)."""
    v, a = path.v.real @ path.w, path.a.real @ path.w
    return float(0.5 * v / a) if v * a > 0.0 else 0.0


def _contradiction(driven: Driven) -> tuple[str, str, float]:
    """What rows do not agree on, the row that is farthest off, and by how much."""
    work, m = driven.work, driven.system.m
    rows, J = driven.factors.rows.real, work["J"][:m].real
    off = np.abs(work["Phi"][:m].real)
    if (off * rows).max(initial=0.0) > driven.kernels.ACCEPTED:
        what = "positions"
    else:
        what, off = "velocities", np.abs(J @ work["v"].real + work["Phi_t"][:m].real)
        size = np.abs(J) @ np.abs(work["v"].real) + np.abs(work["Phi_t"][:m].real)
        if not (off * rows > driven.kernels.COMPATIBLE * (size * rows).max(initial=0.0)).any():
            what, off = "accelerations", np.abs(J @ work["a"].real + work["c"][:m].real)
    worst = int((off * rows).argmax())
    return what, driven.system.row_names[worst], float(off[worst])
