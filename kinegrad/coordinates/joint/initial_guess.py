"""Joint coordinates from poses of the bodies: the first guess of the assembly, which chooses its branch, and given ones."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joint.spanning_tree import GROUND
from kinegrad.coordinates.joints import KINDS
from kinegrad.model.poses import placed


def initial_guess(system, s: np.ndarray) -> np.ndarray:
    """q near the poses of the bodies; a joint next to a body without a pose starts at zero."""
    return from_poses(
        system, s, {name: placed(body.pose, system.parameters.evaluate) for name, body in system.model.bodies.items()}
    )


def from_poses(system, s: np.ndarray, poses: dict) -> np.ndarray:
    """q nearest to origins and rotation matrices (r, A) of bodies by name; a joint next to a body with None is at zero."""
    q = np.zeros(system.n)
    pose = {GROUND: (np.zeros(3), np.eye(3))} | poses
    nodes = system.set.nodes
    place = system.set.place
    for edge in system.set.tree.edges:
        last = place[edge.child][0]
        chain = [last]
        while nodes[chain[-1]]["parent"] != place[edge.parent][0]:
            chain.append(nodes[chain[-1]]["parent"])
        chain.reverse()
        first = nodes[chain[0]]
        r, A = pose[edge.parent]
        C1 = s[first["rot"] : first["rot"] + 9].reshape(3, 3) if first["rot"] else np.eye(3)
        back = nodes[last]["rot"] if last != chain[0] and nodes[last]["nk"] == 0 else 0
        C2 = s[back : back + 9].reshape(3, 3).T if back else np.eye(3)
        x1 = r + A @ s[first["off"] : first["off"] + 3]
        ref = place[edge.child][1]
        motions = [nodes[i] for i in chain if nodes[i]["nk"]]
        if pose[edge.child] is None:
            values = {k: [0.0] for k in range(len(motions))}
        else:
            r2, A2 = pose[edge.child]
            x2 = r2 + A2 @ s[ref : ref + 3]
            B = A @ C1
            R, d = B.T @ A2 @ C2, B.T @ (x2 - x1)
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
            A2 = A @ C1 @ C2.T
            pose[edge.child] = (x1 - A2 @ s[ref : ref + 3], A2)
    return q
