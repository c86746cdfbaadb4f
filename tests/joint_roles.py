"""A loop through one joint of any kind, which can be cut there or elsewhere, and whose joint can be named from either side.

ground -base (spherical)- arm -it (any kind)- tool -hinge (revolute)- rod -rail (cylindrical)- ground: as many freedoms as
the joint has, and no redundant row. The rail is placed so that the loop is closed at the values of the joint coordinates
in `VALUES`.
"""

import numpy as np

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.products import EVALUATE, OBSERVE
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import Model

GRAVITY = [0.3, -9.81, 1.0]
SPRING = {"stiffness": 40.0, "damping": 0.7, "natural_length": 0.3}
TORQUE = [0.4, -0.3, 0.9]
BASE = [0.3, -0.2, 0.5]

AXIS = [1.0, 0.3, 0.2]
PAIR = [[1.0, 0.3, 0.2], [-0.2, 1.0, 0.3]]
ZERO = [[0.1, -0.2, 1.0], [1.0, 0.1, 0.3]]
KINDS = {
    "revolute": {"axis": AXIS},
    "revolute pair": {"axis": PAIR, "zero": ZERO},
    "revolute pair without zero": {"axis": PAIR},
    "prismatic": {"axis": AXIS},
    "prismatic pair": {"axis": PAIR, "zero": ZERO},
    "cylindrical": {"axis": AXIS},
    "cylindrical pair": {"axis": PAIR, "zero": ZERO},
    "cylindrical pair without zero": {"axis": PAIR},
    "screw": {"axis": AXIS, "pitch": -0.13},
    "screw pair": {"axis": PAIR, "zero": ZERO, "pitch": 0.13},
    "cardan": {"axes": [[0.0, 0.3, 1.0], [1.3, 1.0, -0.3]]},
    "cardan pair": {"axes": [[0.0, 0.3, 1.0], [0.2, -0.4, 1.0]], "zero": [[1.0, 0.3, -0.2], [0.5, 1.0, 0.1]]},
    "planar": {"axis": [0.0, 0.3, 1.0], "x_axis": [1.3, 1.0, -0.3]},
    "planar pair": {"axis": [[0.0, 0.3, 1.0], [1.0, -0.5, 0.0]], "x_axis": [[1.3, 1.0, -0.3], [0.5, 1.0, 0.7]]},
    "spherical": {},
    "fixed": {},
}
VALUES = {
    "angle": (0.4, 0.5), "distance": (0.2, -0.4), "angle1": (0.3, 0.6), "angle2": (-0.5, 0.8), "x": (0.2, 0.4),
    "y": (-0.1, -0.2),
}  # fmt: skip
SWAPPED = ("axis", "zero", "axes", "x_axis")  # with one entry for each body


def open_chain(kind: str) -> dict:
    """The description without the rail."""
    options = dict(KINDS[kind])
    inertia = [0.3, 0.4, 0.5, 0.02, -0.03, 0.05]
    arm = {"p": [0.2, -0.1, 0.3], "r": [-0.5, 0.4, 0.2], "j": [0.4, 0.1, -0.2]}
    tool = {"j": [-0.1, 0.2, 0.3], "q": [0.7, 0.3, -0.2], "f": [0.1, -0.6, 0.2]}
    rod = {"a": [0.0, 0.1, 0.2], "b": [0.5, -0.3, 0.1]}
    return {
        "kinegrad": 1,
        "ground": {"markers": {"O": BASE, "S": [1.0, 1.0, 0.4]}},
        "bodies": {
            "arm": {"mass": 1.3, "com": [0.1, 0.2, -0.1], "inertia": inertia, "markers": arm},
            "tool": {"mass": 0.8, "com": [0.2, 0.0, 0.1], "inertia": [0.2, 0.3, 0.25], "markers": tool},
            "rod": {
                "mass": 0.5,
                "com": [0.3, -0.1, 0.1],
                "inertia": [0.05, 0.04, 0.03, 0.01, 0.0, -0.01],
                "markers": rod,
            },
        },
        "joints": {
            "base": {"type": "spherical", "between": ["ground.O", "arm.p"]},
            "it": {"type": kind.split()[0], "between": ["arm.j", "tool.j"], **options},
            "hinge": {"type": "revolute", "between": ["tool.f", "rod.a"], "axis": [0.4, 0.5, 1.0]},
        },
        "forces": {
            "weight": {"type": "gravity", "acceleration": GRAVITY},
            "coil": {"type": "spring", "between": ["ground.S", "tool.q"], **SPRING},
            "twist": {"type": "torque", "at": "arm.r", "value": TORQUE},
        },
        "degrees_of_freedom": {},
    }


def poses(description: dict) -> dict:
    """A (3, 3) and r (3,) of the bodies at values of the joint coordinates, with the base turned."""
    system = joint(Model.from_dict(description))
    work = system.workspace()
    part = {k: name for name, k in system.set.index.items()}
    for k in range(system.n):
        work["q"][k] = VALUES[part[k][1]][0] if k in part else 0.0
    for name, (k, _) in system.set.euler.items():
        p = np.array([0.9, 0.1, 0.3, -0.2] if name == "base" else [0.8, -0.3, 0.2, 0.4])
        work["q"][k : k + 4] = p / np.linalg.norm(p)
    work.call(EVALUATE)
    work.call(OBSERVE)
    A, r, _, _ = system.set.bodies(system, work)
    return {name: (A[i], r[i]) for i, name in enumerate(system.model.bodies)}


def closed(kind: str, by_markers: bool = False) -> dict:
    """The description with the rail, the poses, degrees of freedom (those of the joint, or of markers) and objectives."""
    d = open_chain(kind)
    place = poses(d)
    for name, (A, r) in place.items():
        d["bodies"][name]["pose"] = {"origin": r.tolist(), "x_axis": A[:, 0].tolist(), "z_axis": A[:, 2].tolist()}
    A, r = place["rod"]
    axis, zero = np.array([0.2, 1.0, 0.4]), np.array([1.0, -0.1, 0.3])
    foot = r + A @ d["bodies"]["rod"]["markers"]["b"] - 0.3 * axis
    d["ground"]["markers"]["F"] = foot.tolist()
    d["joints"]["rail"] = {
        "type": "cylindrical",
        "between": ["ground.F", "rod.b"],
        "axis": [axis.tolist(), (A.T @ axis).tolist()],
        "zero": [zero.tolist(), (A.T @ zero).tolist()],
    }
    d["degrees_of_freedom"] = start(kind, d, place, by_markers)
    d["objectives"] = {
        "place": {"final": "tool.q.x + 2*tool.q.y - arm.r.z"},
        "rate": {"final": "norm2(tool.q.velocity) + arm.r.velocity.x"},
        "push": {"final": "tool.q.acceleration.x - 2*arm.r.acceleration.y"},
    }
    return d


def start(kind: str, d: dict, place: dict, by_markers: bool) -> dict:
    """Degrees of freedom at the closed position: those of the joint, or components of markers."""
    parts = JOINTS[kind.split()[0]].coordinates
    if "without" not in kind and parts and not by_markers:
        return {f"it.{p}": dict(zip(("position", "velocity"), VALUES[p], strict=True)) for p in parts}
    count = 3 if kind == "spherical" else len(parts)
    freedoms = {}
    for name, c, velocity in (("tool.q", 0, 0.4), ("arm.r", 2, -0.3), ("tool.q", 1, 0.7))[:count]:
        body, marker = name.split(".")
        A, r = place[body]
        x = r + A @ d["bodies"][body]["markers"][marker]
        freedoms[f"{name}.{'xyz'[c]}"] = {"position": float(x[c]), "velocity": velocity}
    return freedoms


def turned(d: dict) -> dict:
    """The same mechanism with the joint named from the other side; a single axis is shared by frames that coincide."""
    it = dict(d["joints"]["it"])
    it["between"] = it["between"][::-1]
    sign = dict.fromkeys(("angle", "distance", "angle1", "angle2"), -1.0)
    names = {"it.angle1": "it.angle2", "it.angle2": "it.angle1"}
    for key in SWAPPED:
        if key in it and isinstance(it[key][0], list):
            it[key] = it[key][::-1]
    if it["type"] == "cardan" and "zero" in it:  # which is to the right hand of the axes in their order
        it["zero"] = [[-x for x in vector] for vector in it["zero"]]
    if "it.x" in d["degrees_of_freedom"]:
        raise ValueError("x and y along the first body are not those along the second; take freedoms by markers")
    freedoms = {
        names.get(name, name): {k: sign.get(name.split(".")[1], 1.0) * x for k, x in value.items()}
        if name.startswith("it.")
        else value
        for name, value in d["degrees_of_freedom"].items()
    }
    return d | {"joints": d["joints"] | {"it": it}, "degrees_of_freedom": freedoms}
