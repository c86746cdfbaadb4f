"""The motion of the bodies at states of a motion, as the coordinate set of its system tells it."""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.products import EVALUATE, OBSERVE, TIME


class BodyMotions(NamedTuple):
    """Orientation (k, b, 3, 3) and origin (k, b, 3) of the bodies, their motion about the origin and its rate (k, b, 6)."""

    A: np.ndarray
    r: np.ndarray
    V: np.ndarray
    a: np.ndarray


def body_motions(motion, rows=slice(None)):
    """Of the states `rows` of a motion."""
    system, work, found = motion.system, motion.system.workspace(s=motion.s), []
    for t, q, qd, qdd in zip(motion.t[rows], motion.q[rows], motion.qd[rows], motion.qdd[rows], strict=True):
        work["par"][TIME] = t
        work["q"][:], work["v"][:], work["vp"][:], work["ap"][:] = q, qd, qd, qdd
        work.call(EVALUATE)
        work.call(OBSERVE)
        found.append([np.array(x) for x in system.set.bodies(system, work)])
    return BodyMotions(*(np.array(x) for x in zip(*found, strict=True)))
