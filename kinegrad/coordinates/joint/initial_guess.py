"""Joint coordinates from poses of the bodies: the first guess of the assembly, which chooses its branch, and given ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.joint.spanning_tree import GROUND, TreeEdge
from kinegrad.coordinates.joints import KINDS
from kinegrad.kernels.joint.records import EULER, TURN
from kinegrad.model.poses import placed


def initial_guess(system, s: np.ndarray) -> np.ndarray:
    """q near the poses of the bodies; a joint next to a body without a pose starts at zero.

    Where coordinates are turns alone, no length changes it, and it is remembered for the axes and frames it was found with.
    """
    poses, turning = poses_of(system), _turning(system)
    if turning is None:
        return from_poses(system, s, poses)
    key, known = s[turning].tobytes(), system.tables.get("turned")
    if known is None or known[0] != key or known[1] is not poses:
        known = system.tables["turned"] = key, poses, from_poses(system, s, poses)
    return known[2].copy()


def _turning(system) -> np.ndarray | None:
    """The slots of frames and axes, which turns follow from; None where there are coordinates that are not turns."""
    if "turning" not in system.tables:
        found, motions = [], [node for branch in branches(system) for node in branch.motions]
        for branch in branches(system):
            found += [slot + k for slot in (branch.first["rot"], branch.back) if slot for k in range(9)]
        found += [node["axis"] + k for node in motions for k in range(3)]
        turns = all(node["type"] in (TURN, EULER) for node in motions)
        system.tables["turning"] = np.array(found, np.int64) if turns else None
    return system.tables["turning"]


def poses_of(system) -> dict:
    """Origins and rotation matrices of the poses by body, None without one; no parameter changes them."""
    written = tuple(body.pose for body in system.model.bodies.values())
    known = system.tables.get("poses")
    if known is None or any(a is not b for a, b in zip(known[0], written, strict=True)):
        found = (placed(pose, system.parameters.evaluate) for pose in written)
        known = system.tables["poses"] = written, dict(zip(system.model.bodies, found, strict=True))
    return known[1]


class Branch(NamedTuple):
    """An edge of the tree with what of it no number changes.

    `first` is the first of its nodes, `back` the slot of the rotation behind its motions, or 0, `ref` that of the reference
    point of the child, and `motions` are its nodes that have coordinates.
    """

    edge: TreeEdge
    first: dict
    back: int
    ref: int
    motions: list[dict]


def branches(system) -> list[Branch]:
    """The edges of the tree, looked up once in a system."""
    if "branches" not in system.tables:
        nodes, place, found = system.set.nodes, system.set.place, []
        for edge in system.set.tree.edges:
            last, ref = place[edge.child]
            chain = [last]
            while nodes[chain[-1]]["parent"] != place[edge.parent][0]:
                chain.append(nodes[chain[-1]]["parent"])
            chain.reverse()
            back = nodes[last]["rot"] if last != chain[0] and nodes[last]["nk"] == 0 else 0
            motions = [nodes[i] for i in chain if nodes[i]["nk"]]
            found.append(Branch(edge, nodes[chain[0]], back, ref, motions))
        system.tables["branches"] = found
    return system.tables["branches"]


def from_poses(system, s: np.ndarray, poses: dict) -> np.ndarray:
    """q nearest to origins and rotation matrices (r, A) of bodies by name; a joint next to a body with None is at zero."""
    q = np.zeros(system.n)
    pose = {GROUND: (np.zeros(3), np.eye(3))} | poses
    for edge, first, back, ref, motions in branches(system):
        r, A = pose[edge.parent]
        B = A @ s[first["rot"] : first["rot"] + 9].reshape(3, 3) if first["rot"] else A
        C2 = s[back : back + 9].reshape(3, 3).T if back else None
        x1 = r + A @ s[first["off"] : first["off"] + 3]
        if pose[edge.child] is None:
            values = {k: [0.0] for k in range(len(motions))}
        else:
            r2, A2 = pose[edge.child]
            x2 = r2 + A2 @ s[ref : ref + 3]
            R, d = B.T @ (A2 if C2 is None else A2 @ C2), B.T @ (x2 - x1)
            if edge.reversed:
                R, d = R.T, -R.T @ d
            order = motions[::-1] if edge.reversed else motions
            axes = [s[node["axis"] : node["axis"] + 3] for node in order]
            pitch = s[order[0]["pitch"]] if order else 0.0
            values = dict(enumerate(KINDS[edge.type].extract(R, d, axes, pitch)))
            if edge.reversed:
                values = {len(order) - 1 - k: v for k, v in values.items()}
        for k, node in enumerate(motions):
            value = values[k] if len(values[k]) == node["nk"] else [1.0, 0.0, 0.0, 0.0]
            if node["nk"] == 4 and edge.reversed:
                value = [value[0], *(-x for x in value[1:])]
            q[node["k"] : node["k"] + node["nk"]] = value
        if pose[edge.child] is None:
            A2 = B if C2 is None else B @ C2.T
            pose[edge.child] = (x1 - A2 @ s[ref : ref + 3], A2)
    return q
