"""Reactions of joints and constraints, and forces of drivers, from the balance of the bodies (REA-2 to REA-5).

Wrenches are taken about the global origin. Unknown is what closes the loops: reactions of cut joints and links, of
constraints, and the forces of drivers. The reaction of a joint in the tree follows from them by a sum over all bodies
beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinegrad.coordinates.joint.spanning_tree import GROUND, spanning_tree
from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.poses import both_across
from kinegrad.coordinates.system import System
from kinegrad.kinematics.start import RANK_TOLERANCE
from kinegrad.model import names
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.constraints import (
    Angle,
    Coincidence,
    Distance,
    Dot,
    Guidance,
    Parallel,
    PointInPlane,
    PointOnLine,
    SameDirection,
    SphericalStart,
)
from kinegrad.quiet import without_warnings
from kinegrad.reactions.joints import Directions, free_directions
from kinegrad.reactions.numbers import MassProperties, Numbers
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.states import ExpressionRow, States, chunks, expression_rows, states_of

NOT_UNIQUE = 1e-6  # share of an unknown wrench of unit size that a component can take without anything else changing
SAME_POINT = 1e-12  # of their distance from the origin: points that are nearer are one
NUMBERS_AT_ONCE = 2_000_000


def wrench(F: np.ndarray, x: np.ndarray, N: np.ndarray | float = 0.0) -> np.ndarray:
    """The wrench (k, 6) about the origin of a force F at x and a moment N."""
    return np.concatenate([F, np.cross(x, F) + N], axis=1)


def shifted(W: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Wrenches (k, 6, c) about the origin, taken about x (k, 3)."""
    out = W.copy()
    out[:, 3:] -= np.cross(x[:, :, None], W[:, :3], axis=1)
    return out


def dual(S: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Sᵀ W of each state."""
    return S.transpose(0, 2, 1) @ W


@dataclass
class Unknown:
    """Wrenches of unit size that an element can exert: on bodies (k, 6, c), on coordinates (k, c), and where it is told.

    `on` maps a body to its wrenches; `about` is the point of the element's reaction and `body` the body it is on.
    """

    name: str
    size: int
    on: dict[str, np.ndarray] = field(default_factory=dict)
    coordinates: dict[int, np.ndarray] = field(default_factory=dict)
    body: str | None = None
    about: np.ndarray | None = None
    columns: slice | None = None

    def pair(self, first: str, second: str, W: np.ndarray) -> None:
        """W on the second body, -W on the first."""
        for body, wrenches in ((second, W), (first, -W)):
            if body != GROUND:
                self.on[body] = self.on.get(body, 0.0) + wrenches


class Balance:
    """The balance of all bodies at k states."""

    def __init__(self, system: System, numbers: Numbers, masses: MassProperties, states: States, rows, held: bool):
        self.system, self.numbers, self.states, self.rows = system, numbers, states, rows
        self.model = system.model
        self.tree = system.set.spanning_tree() or spanning_tree(self.model)
        self.index = {body: i for i, body in enumerate(self.model.bodies)}
        self.edges = {edge.joint: edge for edge in self.tree.edges}
        self.k = len(states.A)
        self.angles = {own.k: system.coordinates[own.k] for own in system.own if own.row >= 0}
        self.length = self._length()
        self.unknowns = self._unknowns(held)
        self.width = sum(u.size for u in self.unknowns)
        self.pushed = self._summed(self._on_angles()[:, :, :, None])
        self.beyond = self._summed(self._needed(masses)[:, :, :, None]) + self.pushed
        self.answers = self._summed(self._exerted()) if self.width else np.zeros((self.k, len(self.index), 6, 0))
        self.joints = {edge.joint: self._directions(edge.joint) for edge in self.tree.edges}
        self.y, self.loose = self._solve()

    # --- geometry ---

    def orientation(self, body: str) -> np.ndarray:
        if body == GROUND:
            return np.broadcast_to(np.eye(3), (self.k, 3, 3))
        return self.states.A[:, self.index[body]]

    def marker(self, name: str) -> tuple[str, np.ndarray]:
        """Body of a marker and its global position, or direction, (k, 3)."""
        body, local = self.numbers.marker(name)
        x = self.orientation(body) @ local
        if body == GROUND or isinstance(names.find_marker(self.model, name)[1], VectorMarker):
            return body, x
        return body, x + self.states.r[:, self.index[body]]

    def ends(self, name: str) -> tuple[str, np.ndarray, str, np.ndarray]:
        """Bodies and points of a joint or of a constraint between two points: first, second."""
        element = self.model.joints.get(name) or self.model.constraints.get(name)
        if element is None:  # a floating joint that was added for a chain without ground
            body = self.edges[name].child
            return GROUND, np.zeros((self.k, 3)), body, self.states.r[:, self.index[body]]
        (first, x1), (second, x2) = map(self.marker, element.between)
        return first, x1, second, x2

    def _directions(self, name: str) -> Directions:
        first, x1, second, x2 = self.ends(name)
        A1, A2 = self.orientation(first), self.orientation(second)
        return free_directions(self.numbers, name, self.model.joints.get(name), A1, A2, x2 - x1)

    def _length(self) -> float:
        """The size of the mechanism: it makes moments and forces comparable."""
        points = [self.ends(name)[i][0] for name in self.model.joints for i in (1, 3)]
        spread = np.ptp(points, axis=0).max() if points else 0.0
        return float(spread) if points and spread > SAME_POINT * np.abs(points).max() else 1.0

    # --- what is known ---

    def _needed(self, masses: MassProperties) -> np.ndarray:
        """(k, b, 6) rate of momentum less the loads: what joints and constraints have to give (REA-2)."""
        s = self.states
        c = s.r + np.einsum("kbij,bj->kbi", s.A, masses.com)
        J = s.A @ masses.J @ s.A.transpose(0, 1, 3, 2)
        v, w, av, aw = s.V[..., :3], s.V[..., 3:], s.a[..., :3], s.a[..., 3:]
        acceleration = av + np.cross(aw, c) + np.cross(w, v + np.cross(w, c))
        F = masses.mass[:, None] * (acceleration - self.numbers.gravity())
        spin = np.einsum("kbij,kbj->kbi", J, w)
        N = np.einsum("kbij,kbj->kbi", J, aw) + np.cross(w, spin) + np.cross(c, F)
        out = np.concatenate([F, N], axis=2)
        for i, (body, _, point) in enumerate(self.system.tables["markers"]):
            if body != GROUND:
                load = wrench(s.f[:, i], s.x[:, i])
                out[:, self.index[body], 0 if point else 3 :] += load[:, 0 if point else 3 :]
        return out

    def _on_angles(self) -> np.ndarray:
        """(k, b, 6) loads on angles of cut joints that are coordinates, as they act on the bodies of the joints."""
        out = np.zeros((self.k, len(self.index), 6))
        for k, angle in self.angles.items():
            load = Unknown(angle, 1)
            self._push(load, angle.owner, self._along(angle.owner, angle.part))
            for body, W in load.on.items():
                out[:, self.index[body]] += self.states.R[:, k, None] * W[:, :, 0]
        return out

    # --- what is not ---

    def _unknowns(self, held: bool) -> list[Unknown]:
        closed = (*self.tree.cut, *self.tree.links)
        found = [self._cut(name) for name in closed if KINDS[self.model.joints[name].type].n_rows]
        for name, c in self.model.constraints.items():
            if isinstance(c, Coincidence):
                found.append(self._point(name))
            elif isinstance(c, Distance):
                found.append(self._line(name))
            elif isinstance(c, Dot | Angle):
                found.append(self._vectors_held(name, c))
            elif isinstance(c, Parallel | SameDirection):
                found.append(self._vectors_parallel(name, c))
            elif isinstance(c, PointOnLine):
                found.append(self._point_held(name, both_across(self.marker(c.along)[1])))
            elif isinstance(c, PointInPlane):
                found.append(self._point_held(name, [self.marker(c.normal)[1]]))
            elif isinstance(c, Guidance) and c.marker:
                found.append(self._guided(name, c.marker))
        apart = {name for name, c in self.model.constraints.items() if isinstance(c, Guidance) and c.marker}
        free = {name for name, start in self.model.degrees_of_freedom.items() if isinstance(start, SphericalStart)}
        for i, row in enumerate(self.rows):
            owner = row.name.rpartition(".")[0]
            if owner not in apart and owner not in free:
                joint, _, part = row.name.rpartition(".")
                on_cut = joint in self.tree.cut and row.number >= self.system.m
                found.append(self._coordinate(row.name, joint, part) if on_cut else self._measure(i, row))
        if held:
            found += [self._turned(name) for name in free]
        first = 0
        for unknown in found:
            unknown.columns = slice(first, first + unknown.size)
            first += unknown.size
        return found

    def _cut(self, name: str) -> Unknown:
        first, x1, second, x2 = self.ends(name)
        W = self._directions(name).C.copy()
        W[:, :, 3:] *= self.length  # unknown moments are counted as forces at the size of the mechanism
        W[:, 3:] += np.cross(x2[:, :, None], W[:, :3], axis=1)
        unknown = Unknown(name, 6, body=second, about=x1)
        unknown.pair(first, second, W)
        return unknown

    def _line(self, name: str) -> Unknown:
        first, x1, second, x2 = self.ends(name)
        u = (x2 - x1) / np.linalg.norm(x2 - x1, axis=1, keepdims=True)
        unknown = Unknown(name, 1, body=second, about=x1)
        unknown.pair(first, second, wrench(u, x2)[:, :, None])
        return unknown

    def _point(self, name: str) -> Unknown:
        first, x1, second, x2 = self.ends(name)
        unknown = Unknown(name, 3, body=second, about=x1)
        unknown.pair(first, second, self._forces_at(x2))
        return unknown

    def _guided(self, name: str, marker: str) -> Unknown:
        body, x = self.marker(marker)
        unknown = Unknown(name, 3, body=body, about=x)
        unknown.pair(GROUND, body, self._forces_at(x))
        return unknown

    @staticmethod
    def _forces_at(x: np.ndarray) -> np.ndarray:
        axes = [np.broadcast_to(axis, x.shape) for axis in np.eye(3)]
        return np.stack([wrench(axis, x) for axis in axes], axis=2)

    def _vectors_held(self, name: str, constraint) -> Unknown:
        (first, a), (second, b) = map(self.marker, constraint.between)
        N = np.cross(b, a)
        unknown = Unknown(name, 1, body=second, about=np.zeros((self.k, 3)))
        unknown.pair(first, second, wrench(np.zeros_like(N), np.zeros_like(N), self.length * N)[:, :, None])
        return unknown

    def _vectors_parallel(self, name: str, constraint) -> Unknown:
        """Moments across the vectors."""
        (first, a), (second, _) = map(self.marker, constraint.between)
        still = np.zeros_like(a)
        unknown = Unknown(name, 2, body=second, about=still)
        moments = [wrench(still, still, self.length * N) for N in both_across(a)]
        unknown.pair(first, second, np.stack(moments, axis=2))
        return unknown

    def _point_held(self, name: str, directions: list[np.ndarray]) -> Unknown:
        """Forces on the second point along these directions."""
        first, _, second, x = self.ends(name)
        unknown = Unknown(name, len(directions), body=second, about=x)
        unknown.pair(first, second, np.stack([wrench(u, x) for u in directions], axis=2))
        return unknown

    def _measure(self, number: int, row: ExpressionRow) -> Unknown:
        unknown = Unknown(row.name, 1)
        gradient, markers = self.states.gradients[number], self.system.tables["markers"]
        for j, (marker, component) in enumerate(row.scalars):
            if component in self.angles and marker < 0:
                angle = self.angles[component]
                self._push(unknown, angle.owner, gradient[:, j, None, None] * self._along(angle.owner, angle.part))
                continue
            if marker < 0:
                unknown.coordinates[component] = unknown.coordinates.get(component, 0.0) + gradient[:, j : j + 1]
                continue
            body, _, point = markers[marker]
            f = np.zeros((self.k, 3))
            f[:, component] = gradient[:, j]
            W = wrench(f, self.states.x[:, marker])
            W[:, :3] *= point
            unknown.pair(GROUND, body, W[:, :, None])
        return unknown

    def _turned(self, name: str) -> Unknown:
        """Force and moment on a joint that starts with an orientation: all that it leaves free."""
        _, _, second, x2 = self.ends(name)
        D = self._directions(name).D
        unknown = Unknown(name, D.shape[2], body=second, about=x2)
        self._push(unknown, name, D)
        return unknown

    def _coordinate(self, name: str, joint: str, part: str) -> Unknown:
        """Force on a coordinate of a cut joint, as it would act in the tree: however the coordinate is measured."""
        unknown = Unknown(name, 1)
        self._push(unknown, joint, self._along(joint, part))
        return unknown

    def _along(self, joint: str, part: str) -> np.ndarray:
        """(k, 6, 1) the wrench of a unit force on a coordinate of a joint, on its second body at its second marker."""
        free = self._directions(joint)
        return free.D[:, :, [free.parts.index(part)]]

    def _push(self, unknown: Unknown, joint: str, D: np.ndarray) -> None:
        """Wrenches D (k, 6, c) at the second marker of a joint, on its second body and back on its first."""
        first, _, second, x2 = self.ends(joint)
        W = D.copy()
        W[:, 3:] += np.cross(x2[:, :, None], W[:, :3], axis=1)
        unknown.pair(first, second, W)

    def _exerted(self) -> np.ndarray:
        """(k, b, 6, columns) wrenches of the unknowns on the bodies."""
        out = np.zeros((self.k, len(self.index), 6, self.width))
        for unknown in self.unknowns:
            for body, W in unknown.on.items():
                out[:, self.index[body], :, unknown.columns] += W
        return out

    # --- the balance ---

    def _summed(self, W: np.ndarray) -> np.ndarray:
        """Sums over each body and all beyond it."""
        W = W.copy()
        for edge in reversed(self.tree.edges):
            if edge.parent != GROUND:
                W[:, self.index[edge.parent]] += W[:, self.index[edge.child]]
        return W

    def _solve(self) -> tuple[np.ndarray, np.ndarray]:
        """(k, columns, 1) unknowns of least norm, and (k, columns, columns) what may be added to them (REA-3)."""
        left, right = [], []
        for edge in self.tree.edges:
            free = self.joints[edge.joint]
            sign = -1.0 if edge.reversed else 1.0
            x2 = self.ends(edge.joint)[3]
            G = sign * dual(free.S, shifted(self.answers[:, self.index[edge.child]], x2))
            b = sign * dual(free.S, shifted(self.beyond[:, self.index[edge.child]], x2))
            pushed = sign * dual(free.S, shifted(self.pushed[:, self.index[edge.child]], x2))
            for i, part in enumerate(free.parts):
                k = self.system.set.joint_coordinate(edge.joint, part)
                if k is None:
                    continue
                b[:, i, 0] = self.states.R[:, k] + pushed[:, i, 0]  # less the loads that act on the coordinate itself
                for unknown in self.unknowns:
                    if k in unknown.coordinates:
                        G[:, i, unknown.columns] += unknown.coordinates[k]
            left.append(G)
            right.append(b)
        G, b = np.concatenate(left, axis=1), np.concatenate(right, axis=1)
        if not self.width:
            self.residual = np.abs(b[:, :, 0]).max(axis=1, initial=0.0)
            return np.zeros((self.k, 0, 1)), np.zeros((self.k, 0, 0))
        inverse = np.linalg.pinv(G, rcond=RANK_TOLERANCE * self._more_than_seen(G))
        y = inverse @ b
        y += inverse @ (b - G @ y)
        self.residual = np.abs(b - G @ y)[:, :, 0].max(axis=1, initial=0.0)
        return y, np.eye(self.width) - inverse @ G

    def _more_than_seen(self, G: np.ndarray) -> np.ndarray:
        """(k,) how much more the unknowns could do to the balance G than they do, at least 1.

        Where all of them act on nothing that is free, as two ball joints at one point do, only rounding is left in G: it must
        not be judged by its own size.
        """
        exerted = self._exerted()
        forces, moments = (np.linalg.norm(exerted[:, :, part], axis=2) for part in (slice(3), slice(3, 6)))
        could = np.where(forces > 0.0, forces * min(1.0, self.length), moments).max(axis=(1, 2))
        does = np.linalg.norm(G, axis=(1, 2))
        return np.maximum(1.0, could / np.maximum(does, 1e-300))

    def reaction(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(k, 6) force and moment of a joint or constraint, and (6,) whether each component is unique (REA-4, REA-5)."""
        edge = self.edges.get(name)
        if edge is not None:
            sign = -1.0 if edge.reversed else 1.0
            _, x1, _, x2 = self.ends(name)
            C = self.joints[name].C
            own = sign * (C @ shifted(self.beyond[:, self.index[edge.child]], x2))
            by = -sign * (C @ shifted(self.answers[:, self.index[edge.child]], x2))
            own, by = (shifted(W, x1 - x2) for W in (own, by))
        else:
            unknown = next((u for u in self.unknowns if u.name == name), None)
            if unknown is None:  # a floating joint holds nothing
                return np.zeros((self.k, 6)), np.ones(6, bool)
            by = np.zeros((self.k, 6, self.width))
            sign, body = (1.0, unknown.body) if unknown.body != GROUND else (-1.0, next(iter(unknown.on)))
            by[:, :, unknown.columns] = sign * shifted(unknown.on[body], unknown.about)
            own = np.zeros((self.k, 6, 1))
        scale = np.array([1.0] * 3 + [self.length] * 3)
        change = np.linalg.norm(by @ self.loose, axis=2) / scale if self.width else np.zeros((self.k, 6))
        return (own + by @ self.y)[:, :, 0], (change <= NOT_UNIQUE).all(axis=0)

    def force(self, unknown: Unknown) -> tuple[np.ndarray, np.ndarray]:
        """(k, size) force of a driver, or of another row of a measure, and whether it is unique."""
        loose = np.linalg.norm(self.loose[:, unknown.columns], axis=2)
        return self.y[:, unknown.columns, 0], (loose <= NOT_UNIQUE).all(axis=0)


@without_warnings
def reactions(system: System, t, q, qd, qdd, *, s=None, held: bool = False) -> Reactions:
    """Reactions at k states of a system.

    Parameters
    ----------
    t : (k,) array
    q, qd, qdd : (k, n) arrays
    s : array, optional
        Values of the slots in place of those of the parameters.
    held : bool
        Take the degrees of freedom as driven: their forces are then told, like those of drivers.
    """
    numbers = Numbers(system)
    masses = numbers.masses(system.model.bodies)
    rows = expression_rows(system, held)
    t, q, qd, qdd = (np.asarray(x) for x in (t, q, qd, qdd))
    size = max(1, NUMBERS_AT_ONCE // (6 * len(system.model.bodies) * (system.m + len(system.freedoms) + 6)))
    pieces = []
    for part in chunks(len(t), size):
        states = states_of(system, s, t[part], q[part], qd[part], qdd[part], rows)
        pieces.append(_piece(Balance(system, numbers, masses, states, rows, held)))
    return Reactions.joined(t, pieces)


def _piece(balance: Balance) -> dict:
    """Reactions, forces, powers and uniqueness of some states."""
    model = balance.model
    wrenches = [
        *model.joints,
        *(u.name for u in balance.unknowns if u.about is not None and u.name in model.constraints),
    ]
    out = {
        "reactions": {name: balance.reaction(name) for name in wrenches},
        "forces": {},
        "powers": {},
        "residual": balance.residual,
    }
    rates = {row.name: balance.states.rates[:, i] for i, row in enumerate(balance.rows)}
    for unknown in balance.unknowns:
        if unknown.name in out["reactions"] and unknown.name not in model.degrees_of_freedom:
            continue
        value, unique = balance.force(unknown)
        out["forces"][unknown.name] = (value[:, 0] if unknown.size == 1 else value), unique
        if unknown.name in rates:
            out["powers"][unknown.name] = value[:, 0] * rates[unknown.name]
    return out
