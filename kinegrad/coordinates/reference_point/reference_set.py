"""The reference-point set as a system has it: where the coordinates of its bodies stand, and its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kinegrad.coordinates.arrays import element_arrays, marker_arrays, records
from kinegrad.coordinates.coordinate_set import METRE, ONE, Coordinate, CoordinateSet
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.joint.poses import poses_of
from kinegrad.coordinates.joints.poses import euler_parameters
from kinegrad.coordinates.lowered import lowered
from kinegrad.coordinates.masses import whole_body
from kinegrad.coordinates.moved_slots import MovedSlots, any_of
from kinegrad.coordinates.system import System
from kinegrad.kernels.reference_point.records import SIZE, TURN
from kinegrad.model.names import GROUND
from kinegrad.model.parameters import Parameters
from kinegrad.rotations import p_from_A, pd_from_omega, pdd_from_omegad

PARTS = {"x": METRE, "y": METRE, "z": METRE, "e0": ONE, "e1": ONE, "e2": ONE, "e3": ONE}


def nothing(joint: str):
    """No joint has coordinates of the set."""
    raise KeyError(joint)


@dataclass(frozen=True, eq=False)
class ReferencePointSet(CoordinateSet):
    """The position of the centre of mass and the Euler parameters of each body (RFP-1).

    Attributes
    ----------
    bodies_ : tuple of records
        The ground, then the bodies in the order of the model.
    place : dict body -> its record
    """

    bodies_: tuple[dict, ...]
    place: dict[str, int]
    _poses: dict = field(default_factory=dict)

    kind = "reference-point"
    option_names = ()
    linked = ("stage", "links")

    @classmethod
    def lower(cls, model, values: Mapping | None = None) -> System:
        e = Elements(model, Parameters(model.parameters), lambda joint, part: None)
        bodies, place = [{"k": -1}], {GROUND: 0}
        for name, body in model.bodies.items():
            place[name] = len(bodies)
            bodies.append({"k": len(e.coordinates), **whole_body(e.slots, f"bodies.{name}", body)})
            e.coordinates += [Coordinate(name, part, unit) for part, unit in PARTS.items()]
        for name, i in list(place.items())[1:]:
            e.norm(f"{name} norm", bodies[i]["k"] + TURN)
        for name in model.joints:
            e.close(name)
        return lowered(e, cls(tuple(bodies), place), values, nothing, nothing)

    @property
    def options(self) -> dict:
        return {}

    @cached_property
    def functions(self) -> tuple:
        from kinegrad.kernels.reference_point.functions import FUNCTIONS

        return FUNCTIONS

    @property
    def layout(self):
        from kinegrad.kernels.reference_point.functions import LAYOUT

        return LAYOUT

    def link(self, which: int, arrays: dict) -> None:
        from kinegrad.kernels.reference_point.runs import link

        link(which, arrays)

    def guess(self, system: System, s: np.ndarray, close=None) -> np.ndarray:
        """The poses that joint coordinates give: p has its largest entry positive."""
        q = []
        for B, A, r in zip(self.bodies_[1:], *poses_of(self, system.model)(system.rho.real, close), strict=True):
            q += [*(r + A @ s[B["com"] : B["com"] + 3]), *p_from_A(A)]
        return np.array(q)

    def in_joints(self, system: System) -> System:
        return poses_of(self, system.model).system.with_parameters(system.rho.real)

    def bodies(self, system: System, work) -> tuple[np.ndarray, ...]:
        moving = work["body"][1:]
        A, Ad, Add = (moving[name].reshape(-1, 3, 3) for name in ("A", "Ad", "Add"))
        k = moving["k"][:, None] + np.arange(TURN)
        c = work["s"][moving["com"][:, None] + np.arange(3)]
        r, v, a = (work[name][k] - _times(R, c) for name, R in (("q", A), ("vp", Ad), ("ap", Add)))
        turn, turned = Ad @ A.transpose(0, 2, 1), Add @ A.transpose(0, 2, 1)
        w, wd = _axial(turn), _axial(turned)
        return A, r, np.hstack([v - np.cross(w, r), w]), np.hstack([a - np.cross(wd, r) - np.cross(w, v), wd])

    def from_bodies(self, system: System, work, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
        """Centres of mass, and Euler parameters of the sign nearest to `near` (CNV-5)."""
        q, v, qdd = np.zeros((3, system.n))
        s = work["s"].real
        for i, B in enumerate(self.bodies_[1:]):
            x, p = slice(B["k"], B["k"] + TURN), slice(B["k"] + TURN, B["k"] + SIZE)
            w, wd = V[i, 3:], a[i, 3:]
            q[x] = r[i] + A[i] @ s[B["com"] : B["com"] + 3]
            v[x] = V[i, :3] + np.cross(w, q[x])
            qdd[x] = a[i, :3] + np.cross(wd, q[x]) + np.cross(w, v[x])
            q[p] = euler_parameters(A[i])
            q[p] *= -1.0 if q[p] @ near[p] < 0.0 else 1.0
            v[p], qdd[p] = pd_from_omega(q[p], w), pdd_from_omegad(q[p], w, wd)
        return q, v, qdd

    def arrays(self, system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> dict:
        from kinegrad.kernels.reference_point.functions import PARTS as OF_FUNCTIONS
        from kinegrad.kernels.reference_point.records import BODY, BODY_DUAL

        n, tables = system.n, system.tables
        used = len(tables["markers"])  # the first ones; what no element uses needs no columns
        markers, ks, axes, moved = [], [], [], MovedSlots(ds)
        for i, (body, loc, point) in enumerate(tables["every_marker" if every_marker else "markers"]):
            node = self.place[body]
            B = self.bodies_[node]
            ref = B["com"] if point and node else 0
            first = len(ks)
            if i < used and node:
                begin = 0 if point else TURN
                ks += range(B["k"] + begin, B["k"] + SIZE)
                axes += range(begin, TURN)
            axes += [3] * (len(ks) - len(axes))
            middle = len(ks)
            if i < used:
                ks += [n + j for j in moved((loc, 3), (ref, 3))]
            axes += [3] * (len(ks) - middle)
            markers.append((node, loc, ref, point, first, middle, len(ks)))
        fields = np.array(markers, np.int64).reshape(-1, 7).T
        made = marker_arrays(("node", "loc", "ref", "point", "c0", "c1", "c2"), fields, ks, axes, number)
        mk = made["mk"]
        mk["want"] = any_of(wanted, mk["loc"], 3) | any_of(wanted, mk["ref"], 3)
        touch = self.touched(system, ds)
        gravity = system.sizes["gravity"]
        touch[moved((gravity, 3))] = True
        body = records(BODY, self.bodies_, number)
        body["A"][0] = np.eye(3).ravel()
        body["want"] = self.touched(system, wanted[None, :])[0]
        return {
            "body": body,
            "body_dual": records(BODY_DUAL, [{}] * len(self.bodies_), number),
            **made,
            "touch": touch.astype(np.int64),
            "zero": np.zeros(n, number),
            "links": np.zeros(len(OF_FUNCTIONS), np.int64),
            **element_arrays(system, number, n + len(ds)),
        }

    def coupled(self, system: System) -> list[range]:
        """The coordinates of each body."""
        return [range(B["k"], B["k"] + SIZE) for B in self.bodies_[1:]]

    def touched(self, system: System, ds: np.ndarray) -> np.ndarray:
        """(directions, bodies) whether a direction changes the mass or the inertia of a body; the ground has none."""
        touch, moved = np.zeros((len(ds), len(self.bodies_)), bool), MovedSlots(ds)
        for i, B in enumerate(self.bodies_[1:], 1):
            touch[moved((B["m"], 1), (B["J"], 6)), i] = True
        return touch


def _times(R: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(b, 3) products of matrices and vectors."""
    return np.einsum("bij,bj->bi", R, c)


def _axial(R: np.ndarray) -> np.ndarray:
    """(b, 3) axial vectors of the antisymmetric parts of matrices."""
    return 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
