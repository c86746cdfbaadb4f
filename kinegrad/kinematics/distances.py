"""How far a start is from the poses of the bodies and from what is asked, and whether it is on their branch (KIN-12)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.coordinate_set import EULER
from kinegrad.coordinates.joint.initial_guess import initial_guess, poses_of
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import ModelWarning
from kinegrad.kernels.products import FREEDOMS, LENGTH, POSITION
from kinegrad.kinematics import branch
from kinegrad.kinematics.start import place_as_given

TURNED = 0.5 * np.pi  # that a body may be turned from its pose, what is asked aside
FAR, AWAY = np.radians(30.0), 0.5  # turns, and ways in lengths of the model, that are listed
SOME = 0.01  # of a way: less tells of poses that are singular, where either branch is that of the poses
SEEN = 1e-8  # that a measure may have other than what is asked, without a word
MOST_NAMED = 3


@dataclass(frozen=True)
class Distances:
    """How far a position is from the poses of the bodies and from what drivers and degrees of freedom ask for.

    Attributes
    ----------
    bodies : dict of name to (float, float)
        Of bodies with poses: from the origin of the pose [m], and the angle from it [rad].
    measures : dict of name to (float, float)
        Of drivers and degrees of freedom: from the value in the poses (nan where bodies have none), and from the one that is
        asked.  The rotation of a spherical or floating joint is one angle.
    length : float
        That of the model [m].
    """

    bodies: dict[str, tuple[float, float]]
    measures: dict[str, tuple[float, float]]
    length: float

    def __str__(self) -> str:
        """A line; empty without poses."""
        if not self.bodies:
            return ""
        way = max(self.bodies, key=lambda name: self.bodies[name][0])
        turn = max(self.bodies, key=lambda name: self.bodies[name][1])
        found = f"{self.bodies[way][0]:.3g} m ({way}), {np.degrees(self.bodies[turn][1]):.3g}° ({turn}) at most"
        off = [
            f"{name} {asked:.3g} from what is asked" for name, (_, asked) in self.measures.items() if abs(asked) > SEEN
        ]
        return "; ".join([found, *off[:MOST_NAMED]])

    @property
    def far(self) -> str:
        """Bodies that are far from their poses, and what was moved to get there; empty where all are near."""
        bodies = [
            f"{name} {way:.3g} m, {np.degrees(turn):.3g}°"
            for name, (way, turn) in self.bodies.items()
            if turn > FAR or way > AWAY * self.length
        ]
        if not bodies:
            return ""
        moved = [f"{name} by {way:.4g}" for name, (way, _) in self.measures.items() if abs(way) > branch.NEAR]
        return "; ".join(bodies) + (f" (moved from the poses: {', '.join(moved)})" if moved else "")

    @property
    def data(self) -> dict:
        """For JSON."""
        return {
            "bodies": {name: {"distance": way, "angle": turn} for name, (way, turn) in self.bodies.items()},
            "measures": {
                name: {"from_pose": None if np.isnan(way) else way, "from_asked": asked}
                for name, (way, asked) in self.measures.items()
            },
        }

    @property
    def facts(self) -> dict[str, str]:
        """Labels and texts, some of them empty."""
        return {"from the poses": str(self), "far from their poses": self.far}


def distances(system: System, s: np.ndarray, q: np.ndarray) -> Distances:
    """The distances of a position."""
    work = _at(system, s.real, q.real)
    poses = poses_of(system)
    bodies = {
        name: (float(np.linalg.norm(r - poses[name][0])), _angle(poses[name][1], A))
        for name, A, r in _bodies(system, work)
        if poses[name] is not None
    }
    asked, posed = _together(_lacks(system, work)), _together(_posed(system, s)) if bodies else {}
    measures = {name: (_less(asked[name], posed.get(name)), float(asked[name])) for name in asked}
    for name in measures.keys() & system.model.joints.keys():
        measures[name] = abs(measures[name][0]), measures[name][1]
    return Distances(bodies, measures, float(work["size"][LENGTH].real))


def tell_branch(system: System, work: Workspace, stacklevel: int = 3) -> None:
    """Warns where the start in the workspace, found from the poses, is on another branch than they show."""
    if all(body.pose is None for body in system.model.bodies.values()):
        return
    way = work.way
    if way is None and _hardly_moved(system, work):
        return
    joints, poses = system.set.in_joints(system), poses_of(system)
    if joints is None or not branch.follows(joints):
        return
    given = _at_poses(joints, work["s"].real if joints.kind == system.kind else None)
    carried = {name: A for name, A, _ in _bodies(joints, given)}
    if way is not None and way.closed is not None and way.reached == 1.0:
        given["q"][:] = way.closed
        given.call(POSITION)
        found = {name: A for name, A, _ in _bodies(joints, given)}
    else:
        found = {name: A for name, A, _ in _bodies(system, _at(system, work["s"].real, work["q"].real))}
    turned = {
        name: min(_angle(pose[1], found[name]), _angle(carried[name], found[name]))
        for name, pose in poses.items()
        if pose is not None
    }
    stopped = way is not None and way.closed is not None and SOME < way.reached < 1.0
    if not (max(turned.values()) > TURNED or (stopped and max(turned.values()) > branch.ALIKE)):
        return
    worst = sorted(turned, key=turned.get, reverse=True)[:MOST_NAMED]
    words = ", ".join(
        f"body {name!r} by {np.degrees(turned[name]):.0f} degrees" for name in worst if turned[name] > FAR
    )
    why = f" {branch.stopped(way)}" if stopped else ""
    warnings.warn(
        f"The start is on another branch of the assembly than the poses show: turned from the poses, what is asked aside, are "
        f"{words or 'all bodies a little'}.{why} Give poses nearer to the start, or values nearer to the poses.",
        ModelWarning,
        stacklevel=stacklevel,
    )


def _hardly_moved(system: System, work: Workspace) -> bool:
    """Whether joint coordinates, from which all bodies follow, have moved by so little from the poses, with what is asked put
    in, that no body can have turned far: turns add up, and one is at most four times what Euler parameters change."""
    if work.placed is None or system.set.spanning_tree() is None:
        return False
    arrays = work.arrays
    return bool(4.0 * (np.abs(arrays["q"] - work.placed) * arrays["per"]).sum().real < TURNED)


def _at(system: System, s: np.ndarray | None, q: np.ndarray) -> Workspace:
    work = system.workspace(s=s)
    work["q"][:], work["flag"][FREEDOMS] = q, 1
    work.call(POSITION)
    return work


def _at_poses(joints: System, s: np.ndarray | None) -> Workspace:
    """Joint coordinates at the poses, with what is asked put in."""
    work = joints.workspace(s=s)
    place_as_given(joints, work)
    work["flag"][FREEDOMS] = 1
    work.call(POSITION)
    return work


def _bodies(system: System, work: Workspace):
    """Names, orientations and origins."""
    A, r, *_ = system.set.bodies(system, work)
    return list(zip(system.model.bodies, A.real, r.real, strict=True))


def _angle(A: np.ndarray, B: np.ndarray) -> float:
    """The angle between two orientations."""
    half = np.linalg.norm(A - B) / np.sqrt(8.0)  # its sine
    return float(2.0 * np.arcsin(min(1.0, half)))


def _lacks(system: System, work: Workspace) -> dict[str, float]:
    """What measures of drivers and degrees of freedom have more than is asked, where the workspace is."""
    Phi, names = work["Phi"].real, system.row_names
    rows = {d.measure: Phi[names.index(name)] for name, d in system.model.drivers.items() if name in names}
    for i, freedom in enumerate(system.freedoms):
        if not freedom.state:
            asked = work["s"][freedom.position].real if freedom.position >= 0 else 0.0
            rows[freedom.name] = Phi[system.m + i] - asked
    return {name: float(x) for name, x in rows.items()}


def _posed(system: System, s: np.ndarray) -> dict[str, float]:
    """The same in the poses; angles have the full turns nearest to what is asked."""
    joints = system.set.in_joints(system)
    if joints is None:
        return {}
    s = s.real if joints.kind == system.kind else None
    work = joints.workspace(s=s)
    found = _lacks(joints, _at(joints, s, initial_guess(joints, work["s"].real)))
    moved, told = branch.moved_rows(joints), branch.between_posed(joints)
    for name, k, turns in zip(moved.names, moved.coordinates, moved.turns, strict=True):
        if not (told[k] if k >= 0 else told.all()):
            found.pop(name, None)
        elif turns:
            found[name] -= 2.0 * np.pi * np.round(found[name] / (2.0 * np.pi))
    return found


def _together(lacks: dict[str, float]) -> dict[str, float]:
    """The same with one angle in the place of the parts of a rotation."""
    found, parts = {}, {}
    for name, x in lacks.items():
        owner, _, part = name.partition(".")
        if part in EULER or part.startswith("rotation."):
            parts.setdefault(owner, []).append((part, x))
        else:
            found[name] = x
    for owner, several in parts.items():
        size = float(np.linalg.norm([x for _, x in several]))
        found[owner] = 4.0 * np.arcsin(min(1.0, 0.5 * size)) if several[0][0] in EULER else np.arcsin(min(1.0, size))
    return found


def _less(asked: float, posed: float | None) -> float:
    """How far what was found is from the poses; nan where these do not tell."""
    return float("nan") if posed is None else float(asked - posed)
