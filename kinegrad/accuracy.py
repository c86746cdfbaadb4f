"""What a motion says of its own accuracy: energy from nowhere.

The energy of a motion changes by the work of forces and drivers, and by nothing else.  What it differs by is judged by the
energy that moves in the run, since a potential has a zero of its own.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.formulation import EXACT
from kinegrad.kernels.prepared import Prepared
from kinegrad.kernels.products import ENERGY, EVALUATE
from kinegrad.motion import UNSEEN, Motion

TOLD = 0.01  # of the energy that moves: a balance that is off by more is told
LOOKED_INTO = 0.5  # of that, in a sample of steps: then all of them are looked at
SAMPLE = 16  # steps, at least
STANDS = 1e-5  # of the size of the model, and of a radian: what moves by less yields to penalties, or to rounding


class Balance:
    """The balance of energy in a sample of the states of runs, found by compiled code whose arguments are put down once.

    It takes single steps, of which the power at both ends gives the work; where nothing does work, energies of these states.

    Parameters
    ----------
    scheme, work
        Those of the runs.
    t, rows : arrays
        Times and states, those at the beginning of all steps and at the end, or some of them.
    """

    def __init__(self, scheme, work: Workspace, t: np.ndarray, rows: np.ndarray):
        from kinegrad.kernels.replay import energies

        count = len(t) - 1
        self.every = max(1, count // SAMPLE)
        first = np.arange(self.every // 2, count, self.every)
        pairs = np.append(np.stack([first, first + 1], axis=1), count)
        self.which = pairs if self.every > 1 else np.arange(count + 1)
        self.energy, self.off, self.t, self.work = np.zeros((len(self.which), 3)), np.zeros(2), t, work
        self.explicit = scheme.integrator.explicit
        places = np.array(scheme.formulation.places, np.int64)
        fn = work.functions(EVALUATE, ENERGY)
        arguments = fn, work.pointer, work.system.m, t, rows, places, self.which, self.energy, self.off
        self.find = Prepared(energies, arguments)

    @property
    def rows_hold(self) -> bool:
        """Whether all constraints hold at the end, whatever their lengths; after `find`, as the others here."""
        off, told = self.off.tolist()
        return off < EXACT and told == 1.0

    def is_suspicious(self, done: np.ndarray | None) -> bool:
        """Whether half as much as would be told comes from nowhere in the sample, if all steps do as it does, or as much where
        it has all states and their work; `done` is the work up to each state, where it is known."""
        kinetic, potential, power = self.energy.T.tolist()
        total, off, work, worst, moved = [a + b for a, b in zip(kinetic, potential, strict=True)], 0.0, 0.0, 0.0, 0.0
        if done is not None:
            done = done[self.which].tolist()
            worst = max(abs(e - total[0] - (w - done[0])) for e, w in zip(total, done, strict=True))
            moved = sum(abs(b - a) for a, b in pairwise(done))
        elif not any(power):
            worst = max(abs(e - total[0]) for e in total)
        else:
            t = self.t[self.which].tolist()
            for k in range(0, len(t) - 1, 1 if self.every == 1 else 2):
                work = 0.5 * (t[k + 1] - t[k]) * (power[k] + power[k + 1])
                off += total[k + 1] - total[k] - work
                worst, moved = max(worst, abs(off)), moved + abs(work)
            worst, moved = self.every * worst, self.every * moved
        moved = max(moved, max(kinetic), max(potential) - min(potential))
        is_known = self.every == 1 and (done is not None or not self.explicit or not any(power))
        told = TOLD if is_known else LOOKED_INTO * TOLD
        return not worst <= max(told * moved, UNSEEN * max(map(abs, potential)))


def remarks(motion: Motion, balance: Balance) -> tuple[str, str]:
    """Sentences on rows that are off at the end, and on energy that a motion gains or loses without any force; empty where
    there is nothing to tell.

    Energy is looked at in a sample of the steps and, where that is suspicious, in all of them.  Functions in Python are not
    called once more: of a model with such only rows are looked at.
    """
    formulation, work = motion.scheme.formulation, balance.work
    if work.calls is not None or not len(motion.hs):
        return formulation.rows_off(work), ""
    balance.find()
    rows = "" if balance.rows_hold else formulation.rows_off(work)
    return rows, in_words(motion) if balance.is_suspicious(motion.work) else ""


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
    units = np.where(system.lengths, system.model_sizes.length, 1.0)
    return bool((np.ptp(motion.q.real, axis=0) < STANDS * units).all())
