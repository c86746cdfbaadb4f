"""Rows of parallelograms in any plane and of any masses, and the pendulum that each of them is.

Cranks of one length r turn about pivots on a line and carry bars as long as the distances of the pivots. Centres of mass lie
anywhere, so that the constraints need not be idle when all rods are on the line: there a motion with momentum is the one of
the pendulum, but the multipliers grow as 1/distance from the line.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import kinegrad as kg

KINDS = ("revolute", "spherical", "cylindrical")  # of the joint at the right end of a bar: redundant in different ways


@dataclass
class Row:
    """`phi`: angle of the cranks from the line; `moment`: masses times distances, in the frame of the cranks; `pull`: gravity,
    along the line and across."""

    model: kg.Model
    n: int
    inertia: float
    moment: np.ndarray
    pull: np.ndarray
    phi: float
    speed: float
    line: np.ndarray
    across: np.ndarray

    def acceleration(self, phi):
        c, s = np.cos(phi), np.sin(phi)
        x, y = c * self.moment[0] - s * self.moment[1], s * self.moment[0] + c * self.moment[1]
        return (x * self.pull[1] - y * self.pull[0]) / self.inertia

    def angle(self, t):
        """Of the cranks, by an integration to rounding."""
        found = solve_ivp(
            lambda _, y: [y[1], self.acceleration(y[0])], (0.0, t[-1]), [self.phi, self.speed],
            method="DOP853", rtol=3e-14, atol=1e-13, t_eval=t,
        )  # fmt: skip
        return found.y[0]

    def angles(self, motion, body: str, first: str, last: str):
        """Of a body against the line, at each state."""
        d = motion.marker(f"{body}.{last}").position - motion.marker(f"{body}.{first}").position
        return np.unwrap(np.arctan2(d @ self.across, d @ self.line))

    def errors(self, motion) -> tuple[float, float]:
        """Of the cranks against the pendulum, and how far bars, and cranks against each other, are from parallel: branches."""
        cranks = np.array([self.angles(motion, f"crank_{i}", "A", "B") for i in range(self.n + 1)])
        cranks += 2.0 * np.pi * np.round((self.phi - cranks[:, :1]) / (2.0 * np.pi))
        bars = np.array([self.angles(motion, f"bar_{i}", "left", "right") for i in range(1, self.n + 1)])
        apart = max(np.abs(cranks - cranks[0]).max(), np.abs(bars).max())
        return np.abs(cranks[0] - self.angle(motion.t)).max(), apart


def row_of_windows(n: int, phi: float, speed: float, seed: int, r: float = 1.0, g: float = 9.81) -> Row:
    """Drawn by `seed`; 0 is upright, of uniform rods, in the plane of x and y."""
    rng = np.random.default_rng(seed)
    drawn = seed > 0
    plane = Rotation.random(random_state=seed).as_matrix() if drawn else np.eye(3)
    line, across, axis = plane.T
    gaps = r * rng.uniform(0.5, 2.0, n) if drawn else np.full(n, r)
    x = np.concatenate([[0.0], np.cumsum(gaps)])
    crank = r * (np.cos(phi) * line + np.sin(phi) * across)
    pull = g * rng.normal(size=2) if drawn else np.array([0.0, -g])
    inertia, moment, bodies, joints = 0.0, np.zeros(2), {}, {}

    def rod(length, names):
        mass = rng.uniform(0.3, 3.0) if drawn else 1.0
        com = length * np.array([rng.uniform(-0.2, 1.0), rng.uniform(-0.4, 0.4)] if drawn else [0.5, 0.0])
        about = mass * length**2 / 12.0 * (rng.uniform(0.5, 2.0) if drawn else 1.0)
        markers = {names[0]: [0, 0, 0], names[1]: [float(length), 0, 0]}
        inertia = [0.1 * about if drawn else 0.0, about, about]
        return mass, com, about, {"mass": mass, "com": [*com.tolist(), 0], "inertia": inertia, "markers": markers}

    for i in range(n + 1):
        mass, com, about, body = rod(r, "AB")
        pose = {"origin": (x[i] * line).tolist(), "x_axis": crank.tolist(), "z_axis": axis.tolist()}
        bodies[f"crank_{i}"] = body | {"pose": pose}
        axes = {"axis": [axis.tolist(), [0, 0, 1]], "zero": [line.tolist(), [1, 0, 0]]}
        joints[f"A{i}"] = {"type": "revolute", "between": [f"ground.A{i}", f"crank_{i}.A"]} | axes
        inertia, moment = inertia + about + mass * (com @ com), moment + mass * com
    for i in range(1, n + 1):
        mass, _, _, body = rod(gaps[i - 1], ("left", "right"))
        pose = {"origin": (x[i - 1] * line + crank).tolist(), "x_axis": line.tolist(), "z_axis": axis.tolist()}
        bodies[f"bar_{i}"] = body | {"pose": pose}
        joints[f"left_{i}"] = {"type": "revolute", "between": [f"crank_{i - 1}.B", f"bar_{i}.left"], "axis": [0, 0, 1]}
        kind = str(rng.choice(KINDS)) if drawn else "revolute"
        joint = {"type": kind, "between": [f"bar_{i}.right", f"crank_{i}.B"], "axis": [0, 0, 1]}
        joints[f"right_{i}"] = {k: v for k, v in joint.items() if kind != "spherical" or k != "axis"}
        inertia, moment = inertia + mass * r**2, moment + [mass * r, 0.0]
    model = kg.Model.from_dict(
        {
            "kinegrad": 1,
            "parameters": {"speed": float(speed)},
            "ground": {"markers": {f"A{i}": (x[i] * line).tolist() for i in range(n + 1)}},
            "bodies": bodies,
            "joints": joints,
            "forces": {"gravity": {"type": "gravity", "acceleration": (pull @ [line, across]).tolist()}},
            "degrees_of_freedom": {"A0.angle": {"position": float(phi), "velocity": "speed"}},
            "objectives": {"end": {"final": "A0.angle"}},
        }
    ).check()
    return Row(model, n, inertia, moment, pull, phi, speed, line, across)
