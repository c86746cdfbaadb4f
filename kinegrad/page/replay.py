"""Where bodies are, and what objectives see, at chosen states of a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, OBSERVE


@dataclass(frozen=True)
class Frames:
    """Bodies in the order of the model, by row.

    Attributes
    ----------
    origin : (rows, bodies, 3) array
        Origins of their frames, global.
    axes : (rows, bodies, 3, 3) array
        Rotation matrices: the columns are the axes of the frames.
    integrands : (rows, objectives) array
        What is integrated, or taken at the end.
    """

    origin: np.ndarray
    axes: np.ndarray
    integrands: np.ndarray


def frames(motion, rows) -> Frames:
    """Frames of all bodies and integrands of all objectives at the states `rows`.

    The frame of a body is four markers more: its origin and three unit vectors. Their components stand behind the slots of
    the model, so that any coordinate set moves them as it moves the markers of the user.
    """
    from kinegrad.kernels.replay import replay

    system, rows = motion.system, np.asarray(rows)
    bodies = list(system.model.bodies)
    first = len(motion.s)
    used = system.tables["markers"]
    extra = tuple((body, first + 3 * k, k == 0) for body in bodies for k in range(4))
    viewed = replace(system, tables={**system.tables, "every_marker": used + extra, "known": {}})
    s = np.concatenate([motion.s, np.zeros(3), np.eye(3).ravel()])
    work = viewed.workspace(s=s, every_marker=True)
    fn = work.functions(EVALUATE, ENERGY, BIAS, OBSERVE)
    states = [np.ascontiguousarray(getattr(motion, name)[rows]) for name in ("q", "qd", "qdd", "lam")]
    times = motion.t[rows]
    markers = np.zeros((len(rows), len(work["mk"]), 3, 3))
    unused = np.zeros((2, len(rows), 3))
    integrands = np.zeros((len(rows), len(system.objectives)))
    pieces = [slice(k, k + 1) for k in range(len(rows))] if system.objectives else [slice(None)]
    for piece in pieces:  # one by one where the objectives have to be read after each
        replay(fn, work.pointer, system.m, times[piece], *(x[piece] for x in states), markers[piece], *unused[:, piece])
        integrands[piece] = work["g"]
    found = markers[:, len(used) :, 0].reshape(len(rows), len(bodies), 4, 3)
    return Frames(found[:, :, 0], np.swapaxes(found[:, :, 1:], 2, 3), integrands)


def chosen_rows(t: np.ndarray, most: int) -> np.ndarray:
    """At most `most` states that are spread evenly over time, the first and the last among them."""
    if len(t) <= most:
        return np.arange(len(t))
    wanted = np.linspace(t[0], t[-1], most)
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest = after - (wanted - t[after - 1] < t[after] - wanted)
    return np.unique(nearest)
