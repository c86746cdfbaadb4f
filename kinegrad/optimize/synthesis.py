"""Defects of a linkage that was found by synthesis: points passed in another order, branches left (OPT-13)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem
from kinegrad.statics.drive import drive

TURN = 2.0 * np.pi
INSTANTS = 256  # of a motion that is looked through


def defects(plan: Plan, start: np.ndarray, values: np.ndarray, positions: Mapping | None = None) -> list[str]:
    """Sentences on what is wrong with a motion by drivers that fits its data; none where it is in order.

    Parameters
    ----------
    start, values : (n,) arrays
        Values of the variables where the search began, in order, and where it ended.
    positions : mapping, optional
        Of each case, near which it ended.
    """
    if plan.analysis != "kinematics":
        return []
    problem, told = StudyProblem(plan), []
    before, after = (problem.evaluate(problem.variables.scaled(np.asarray(x, float))) for x in (start, values))
    if positions:
        problem = StudyProblem(plan.started_at(values, positions))
        after = problem.evaluate(problem.start)
    if not after.ok:
        return [f"branch: the linkage does not move through its data: {after.problem}"]
    for name in (case.name for case in plan.cases):
        of, found = f" in case {name!r}" if name else "", (after.found or {}).get(name)
        try:
            motion = problem.motion(after.values, name) if found is None else found.result  # goals may need no motion
        except KinegradError as error:
            told.append(f"branch{of}: the linkage does not move: {error.problems[0].sentence}")
            continue
        told += [f"branch{of}: {text}" for text in _left_branch(motion)]
        then = (before.found or {}).get(name)
        times = np.unique(np.concatenate([[], *(one.t for one in plan.residuals if one.case == name)]))
        if then is not None and len(times) > 1:
            told += [f"order{of}: {text}" for text in _out_of_order(plan, then.result, motion, times)]
    return told


def _left_branch(motion):
    """Singular positions on the way, looked for between the instants of the study too."""
    try:
        finer = drive(
            motion.system, t_end=motion.t_end, step=min(motion.step, motion.t_end / INSTANTS), guess=motion.q[0]
        )
    except AssemblyError as error:
        yield f"between the instants of the study the linkage does not move on: {error.problems[0].sentence}"
        return
    for place in finer.extra["singular"]:
        yield (
            f"the linkage passes a singular position at t = {place['t']:.6g} s, where it may go on by another branch than "
            "this one"
        )


def _out_of_order(plan: Plan, before, after, times: np.ndarray):
    """Drivers that pass the times of data in another order than at the start."""
    for name, driver in plan.model.drivers.items():
        if driver.measure not in after.catalogue:
            continue
        old, new = (np.interp(times, motion.t, motion[driver.measure]) for motion in (before, after))
        turned = np.flatnonzero(np.sign(np.diff(new)) != np.sign(np.diff(old)))
        for k in turned[:1]:
            yield (
                f"the driver {name!r} goes from {new[k]:.6g} to {new[k + 1]:.6g} between the points at t = {times[k]:g} and "
                f"{times[k + 1]:g} s, the other way than at the start; add constraints that keep them in order"
            )
        if not len(turned) and np.ptp(old) < TURN <= np.ptp(new) and driver.measure.endswith(".angle"):
            yield f"the driver {name!r} turns by {np.ptp(new):.6g}, a full turn or more, before the last point"
