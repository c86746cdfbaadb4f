"""Joint coordinates, their rates and accelerations from the motion of the bodies (CNV-1 to CNV-3)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joint.initial_guess import from_poses
from kinegrad.coordinates.joint.spanning_tree import GROUND
from kinegrad.kernels.joint.records import EULER, SCREW, TURN
from kinegrad.kernels.products import LENGTH, OBSERVE, POSITION

TURNS = 2.0 * np.pi


def from_bodies(system, work, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
    """q, v, a of bodies in the order of the model; V and a are motions about the global origin."""
    coordinates, names = system.set, list(system.model.bodies)
    s = work["s"].real
    q = from_poses(system, s, {name: (r[i], A[i]) for i, name in enumerate(names)})
    for node in coordinates.nodes:
        k, pitch = node["k"], s[node["pitch"]]
        if node["type"] == EULER:
            q[k : k + 4] *= -1.0 if q[k : k + 4] @ near[k : k + 4] < 0.0 else 1.0
        elif node["type"] == TURN or (node["type"] == SCREW and pitch == 0.0):
            q[k] += TURNS * np.round((near[k] - q[k]) / TURNS)
    work["q"][:] = q
    work["vp"][:] = work["ap"][:] = 0.0
    work.call(POSITION)
    work.call(OBSERVE)
    v = _rates(system, work, dict(zip(names, V, strict=True)))
    work["vp"][:] = v
    work.call(OBSERVE)
    still = dict(zip(names, coordinates.bodies(system, work)[3], strict=True))
    rest = {name: a[i] - still[name] for i, name in enumerate(names)}
    qdd = _rates(system, work, rest)
    for k, _ in coordinates.euler.values():
        four = slice(k, k + 4)
        qdd[four] -= q[four] * (v[four] @ v[four]) / (q[four] @ q[four])
    return q, v, qdd


def _rates(system, work, motion: dict) -> np.ndarray:
    """(n,) u with screws·u = the motion of each body against that of its parent, joint by joint (CNV-2)."""
    u = np.zeros(system.n)
    place, node, coord = system.set.place, work["node"], work["coord"]
    motion = {GROUND: np.zeros(6)} | motion
    unit, per = work["unit"].real, np.repeat([1.0 / work["size"][LENGTH].real, 1.0], 3)
    for edge in system.set.tree.edges:
        first, last = place[edge.parent][0], place[edge.child][0]
        ks = []
        while last != first:
            ks = [*range(node[last]["k"], node[last]["k"] + node[last]["nk"]), *ks]
            last = node[last]["parent"]
        if not ks:
            continue
        x = node[place[edge.child][0]]["r"]  # a point of the joint: arms from the origin may be long
        screws = np.array([_about(x, coord[k]["b"]) for k in ks]).T
        right = per * _about(x, motion[edge.child] - motion[edge.parent])
        u[ks] = unit[ks] * np.linalg.lstsq(per[:, None] * screws * unit[ks], right, rcond=1e-9)[0]
    return u


def _about(x: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """A motion about the global origin as one about the point x."""
    return np.concatenate([motion[:3] + np.cross(motion[3:], x), motion[3:]])
