"""What a motion says of its own accuracy: energy from nowhere.

The energy of a motion changes by the work of forces and drivers, and by nothing else.  What it differs by is judged by the
energy that moves in the run, since a potential has a zero of its own.
"""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.sizes import sizes_of
from kinegrad.coordinates.workspace import Workspace
from kinegrad.motion import Energies, Motion, Power, Replay, has_power

TOLD = 0.01  # of the energy that moves: a balance that is off by more is told
LOOKED_INTO = 0.5  # of that, in a sample of steps: then all of them are looked at
SAMPLE = 16  # steps, at least
STANDS = 1e-5  # of the size of the model, and of a radian: what moves by less yields to penalties, or to rounding


def energy_from_nowhere(motion: Motion, work: Workspace) -> str:
    """A sentence on energy that a motion gains or loses without any force, from a sample of its steps and, where that is
    suspicious, from all of them; empty if there is nothing to tell.

    `work` is a workspace of the system, with the slots of the motion.  Functions in Python are not called once more.
    """
    if work.calls is not None or not len(motion.hs):
        return ""
    every = max(1, len(motion.t) // SAMPLE)
    if every > 1 and not _sampled(motion, work, every) > LOOKED_INTO * TOLD:
        return ""
    return in_words(motion)


def in_words(motion: Motion) -> str:
    """The sentence, from all states of a motion; empty where its energy balances."""
    energies = motion.energies
    if not energies.drift_part > TOLD or _stands(motion):
        return ""
    implicit = ", an implicit integrator" if motion.scheme.integrator.explicit else ""
    other = "another formulation" if motion.system.kind == "joint" else "joint coordinates"
    return (
        f"Energy comes from nowhere, or is lost: with the work of forces and drivers counted it is off by "
        f"{energies.drift_in_words}; take {motion.scheme.integrator.finer}{implicit} or {other}."
    )


def _stands(motion: Motion) -> bool:
    """Whether nothing moves."""
    system = motion.system
    units = np.where(system.lengths, sizes_of(system).length, 1.0)
    return bool((np.ptp(motion.q.real, axis=0) < STANDS * units).all())


def _sampled(motion: Motion, work: Workspace, every: int) -> float:
    """The part of the energy that moves by which it is off, as far as one of so many steps tells."""
    replay = Replay(motion, with_markers=False, work=work)
    if motion.work is not None or not has_power(work):
        rows = np.append(np.arange(0, len(motion.t) - 1, every), len(motion.t) - 1)
        T, V, _ = replay(rows)["energy"].T
        done = np.zeros(len(rows)) if motion.work is None else motion.work[rows]
        return Energies(T, V, done).drift_part
    first = np.arange(every // 2, len(motion.hs), every)
    rows = np.stack([first, first + 1], axis=1).ravel()
    hs = np.zeros(len(rows) - 1)
    hs[::2] = motion.hs[first]
    T, V, _ = replay(rows)["energy"].T
    power = Power(motion.system, motion.s, work)
    done = motion.scheme.integrals(motion.ts[rows], hs, motion.traj[rows], power).real[::2]
    off = np.diff(T + V)[::2] - done
    return Energies(T, V, every * np.cumsum(np.append(0.0, done))).part(every * float(np.abs(np.cumsum(off)).max()))
