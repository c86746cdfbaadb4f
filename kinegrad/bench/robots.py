"""Derivatives of the accelerations of robot-like trees, by positions, velocities and forces: kinegrad beside Pinocchio.

A robot is made by a rule: branches of links that turn about the axes of a word, one after the other, on a trunk that is fixed
or floats. Its numbers come from a seed. The trunk of kinegrad floats on three slides and Euler parameters, that of Pinocchio on
its free flyer, so that each has its own best. Their numbers are compared where both have the same coordinates: accelerations of
all joints and their derivatives by the joints, on which every body has its part, and the acceleration of the trunk.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinegrad.bench.chain_peers import GRAVITY

# branches of a robot: where each begins (-1: at the trunk), and the axes of its links
ROBOTS = {
    "arm": [(-1, "zyyzyz")],
    "quadruped": [(-1, "xyy")] * 4,
    "biped": [(-1, "zxyyyx")] * 2,
    "humanoid with hands": [(-1, "zxyyyx")] * 2
    + [(-1, "zyx")]
    + [branch for side in range(2) for branch in [(14, "yxzyzyx")] + [(21 + 13 * side, "zy")] * 3]
    + [(14, "zy")],
}
PEER = "Pinocchio computeABADerivatives"


class Link(NamedTuple):
    """The link that it hangs on (-1: the trunk), its axis, the place of its joint there, and its inertia."""

    parent: int
    axis: int
    at: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray


def links_of(robot: str) -> list[Link]:
    """The links of a robot, the trunk first, each branch in one piece."""
    rng = np.random.default_rng(len(robot))

    def link(parent, axis):
        at, centre = rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.1, 0.1, 3)
        return Link(parent, axis, at, rng.uniform(0.5, 5.0), centre, rng.uniform(0.5, 0.9, 3) * 0.02)

    links = [link(-1, 0)]
    for begin, axes in ROBOTS[robot]:
        parent = begin + 1
        for axis in axes:
            links.append(link(parent, "xyz".index(axis)))
            parent = len(links) - 1
    return links


class Program(NamedTuple):
    """How derivatives are computed at the state of the benchmark, and what comes out: q̈ of the trunk (0 or 6), of the joints
    (n), and the (n, n) derivatives of these by q, v and forces of the joints."""

    compute: Callable[[], object]
    results: Callable[[], tuple[np.ndarray, ...]]


class State(NamedTuple):
    """Positions, velocities and forces of the joints; orientation (x, y, z, w) of the trunk, its velocity and the wrench on it,
    linear part first, in its own frame."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    turned: np.ndarray
    twist: np.ndarray
    wrench: np.ndarray


def state_of(robot: str) -> State:
    """A state at random."""
    rng = np.random.default_rng(7)
    n = len(links_of(robot)) - 1
    turned = rng.normal(size=4)
    return State(*rng.normal(size=(3, n)), turned / np.linalg.norm(turned), *rng.normal(size=(2, 6)))


def robot_model(robot: str, floating: bool):
    """The robot as a model of kinegrad."""
    from kinegrad.model.model import Model

    links = links_of(robot)
    markers = [{"p": [0.0, 0.0, 0.0]} for _ in links]
    joints = {"base": {"type": "floating", "between": ["ground.O", "b0.p"]}} if floating else {}
    ground = {"O": [0.0, 0.0, 0.0]}
    for i, link in enumerate(links[1:], 1):
        holds_trunk = link.parent == 0 and not floating
        (ground if holds_trunk else markers[link.parent])[f"to{i}"] = link.at.tolist()
        joints[f"j{i}"] = {
            "type": "revolute",
            "between": [f"{'ground' if holds_trunk else f'b{link.parent}'}.to{i}", f"b{i}.p"],
            "axis": [int(link.axis == k) for k in range(3)],
        }
    bodies = {
        f"b{i}": {
            "mass": link.mass,
            "com": link.centre.tolist(),
            "inertia": link.inertia.tolist(),
            "markers": markers[i],
        }
        for i, link in enumerate(links)
        if floating or i
    }
    return Model(
        ground={"markers": ground},
        bodies=bodies,
        joints=joints,
        forces={"gravity": {"type": "gravity", "acceleration": list(GRAVITY)}},
    )


def kinegrad_robot(robot: str, floating: bool, state: State) -> Program:
    """kinegrad, in joint coordinates."""
    from kinegrad.coordinates.joint.recursive import Recursive
    from kinegrad.coordinates.sets import joint

    system = joint(robot_model(robot, floating))
    recursive, n = Recursive(system), len(state.q)
    of = [system.coordinates.index(f"j{i}.angle") for i in range(1, n + 1)]
    q, v, tau = np.zeros((3, system.n))
    q[of], v[of], tau[of] = state.q, state.v, state.tau
    if floating:
        base = [i for i in range(system.n) if i not in of]
        place, p = base[:3], base[3:]
        R, G = rotation(state.turned), body_rates(state.turned)
        q[p] = np.roll(state.turned, 1)
        v[place], v[p] = R @ state.twist[:3], 0.5 * G.T @ state.twist[3:]
        tau[place], tau[p] = R @ state.wrench[:3], 2.0 * G.T @ state.wrench[3:]

    def results():
        a, *by = recursive.derivatives(q, v, tau)
        trunk = np.zeros(0)
        if floating:
            linear = R.T @ a[place] - np.cross(state.twist[3:], state.twist[:3])
            trunk = np.concatenate([linear, 2.0 * G @ a[p]])
        return trunk, a[of].copy(), *(x[np.ix_(of, of)].copy() for x in by)

    return Program(lambda: recursive.derivatives(q, v, tau), results)


def pinocchio_robot(robot: str, floating: bool, state: State) -> Program:
    """Pinocchio, by `computeABADerivatives`."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    turns = [pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ]
    numbers = []
    for i, link in enumerate(links_of(robot)):
        if i == 0 and not floating:
            numbers.append(0)
            continue
        kind, at = (turns[link.axis](), link.at) if i else (pin.JointModelFreeFlyer(), np.zeros(3))
        parent = numbers[link.parent] if i else 0
        numbers.append(model.addJoint(parent, kind, pin.SE3(np.eye(3), at), f"j{i}"))
        inertia = pin.Inertia(link.mass, link.centre, np.diag(link.inertia))
        model.appendBodyToJoint(numbers[-1], inertia, pin.SE3.Identity())
    data = model.createData()
    q, v, tau = state.q, state.v, state.tau
    if floating:
        q, v = np.concatenate([np.zeros(3), state.turned, q]), np.concatenate([state.twist, v])
        tau = np.concatenate([state.wrench, tau])

    def results():
        pin.computeABADerivatives(model, data, q, v, tau)
        k = 6 * floating
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        return data.ddq[:k], data.ddq[k:], *(x[k:, k:] for x in (data.ddq_dq, data.ddq_dv, inverse))

    return Program(lambda: pin.computeABADerivatives(model, data, q, v, tau), results)


def rotation(turned):
    """The rotation matrix of Euler parameters (x, y, z, w)."""
    e, w = turned[:3], turned[3]
    return (w * w - e @ e) * np.eye(3) + 2.0 * np.outer(e, e) + 2.0 * w * _cross(e)


def body_rates(turned):
    """G (3, 4), by which Euler parameters p = (w, x, y, z) give the angular velocity 2 G ṗ in the frame of the body."""
    return np.column_stack([-turned[:3], turned[3] * np.eye(3) - _cross(turned[:3])])


def _cross(e):
    return np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
