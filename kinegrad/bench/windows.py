"""N four-bar windows in a row (problem A02): the model for any N, and its motion in closed form.

N + 1 upright cranks stand on a line, 1 m apart, and carry N bars: all uniform rods of 1 m and 1 kg. As long as every window
is a parallelogram the cranks turn alike and the bars do not turn: one pendulum with the inertia of all of them. When
the cranks lie down, all rods are on one line: there each window could fold on its own, and freedoms rise from 1 to N + 1.
"""

from __future__ import annotations

import numpy as np

from kinegrad.errors import KinegradError

GRAVITY = 9.81


def windows(n: int):
    """The model of `n` windows, upright; the top left corner moves at `v` to the right."""
    from kinegrad.model.model import Model

    if n < 1:
        raise KinegradError(f"windows({n}) has no window; ask for one or more.")
    rod = {"mass": "m", "com": ["L/2", 0, 0], "inertia": [0, "m*L**2/12", "m*L**2/12"]}
    bodies, joints = {}, {}

    def hinge(first, second):
        return {"type": "revolute", "between": [first, second], "axis": [0, 0, 1]}

    for i in range(n + 1):
        pose = {"origin": [i, 0, 0], "x_axis": [0, 1, 0]}
        bodies[f"crank_{i}"] = rod | {"markers": {"A": [0, 0, 0], "B": ["L", 0, 0]}, "pose": pose}
        joints[f"A{i}"] = hinge(f"ground.A{i}", f"crank_{i}.A")
    for i in range(1, n + 1):
        pose = {"origin": [i - 1, 1, 0], "x_axis": [1, 0, 0]}
        bodies[f"bar_{i}"] = rod | {"markers": {"left": [0, 0, 0], "right": ["L", 0, 0]}, "pose": pose}
        joints[f"left_{i}"] = hinge(f"crank_{i - 1}.B", f"bar_{i}.left")
        joints[f"right_{i}"] = hinge(f"bar_{i}.right", f"crank_{i}.B")
    return Model.from_dict(
        {
            "kinegrad": 1,
            "title": f"{n} four-bar windows (A02)",
            "parameters": {"m": 1.0, "L": 1.0, "v": 1.0},
            "design": ["v"],
            "ground": {"markers": {f"A{i}": [f"{i}*L", 0, 0] for i in range(n + 1)}},
            "bodies": bodies,
            "joints": joints,
            "forces": {"gravity": {"type": "gravity", "acceleration": [0, -GRAVITY, 0]}},
            "degrees_of_freedom": {"A0.angle": {"position": "pi/2", "velocity": "-v/L"}},
            "objectives": {"path": {"integral": "norm2(crank_0.B.velocity)"}},
            "simulation": {"t_end": 10, "step": 1e-3},
        }
    ).check()


def inertia(n: int) -> float:
    """Moment of inertia of the equivalent pendulum [kg m2]: cranks about their pivots, bars moved in circles."""
    return (n + 1) / 3 + n


def stiffness(n: int) -> float:
    """Weight times distance of the centre from the pivots, of all rods [N m]."""
    return GRAVITY * ((n + 1) / 2 + n)


def angle(n: int, t) -> np.ndarray:
    """How far the cranks have turned from upright at times `t` [rad].

    A pendulum that goes all the way round turns by twice the amplitude of Jacobi, 2 am(Ω t/2, k), from its lowest point, with Ω
    the speed there and k = 2 ω/Ω. Here it begins at the highest point, which is at K, with 1 rad/s.
    """
    from scipy.special import ellipj, ellipk

    omega2 = stiffness(n) / inertia(n)
    lowest = np.sqrt(1.0 + 4.0 * omega2)
    m = 4.0 * omega2 / lowest**2
    return 2.0 * ellipj(ellipk(m) + 0.5 * lowest * np.asarray(t, float), m)[3] - np.pi


def corner(n: int, t) -> np.ndarray:
    """(k, 3) where the top left corner is at times `t`."""
    turned = angle(n, t)
    return np.stack([np.sin(turned), np.cos(turned), np.zeros_like(turned)], axis=-1)
