"""Why a run stopped, in one sentence: what happened, when, and what to try."""

from __future__ import annotations

from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.products import EVALUATE, OBSERVE, TIME
from kinegrad.kernels.status import (
    LOST_RANK,
    NOT_CONVERGED,
    NOT_FINITE,
    SINGULAR,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    WORDS,
)
from kinegrad.kinematics.culprits import culprit, failure, left_table
from kinegrad.kinematics.singular import is_near_singular
from kinegrad.motion import Motion

GAINED, UNSEEN = 0.1, 1e-6  # parts of the kinetic energy, and of what there was: energy from nowhere is more than these


def blow_up(motion: Motion, work: Workspace) -> str:
    """One sentence on a run that stopped with energy from nowhere, whose last states are no positions of a mechanism and so no
    singular ones either; empty for any other."""
    if motion.status not in (NOT_FINITE, SINGULAR, LOST_RANK) or culprit(motion.system, work, motion.status):
        return ""
    energies = motion.energies
    kinetic, potential = energies.kinetic, energies.potential
    gained = float(kinetic[-1] + potential[-1] - kinetic[0] - potential[0] - energies.work[-1])
    usual = float(abs(potential[0]) + abs(potential[-1]) + kinetic[0])
    if not GAINED * kinetic[-1] + UNSEEN * usual < gained:
        return ""
    remedy = ", or an implicit integrator" if motion.scheme.pair.integrator.explicit else ""
    return (
        f"The simulation ({motion.formulation.type}) stopped at t = {motion.ts[-1]:.6g} s: it blew up, its energy has grown by "
        f"{gained:.1e} J more than forces have done work; try a smaller step than {motion.step:g} s{remedy}."
    )


def reason(work: Workspace, status: int, formulation, t: float, step: float, first, last, h: float) -> str:
    """One sentence on why a run with the states `first` and `last`, (t, q, qd) each, stopped at t in a step h."""
    left = left_table(work.system, work)
    if left:
        return f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: {left}."
    if status in (NOT_CONVERGED, NOT_FINITE, SINGULAR, LOST_RANK, STEP_TOO_SMALL) and is_near_singular(
        work.system, work["s"], first, last, h
    ):
        return at_singular_position(t, formulation)
    who = singular_coordinate(work) if status == SINGULAR else culprit(work.system, work, status)
    return explanation(status, t, step, formulation, who, failure(work, status) if who else None)


def first_left_table(work: Workspace, motion: Motion, objective: str) -> str:
    """The first table that an objective leaves, in words with the time; empty when it leaves none."""
    first = len(motion.t) - 1 if work.system.objectives[objective] == "final" else 0
    for t, q, qd, qdd in zip(*(x[first:] for x in (motion.t, motion.q, motion.qd, motion.qdd)), strict=True):
        work["par"][TIME] = t
        work["q"][:], work["v"][:], work["vp"][:], work["ap"][:] = q, qd, qd, qdd
        work.call(EVALUATE)
        work.call(OBSERVE)
        left = left_table(work.system, work, objective)
        if left:
            return f"at t = {t:.6g} s {left}"
    return ""


def singular_coordinate(work: Workspace) -> str:
    """The coordinate that nothing holds, where fronts have found one; otherwise empty."""
    from kinegrad.kernels.solvers.fronts import STATUS, WHERE

    job = work["front_job"]
    return work.system.coordinates[job[WHERE]] if len(job) and job[STATUS] == SINGULAR else ""


def at_singular_position(t: float, formulation) -> str:
    """One sentence on a run that ended where constraints lose rank."""
    remedy = (
        "try a slightly different step, which steps over it"
        if formulation.type == "ali3p"
        else "use the formulation 'ali3p', which passes such positions"
    )
    return (
        f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: the mechanism reaches a singular position there, where "
        f"its constraints lose rank and other motions branch off; {remedy}."
    )


def explanation(
    status: int, t: float, h: float, formulation, who: str = "", failed: tuple[str, str] | None = None
) -> str:
    """One sentence on why a run stopped: what, when and what to try; `who` names the element when it is known, `failed` says
    what happened to it and what to try, if it says so itself."""
    newton = {
        "matrix-r": "or other degrees_of_freedom, if these no longer determine the position there",
        "recursive": "or the formulation 'index1', which solves a step by Newton's method",
    }.get(formulation.type, "or more max_iterations")
    what = {
        NOT_CONVERGED: "the Newton iterations did not converge",
        NOT_FINITE: f"the value of {who} is infinite or not a number"
        if who
        else "a number became infinite or not a number (an expression outside its domain, or a run that blew up)",
        SINGULAR: f"the system of equations became singular at {who!r}"
        if who
        else "the system of equations became singular",
        STEP_TOO_SMALL: "the error of a step stays above the tolerance, however small the step",
    }.get(status, WORDS.get(status, f"status {status}"))
    tries = {
        NOT_CONVERGED: f"try a smaller step than {h:g} s, {newton}",
        NOT_FINITE: "check its expression just after that time"
        if who
        else f"check the expressions of forces near that time, or try a smaller step than {h:g} s",
        SINGULAR: "look for a singular position there, or for a body that moves without inertia",
        LOST_RANK: f"look for a singular position there, use the formulation 'ali3p', {newton}"
        if formulation.type == "matrix-r"
        else "look for a singular position there, or use the formulation 'ali3p'",
        STEP_TOO_SMALL: "look for a force without bound there, or raise the integrator's tolerance",
        TOO_MANY_STEPS: "raise the integrator's tolerance, or simulate a shorter time",
    }.get(status, f"try a smaller step than {h:g} s")
    if failed:
        happened, tries = failed
        what = f"{who}, {happened}"
    return f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: {what}; {tries}."
