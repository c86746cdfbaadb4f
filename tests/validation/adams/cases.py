"""The 28 tests of joints, springs and actuators that Project Chrono compares with MSC Adams, as models; what is compared.

One body of 1 kg under gravity, called `body`; its frame is at the centre of mass, with the axes ex, ey, ez.  Forces and torques
are those on the ground, about the marker of the joint there, in global components; those named Body2 and A act on the body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

import kinegrad as kg

O, P = (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)  # where the joint is
X, Y, Z, SLOPE = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)
GRAVITY = 9.80665
AXES = {"ex": {"vector": X}, "ey": {"vector": Y}, "ez": {"vector": Z}}


@dataclass(frozen=True)
class Case:
    """A body and what holds it.

    Attributes
    ----------
    start, x_axis, z_axis : centre of mass and axes at first
    inertia : about the axes of the body
    at : the marker of the joint on the ground
    point : the same point in the body
    parts : sections of the model
    told : callable
        Reactions of a motion, by the names of Adams' columns.
    """

    start: tuple
    x_axis: tuple
    z_axis: tuple
    inertia: tuple
    at: tuple
    point: tuple
    parts: dict
    told: Callable[[kg.Motion], dict[str, np.ndarray]] = field(default=lambda motion: by_reaction(motion, "j"))

    @property
    def model(self) -> kg.Model:
        """The model of kinegrad."""
        body = {
            "mass": 1, "inertia": list(self.inertia),
            "pose": {"origin": list(self.start), "x_axis": list(self.x_axis), "z_axis": list(self.z_axis)},
            "markers": {"C": [0, 0, 0], "P": list(self.point), **AXES},
        }  # fmt: skip
        forces = {"gravity": {"type": "gravity", "acceleration": [0, 0, -GRAVITY]}, **self.parts.get("forces", {})}
        # markers of the ground: the joint, the centre at first, the axis of a hinge
        ground = {"O": list(self.at), "C": list(self.start), "axis": {"vector": list(self.parts.get("axis", Z))}}
        rest = {key: value for key, value in self.parts.items() if key not in ("forces", "axis")}
        return kg.Model.from_dict(
            {"kinegrad": 1, "ground": {"markers": ground}, "bodies": {"body": body}, "forces": forces, **rest}
        ).check()


def freedoms(**values: float) -> dict:
    """Degrees of freedom that begin at rest, with `__` for a dot."""
    return {name.replace("__", "."): {"position": value, "velocity": 0} for name, value in values.items()}


# --- what is told of joints ---


def by_reaction(motion: kg.Motion, *names: str) -> dict[str, np.ndarray]:
    """What joints and constraints exert on the ground."""
    total = -sum(motion.reactions(name) for name in names)
    return {"Rforce": total[:, :3], "Rtorque": total[:, 3:]}


def with_spring(motion: kg.Motion) -> dict[str, np.ndarray]:
    """The same, with the torque of a torsion spring about y."""
    found = by_reaction(motion, "j")
    return found | {"Rtorque": found["Rtorque"] - motion["torsion.force"][:, None] * np.array(Y)}


def by_bar(motion: kg.Motion) -> dict[str, np.ndarray]:
    """What a bar without mass does to the ground at its hinge, and to the body at its ball."""
    found = by_reaction(motion, "bar", "plane")
    force, none = found["Rforce"], 0.0 * found["Rforce"]
    return {"Rforce_Body1": force, "Rtorque_Body1": found["Rtorque"], "Rforce_Body2": -force, "Rtorque_Body2": none}


def by_actuator(motion: kg.Motion) -> dict[str, np.ndarray]:
    """What a slide does to the ground, and its motor to the body."""
    slide, along = by_reaction(motion, "j"), motion.marker("body.ez").position
    push = motion["motor.force"][:, None] * along
    return {"RforceP": slide["Rforce"], "RtorqueP": slide["Rtorque"], "RforceA": push, "RtorqueA": 0.0 * push}


def by_coil(motion: kg.Motion) -> dict[str, np.ndarray]:
    """The pull of a spring on its point of the ground; a force on a measure is positive where it pushes."""
    way = motion.marker("body.P").position - motion.marker("ground.O").position
    length = np.linalg.norm(way, axis=1)[:, None]
    pull = motion["coil.force"] * (1.0 if motion.system.model.forces["coil"].type == "spring" else -1.0)
    return {"Rforce": pull[:, None] * way / np.where(length > 0.0, length, 1.0), "Rtorque": 0.0 * way}


# --- kinds of cases ---

BAR, BALL = (0.04, 0.1, 0.1), (0.1, 0.04, 0.1)


def about(kind: str, at: tuple, axis: tuple, coordinates: str, told: Callable | None = None, **parts) -> Case:
    """A bar of 4 m along x, on a joint at its end; its z axis is that of the joint."""
    start = (at[0] + 2.0, at[1], at[2])
    joint = {"type": kind, "between": ["ground.O", "body.P"], "axis": [list(axis), list(Z)], "zero": [list(X), list(X)]}
    begin = freedoms(**{f"j__{name}": 0.0 for name in coordinates.split()})
    parts |= {"joints": {"j": joint}, "degrees_of_freedom": begin}
    return Case(start, X, axis, BAR, at, (-2, 0, 0), parts, **({"told": told} if told else {}))


def ball(at: tuple, z_axis: tuple) -> Case:
    """The same bar on a ball; its frame is turned about x."""
    start = (at[0] + 2.0, at[1], at[2])
    turned = {"rotation": [0 if z_axis == Z else "-pi/4", 0, 0], "angular_velocity": [0, 0, 0]}
    joint = {"type": "spherical", "between": ["ground.O", "body.P"]}
    return Case(start, X, z_axis, BAR, at, (-2, 0, 0), {"joints": {"j": joint}, "degrees_of_freedom": {"j": turned}})


def universal(start: tuple, x_axis: tuple, z_axis: tuple) -> Case:
    """A bar whose far end is 2 m along its z axis, on a cross: a pin along its x axis in the ground, one along y in the bar."""
    joint = {
        "type": "cardan", "between": ["ground.O", "body.P"], "axes": [list(x_axis), list(Y)],
        "zero": [list(z_axis), list(Z)],
    }  # fmt: skip
    parts = {"joints": {"j": joint}, "degrees_of_freedom": freedoms(j__angle1=0.0, j__angle2=0.0)}
    return Case(start, x_axis, z_axis, (0.1, 0.1, 0.04), O, (0, 0, 2), parts)


def tied(at: tuple, start: tuple, point: tuple, x_axis: tuple = X) -> Case:
    """A free bar whose point keeps its distance of 2 m from a point of the ground."""
    aside = "y" if x_axis == X else "x"  # across the bar, beside z
    begin = {
        "body__P__x": at[0],
        "body__P__z": at[2],
        f"body__ex__{aside}": 0.0,
        "body__ex__z": 0.0,
        "body__ey__z": 0.0,
    }
    tie = {"type": "distance", "between": ["ground.O", "body.P"], "distance": 2}
    parts = {"constraints": {"j": tie}, "degrees_of_freedom": freedoms(**begin)}
    return Case(start, x_axis, Z, BAR, at, point, parts)


def hung(at: tuple, axis: tuple) -> Case:
    """A pendulum on a ball at the end of a bar of 2 m without mass, on a hinge: a distance, and a plane across the axis."""
    start = (at[0] + 2.0, at[1] + 2.0, at[2])
    constraints = {
        "bar": {"type": "distance", "between": ["ground.O", "body.P"], "distance": 2},
        "plane": {"type": "point-in-plane", "between": ["ground.O", "body.P"], "normal": "ground.axis"},
    }
    begin = freedoms(body__P__y=at[1], body__ex__y=0.0, body__ex__z=0.0, body__ey__z=0.0)
    parts = {"axis": axis, "constraints": constraints, "degrees_of_freedom": begin}
    return Case(start, X, Z, BALL, at, (0, -2, 0), parts, told=by_bar)


def sprung(at: tuple, start: tuple, point: tuple, law: dict | str, x_axis: tuple = X) -> Case:
    """A free bar on a spring: that of kinegrad, or a formula of its length."""
    parts: dict = {"joints": {"free": {"type": "floating", "between": ["ground.C", "body.C"]}}}
    turned = [0, 0, 0 if x_axis == X else "-pi/2"]
    still = {"position": [0, 0, 0], "velocity": [0, 0, 0], "rotation": turned, "angular_velocity": [0, 0, 0]}
    parts["degrees_of_freedom"] = {"free": still}
    if isinstance(law, dict):
        parts["forces"] = {"coil": {"type": "spring", "between": ["ground.O", "body.P"], **law}}
    else:
        parts["measures"] = {"length": "norm(body.P.position - ground.O.position)"}
        parts["forces"] = {"coil": {"type": "force", "acts_on": "length", "value": law}}
    return Case(start, x_axis, Z, BAR, at, point, parts, told=by_coil)


def driven(x_axis: tuple, axis: tuple, speed: float) -> Case:
    """A plate on a slide, with a motor of constant speed."""
    joint = {
        "type": "prismatic", "between": ["ground.O", "body.P"], "axis": [list(axis), list(Z)], "zero": [list(x_axis), list(X)],
    }  # fmt: skip
    parts = {"joints": {"j": joint}, "drivers": {"motor": {"measure": "j.distance", "value": f"{speed}*t"}}}
    return Case(O, x_axis, axis, (1, 1, 1), O, (0, 0, 0), parts, told=by_actuator)


def torsion(force: dict) -> dict:
    """A torsion spring about the hinge."""
    return {"told": with_spring, "forces": {"torsion": {"acts_on": "j.angle", **force}}}


SOFT, STIFF = ({"stiffness": k, "damping": c, "natural_length": l} for k, c, l in ((10, 0.5, 0), (100, 5, 2)))
PROGRESSIVE = "-(50 + 10*abs(length - 2))*(length - 2) - 5*length.velocity"
TWISTED = "-(50 + 10*abs(j.angle))*j.angle - 10*j.angle.velocity"
S = sqrt(2.0)

CASES = {
    "Cylindrical_Case01": about("cylindrical", O, Z, "distance angle"),
    "Cylindrical_Case02": about("cylindrical", O, Y, "distance angle"),
    "Cylindrical_Case03": about("cylindrical", P, SLOPE, "distance angle"),
    "Distance_Case01": tied(O, (0, 2, 0), (0, 0, 0)),
    "Distance_Case02": tied(P, (-1, 4, 3), (2, 0, 0)),
    "Distance_Case03": tied(O, (0, 4, 0), (2, 0, 0), (0, -1, 0)),
    "LinActuator_Case01": driven(X, Z, 1.0),
    "LinActuator_Case02": driven((1, 0, -1), (1, 0, 1), 0.5),
    "Prismatic_Case01": about("prismatic", O, Z, "distance"),
    "Prismatic_Case02": about("prismatic", P, SLOPE, "distance"),
    "Prismatic_Case03": about("prismatic", P, Y, "distance"),
    "Revolute_Case01": about("revolute", O, Y, "angle"),
    "Revolute_Case02": about("revolute", P, SLOPE, "angle"),
    "RevSpherical_Case01": hung(O, Z),
    "RevSpherical_Case02": hung(P, SLOPE),
    "RotSpring_Case01": about(
        "revolute", O, Y, "angle", **torsion({"type": "spring", "stiffness": 200, "damping": 10})
    ),
    "RotSpring_Case02": about("revolute", O, Y, "angle", **torsion({"type": "torque", "value": TWISTED})),
    "Spherical_Case01": ball(O, Z),
    "Spherical_Case02": ball(P, SLOPE),
    "TranSpring_Case01": sprung(O, O, (0, 0, 0), SOFT),
    "TranSpring_Case02": sprung(O, (0, 2, 0), (0, 0, 0), STIFF),
    # a measure of a length may not begin at zero, where it has no direction: this one is a spring, too
    "TranSpringCB_Case01": sprung(O, O, (0, 0, 0), SOFT),
    "TranSpringCB_Case02": sprung(O, (0, 2, 0), (0, 0, 0), "-100*(length - 2) - 5*length.velocity"),
    "TranSpringCB_Case03": sprung(P, (-1, 4, 3), (2, 0, 0), PROGRESSIVE),
    "TranSpringCB_Case04": sprung(O, (0, 4, 0), (2, 0, 0), PROGRESSIVE, (0, -1, 0)),
    "Universal_Case01": universal((0, 2, 0), X, (0, -1, 0)),
    "Universal_Case02": universal((-2, 0, 0), (0, 0, -1), X),
    "Universal_Case03": universal((S, S, 0), (1, -1, S), (-1, -1, 0)),
}


# --- what is compared ---


def quantities(name: str, motion: kg.Motion, times) -> dict[str, np.ndarray]:
    """What Adams' files tell, at these times."""
    rows = np.searchsorted(motion.t, np.asarray(times) - 1e-9)
    centre = motion.marker("body.C")
    x, z = (motion.marker(f"body.{axis}").position for axis in ("ex", "ez"))
    found = {"Pos": centre.position, "Vel": centre.velocity, "Acc": centre.acceleration}
    found |= {"Avel": motion["body.angular_velocity"], "Aacc": motion["body.angular_acceleration"]}
    found["Quat"] = np.array(
        [euler_parameters(np.column_stack([a, np.cross(b, a), b])) for a, b in zip(x, z, strict=True)]
    )
    found |= CASES[name].told(motion)
    return {key: np.asarray(values)[rows] for key, values in found.items()}


def euler_parameters(A: np.ndarray) -> np.ndarray:
    """Those of a rotation, the largest of them positive."""
    squares = 0.25 * (1.0 + np.array([np.trace(A), *(2.0 * np.diag(A) - np.trace(A))]))
    k = int(squares.argmax())
    a, b, c = A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]
    d, e, f = A[0, 1] + A[1, 0], A[0, 2] + A[2, 0], A[1, 2] + A[2, 1]
    rows = [
        [4.0 * squares[0], a, b, c],
        [a, 4.0 * squares[1], d, e],
        [b, d, 4.0 * squares[2], f],
        [c, e, f, 4.0 * squares[3]],
    ]
    return np.array(rows[k]) / (4.0 * sqrt(squares[k]))


def difference(quantity: str, found, expected) -> float:
    """The largest distance of two histories, of the largest size of the second; Euler parameters up to their sign."""
    found, expected = np.asarray(found), np.asarray(expected)
    if quantity == "Quat":
        found = found * np.where((found * expected).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
    size = np.linalg.norm(expected, axis=1).max()
    return float(np.linalg.norm(found - expected, axis=1).max() / (size if size > 1e-8 else 1.0))
