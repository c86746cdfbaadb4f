"""A mechanism through time in absolute coordinates: the classical Runge-Kutta method on poses and motions."""

from dataclasses import dataclass

import numpy as np

from soak.absolute import Instant
from soak.rotations import cross, turn

TOO_FAST = 100.0  # speeds, in sizes of the mechanism and in radians per typical time, that are not followed further
MOST_TURNED = 2.6  # rad: bushings end at 170 degrees, 2.97 rad


@dataclass
class Path:
    """The end of a motion, and the worst position on the way.

    Attributes
    ----------
    weakest : float
        Smallest singular value of the rows that counts, relative to the largest: near zero in singular positions.
    condition : float
        Largest condition number of the inertia on free motions.
    changed : bool
        Whether the number of freedoms was not the same everywhere.
    gap : float
        Largest row at the end.
    """

    poses: dict
    motion: np.ndarray
    weakest: float
    condition: float
    changed: bool
    gap: float
    shortest: float


def follow(mechanism, steps, lost=1e-4):
    """The path of a mechanism to its t_end, or to a position whose `weakest` is below `lost`."""
    document, poses, motion = mechanism.document, mechanism.poses, mechanism.motion
    h, bodies = mechanism.t_end / steps, list(document["bodies"])
    weakest, condition, shortest, ranks = 1.0, 1.0, np.inf, set()
    speeds = mechanism.time * np.tile([1.0 / mechanism.size] * 3 + [1.0] * 3, len(bodies))

    def moved(poses, motion, dt):
        """Poses after dt of a motion; turns about a fixed axis."""
        out = {}
        for k, body in enumerate(bodies):
            v, omega = motion[6 * k : 6 * k + 3], motion[6 * k + 3 : 6 * k + 6]
            r, A = poses[body]
            speed = np.linalg.norm(omega)
            out[body] = (r + dt * v, (turn(omega, dt * speed) if speed else np.eye(3)) @ A)
        return out

    def rate(t, poses, motion):
        nonlocal weakest, condition, shortest
        if np.abs(motion * speeds).max() > TOO_FAST:
            weakest = 0.0
        instant = Instant(document, poses, motion, t, mechanism.size)
        if most_turned(instant) > MOST_TURNED:
            weakest = 0.0
        if weakest < lost:
            return 0.0 * motion
        solution = instant.solution
        weakest, condition = min(weakest, solution.weakest), max(condition, solution.inertia_condition)
        shortest = min([shortest, *spring_lengths(instant)])
        ranks.add(solution.rank)
        return solution.acceleration

    for k in range(steps):
        poses, motion = _step(rate, moved, k * h, h, poses, motion)
        if weakest < lost or not np.isfinite(motion).all():
            return Path(poses, motion, 0.0, condition, True, np.inf, shortest)
    end = Instant(document, poses, motion, mechanism.t_end, mechanism.size)
    gap = float(np.abs(end.stacked("v")).max(initial=0.0))
    return Path(poses, motion, weakest, condition, len(ranks) > 1, gap, shortest)


def spring_lengths(instant):
    """Lengths of the springs between points."""
    forces = instant.document.get("forces", {}).values()
    springs = [force for force in forces if force["type"] == "spring" and "between" in force]
    ends = [[instant.marker(name).v for name in force["between"]] for force in springs]
    return [float(np.linalg.norm(b - a)) for a, b in ends]


def most_turned(instant):
    """The largest angle between the frames of a bushing; 0 without any."""
    bushings = [force for force in instant.document.get("forces", {}).values() if force["type"] == "bushing"]
    return max((float(np.linalg.norm(instant.bushing_turn(force))) for force in bushings), default=0.0)


def _step(rate, moved, t, h, poses, motion):
    """One step of a Runge-Kutta-Munthe-Kaas method: rotation vectors from the start of the step, with their corrections."""
    k1v, k1a = motion, rate(t, poses, motion)
    u2 = 0.5 * h * k1v
    m2 = motion + 0.5 * h * k1a
    k2v, k2a = _tangent(u2, m2), rate(t + 0.5 * h, moved(poses, u2, 1.0), m2)
    u3 = 0.5 * h * k2v
    m3 = motion + 0.5 * h * k2a
    k3v, k3a = _tangent(u3, m3), rate(t + 0.5 * h, moved(poses, u3, 1.0), m3)
    u4 = h * k3v
    m4 = motion + h * k3a
    k4v, k4a = _tangent(u4, m4), rate(t + h, moved(poses, u4, 1.0), m4)
    u = h / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v)
    return moved(poses, u, 1.0), motion + h / 6.0 * (k1a + 2.0 * k2a + 2.0 * k3a + k4a)


def _tangent(u, motion):
    """The rate of the shifts and rotation vectors u: omega − u × omega/2 + u × (u × omega)/12 for turns from the left."""
    out = motion.copy()
    for k in range(3, len(u), 6):
        rho, omega = u[k : k + 3], motion[k : k + 3]
        out[k : k + 3] = omega - 0.5 * cross(rho, omega) + cross(rho, cross(rho, omega)) / 12.0
    return out
