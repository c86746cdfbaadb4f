"""Where bodies are and how they move, at chosen states of a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, OBSERVE

BLOCK = 1 << 17  # markers at all states that are looked at together


@dataclass(frozen=True)
class Frames:
    """Bodies in the order of the model, by row.

    Attributes
    ----------
    origin : (rows, bodies, 3) array
        Origins of their frames, global.
    axes : (rows, bodies, 3, 3) array
        Rotation matrices: the columns are the axes of the frames.
    velocity, spin : (rows, bodies, 3) array
        Velocities of the origins and angular velocities, global.
    """

    origin: np.ndarray
    axes: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


def frames(motion, rows) -> Frames:
    """Frames of all bodies at the states `rows`.

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
    found = motion.scheme.motion(motion.traj[rows])  # whose multipliers move nothing, and converted motions have none
    states = [np.ascontiguousarray(found[name]) for name in ("q", "qd", "qdd", "lam")]
    shape = len(rows), len(bodies), 3
    whole = Frames(np.empty(shape), np.empty((*shape, 3)), np.empty(shape), np.empty(shape))
    count = max(1, BLOCK // (len(work["mk"]) + 1))
    for first in range(0, len(rows), count):
        part = slice(first, first + count)
        t = motion.t[rows[part]]
        markers, unused = np.zeros((len(t), len(work["mk"]), 3, 3)), np.zeros((2, len(t), 3))
        replay(fn, work.pointer, system.m, t, *(one[part] for one in states), markers, *unused)
        found = markers[:, len(used) :].reshape(len(t), len(bodies), 4, 3, 3)
        x, v = found[..., 0, :], found[..., 1, :]
        whole.origin[part], whole.velocity[part] = x[:, :, 0], v[:, :, 0]
        whole.axes[part] = np.swapaxes(x[:, :, 1:], 2, 3)
        whole.spin[part] = 0.5 * np.cross(x[:, :, 1:], v[:, :, 1:]).sum(axis=2)  # of unit vectors: w = sum a x a' / 2
    return whole


def chosen_rows(t: np.ndarray, most: int) -> np.ndarray:
    """At most `most` states that are spread evenly over time, the first and the last among them."""
    if len(t) <= most:
        return np.arange(len(t))
    wanted = np.linspace(t[0], t[-1], most)
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest = after - (wanted - t[after - 1] < t[after] - wanted)
    return np.unique(nearest)
