"""The same motions without kinegrad: one rigid body by Newton and Euler with rows of constraints, and closed forms of some.

The unknowns are accelerations of the centre of mass and of the rotation, in global axes, and a multiplier for each row; rows
are stabilised.  What is known of a case are its numbers (start, axes, inertia, points), not its model.  Run as a program it
writes `independent.json`, what `quantities` gives of all cases: a minute or two.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

G, RATE = np.array([0.0, 0.0, -9.80665]), 20.0  # gravity; 1/s, of errors of rows
EYE = np.eye(3)


class Rows(NamedTuple):
    """Directions that the point of the joint may not move along; pairs of a global and a body vector that stay perpendicular;
    whether the point keeps its distance of 2 m."""

    along: tuple = ()
    across: tuple = ()
    tied: bool = False


def rotation(p: np.ndarray) -> np.ndarray:
    """By Euler parameters."""
    w, v = p[0], p[1:]
    return (w * w - v @ v) * EYE + 2.0 * (np.outer(v, v) + w * skew(v))


def skew(v: np.ndarray) -> np.ndarray:
    """The matrix of v ×."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class Body:
    """A case: numbers of the body, rows, a law (length, rate) of the pull of a spring, a torque (angle, rate) about y."""

    def __init__(self, case, rows: Rows, pull: Callable | None = None, torque: Callable | None = None):
        x, z = (np.array(v, float) / np.linalg.norm(v) for v in (case.x_axis, case.z_axis))
        self.A = np.column_stack([x, np.cross(z, x), z])
        self.start, self.at, self.point = (np.array(v, float) for v in (case.start, case.at, case.point))
        self.J, self.rows, self.pull, self.torque = np.diag(np.array(case.inertia, float)), rows, pull, torque

    def solved(self, y: np.ndarray) -> tuple:
        """Accelerations, and force and moment on the ground about the joint."""
        r, v, w = y[:3], y[7:10], y[10:]
        A = rotation(y[3:7] / np.linalg.norm(y[3:7]))
        J, s = A @ self.J @ A.T, A @ self.point
        d, rate, turning = r + s - self.at, v + np.cross(w, s), np.cross(w, np.cross(w, s))
        force, moment = G.copy(), -np.cross(w, J @ w)  # of 1 kg
        on_ground, about = np.zeros(3), np.zeros(3)
        length = np.linalg.norm(d)
        if self.pull is not None and length > 0.0:
            F = self.pull(length, d @ rate / length) * d / length
            force, moment = force - F, moment - np.cross(s, F)
            on_ground, about = on_ground + F, about + np.cross(d, F)
        if self.torque is not None:
            T = self.torque(np.arctan2(-A[2, 0], A[0, 0]), w[1]) * EYE[1]
            moment, about = moment + T, about - T
        directions = [(np.array(g, float), 0.0, np.array(g, float) @ d) for g in self.rows.along]
        directions += [(d, rate @ rate, 0.5 * (d @ d - 4.0))] if self.rows.tied else []
        lines, right, wrenches = [], [], []
        for g, more, off in directions:
            lines.append(np.concatenate([g, np.cross(s, g)]))
            right.append(-g @ turning - more - 2.0 * RATE * (g @ rate) - RATE**2 * off)
            wrenches.append((g, np.cross(d, g)))
        for a, b in self.rows.across:
            a, b = np.array(a, float), A @ np.array(b, float)
            turn = np.cross(b, a)
            lines.append(np.concatenate([np.zeros(3), turn]))
            right.append(-a @ np.cross(w, np.cross(w, b)) - 2.0 * RATE * (turn @ w) - RATE**2 * (a @ b))
            wrenches.append((np.zeros(3), turn))
        C, m = np.array(lines).reshape(-1, 6), len(lines)
        K = np.zeros((6 + m, 6 + m))
        K[:3, :3], K[3:6, 3:6], K[:6, 6:], K[6:, :6] = EYE, J, -C.T, C
        x = np.linalg.solve(K, np.concatenate([force, moment, right]))
        for lam, (F, N) in zip(x[6:], wrenches, strict=True):
            on_ground, about = on_ground - lam * F, about - lam * N
        return x[:3], x[3:6], on_ground, about

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        p, w = y[3:7], y[10:]
        a, alpha, _, _ = self.solved(y)
        return np.concatenate([y[7:10], [-0.5 * p[1:] @ w], 0.5 * (p[0] * w + np.cross(w, p[1:])), a, alpha])

    def quantities(self, times, euler_parameters: Callable) -> dict[str, np.ndarray]:
        """What Adams' files tell, but for the names of forces."""
        states = [np.concatenate([self.start, euler_parameters(self.A), np.zeros(6)])]
        for span in pairwise(times):  # instants are ends of steps
            states.append(solve_ivp(self.rates, span, states[-1], "DOP853", rtol=1e-11, atol=1e-11).y[:, -1])
        found = [self.solved(y) for y in states]
        y = np.array(states)
        a, alpha, force, moment = (np.array(part) for part in zip(*found, strict=True))
        p = y[:, 3:7] / np.linalg.norm(y[:, 3:7], axis=1)[:, None]
        return {
            "Pos": y[:, :3], "Vel": y[:, 7:10], "Acc": a, "Quat": p, "Avel": y[:, 10:], "Aacc": alpha, "Rforce": force,
            "Rtorque": moment,
        }  # fmt: skip


# --- what holds and moves the body in each case ---

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ACROSS = {Z: (X, Y), Y: (X, Z), (0, 1, 1): (X, (0, 1, -1))}


def about(axis: tuple, slides: bool, turns: bool) -> Rows:
    """A joint about or along an axis, which is z of the body; x of the body is the global one at first."""
    along = ACROSS[axis] if slides else (X, Y, Z)
    still = ((np.cross(axis, X), X),) if not turns else ()
    return Rows(along, tuple((axis, b) for b in (X, Y)) + still)


def linear(k: float, c: float, natural: float) -> Callable:
    return lambda x, v: k * (x - natural) + c * v


def progressive(k: float, more: float, c: float, natural: float) -> Callable:
    return lambda x, v: (k + more * abs(x - natural)) * (x - natural) + c * v


BALL, TIED, SLOPE = Rows((X, Y, Z)), Rows(tied=True), (0, 1, 1)
SOFT, STIFF, GROWS = linear(10, 0.5, 0), linear(100, 5, 2), progressive(50, 10, 5, 2)


def against(law: Callable) -> Callable:
    return lambda x, v: -law(x, v)


HELD = {
    "Cylindrical_Case01": (about(Z, True, True),), "Cylindrical_Case02": (about(Y, True, True),),
    "Cylindrical_Case03": (about(SLOPE, True, True),), "Distance_Case01": (TIED,), "Distance_Case02": (TIED,),
    "Distance_Case03": (TIED,), "Prismatic_Case01": (about(Z, True, False),),
    "Prismatic_Case02": (about(SLOPE, True, False),), "Prismatic_Case03": (about(Y, True, False),),
    "Revolute_Case01": (about(Y, False, True),), "Revolute_Case02": (about(SLOPE, False, True),),
    "RevSpherical_Case01": (Rows((Z,), tied=True),), "RevSpherical_Case02": (Rows((SLOPE,), tied=True),),
    "RotSpring_Case01": (about(Y, False, True), None, against(linear(200, 10, 0))),
    "RotSpring_Case02": (about(Y, False, True), None, against(progressive(50, 10, 10, 0))),
    "Spherical_Case01": (BALL,), "Spherical_Case02": (BALL,), "TranSpring_Case01": (Rows(), SOFT),
    "TranSpring_Case02": (Rows(), STIFF), "TranSpringCB_Case01": (Rows(), SOFT), "TranSpringCB_Case02": (Rows(), STIFF),
    "TranSpringCB_Case03": (Rows(), GROWS), "TranSpringCB_Case04": (Rows(), GROWS),
    "Universal_Case01": (), "Universal_Case02": (), "Universal_Case03": (),
}  # fmt: skip


def quantities(name: str, case, times, euler_parameters: Callable) -> dict[str, np.ndarray]:
    """What Adams' file of a case tells, without kinegrad; none for the two that a motor moves."""
    held = HELD[name] or (Rows((X, Y, Z), ((np.array(case.x_axis) / np.linalg.norm(case.x_axis), Y),)),)
    found = Body(case, *held).quantities(times, euler_parameters)
    force, moment = found["Rforce"], found["Rtorque"]
    if name.startswith("TranSpring"):
        found["Rtorque"] = 0.0 * moment
    if name.startswith("RevSpherical"):
        found = {key: values for key, values in found.items() if not key.startswith("R")}
        found |= {"Rforce_Body1": force, "Rtorque_Body1": moment, "Rforce_Body2": -force, "Rtorque_Body2": 0.0 * moment}
    return found


# --- closed forms ---

PENDULUMS = (
    "Cylindrical_Case02", "Revolute_Case01", "Spherical_Case01", "Spherical_Case02", "Universal_Case01", "Universal_Case02",
)  # fmt: skip


def pendulum(case, times) -> np.ndarray:
    """The centre of a plane pendulum of 2 m that begins at rest, level, with 0.1 kg m² across it: by Jacobi's functions."""
    rate, k = np.sqrt(9.80665 * 2.0 / (0.1 + 4.0)), np.sin(0.25 * np.pi)
    sine = k * ellipj(ellipk(k * k) - rate * np.asarray(times), k * k)[0]  # of half the angle from below
    level = (np.array(case.start) - case.at) / 2.0
    way = 2.0 * sine * np.sqrt(1.0 - sine * sine)
    return np.array(case.at) + 2.0 * (np.outer(way, level) - np.outer(1.0 - 2.0 * sine * sine, Z))


def drift(case, figures: dict) -> float:
    """How far the energy of Adams' own rows is from that at the start, of the largest kinetic energy; without springs."""
    position, velocity, w = (np.array(figures[key]) for key in ("Pos", "Vel", "Avel"))
    kinetic = 0.5 * (velocity**2).sum(axis=1)
    for k, p in enumerate(np.array(figures["Quat"])):
        own = rotation(p / np.linalg.norm(p)).T @ w[k]
        kinetic[k] += 0.5 * own @ (np.array(case.inertia) * own)
    energy = kinetic + 9.80665 * position[:, 2]
    return float(np.abs(energy - energy[0]).max() / max(kinetic.max(), 1e-300))


def main() -> None:
    """Write the numbers of all cases."""
    from kinegrad.bench import adams

    here, times = adams.cases(), adams.data("figures")["t"]
    lines = []
    for name in HELD:
        found = quantities(name, here.CASES[name], times, here.euler_parameters)
        lines.append(f" {json.dumps(name)}: {json.dumps({key: np.round(x, 13).tolist() for key, x in found.items()})}")
        print(name, flush=True)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (adams.FOLDER / "independent.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
