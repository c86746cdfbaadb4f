"""The same mechanism with other trees, and with joints that name their bodies in the other order."""

import copy
import json

import numpy as np

import kinegrad as kg
from soak import jets
from soak.elements import outside_tree
from soak.ends import Runs, apart
from soak.findings import compared, guarded
from soak.rotations import cross, turn
from soak.starts import check_start

SIGNED = {  # joint coordinates after a reversal: which, with a change of sign
    "revolute": {"angle": "angle"}, "prismatic": {"distance": "distance"}, "screw": {"angle": "angle"},
    "cylindrical": {"distance": "distance", "angle": "angle"}, "cardan": {"angle1": "angle2", "angle2": "angle1"},
}  # fmt: skip


def variants(mechanism, rng, count=3):
    """[(name, document, joints to cut)]: other trees, other orders, both."""
    joints = mechanism.document["joints"]
    names = [name for name in joints if joints[name]["type"] != "link"]
    starts_only, used = uses(mechanism.document)
    needed = used | {name for name in starts_only if joints[name]["type"] == "spherical"}
    found = []
    for k in range(count):
        document, cut = mechanism.document, ()
        if k != 1:  # joints whose coordinate a force or driver needs, or whose rotation is given, stay in the tree
            order = sorted(rng.permutation(names).tolist(), key=lambda name: name not in needed)
            cut = tuple(outside_tree(joints, order))
            if needed & set(cut):
                cut = ()
        if k > 0:
            chosen = [name for name in names if rng.random() < 0.6]
            document = reversed_joints(document, chosen, set(cut) or marked(document), starts_only)
        found.append(
            (f"{'cut ' + ','.join(cut) if cut else ''} {'reversed' if k else ''}".strip() or "same", document, cut)
        )
    return found


def marked(document):
    return {name for name, joint in document["joints"].items() if joint.get("cut")}


def uses(document):
    """Joints whose coordinate is a degree of freedom, and those that anything else refers to."""
    starts = {name.partition(".")[0] for name in document.get("degrees_of_freedom", {})}
    rest = {
        key: value for key, value in document.items() if key not in ("degrees_of_freedom", "joints", "bodies", "ground")
    }
    text = json.dumps(rest)
    return starts & set(document["joints"]), {name for name in document["joints"] if f"{name}." in text}


def reversed_joints(document, chosen, cut, starts):
    """Copy of a document in which the chosen joints name their bodies the other way round."""
    document = copy.deepcopy(document)
    names = parameters_of(document)
    _, used = uses(document)
    for name in chosen:
        joint = document["joints"][name]
        kind = joint["type"]
        needed = name in used or name in starts
        if needed and (kind == "planar" or (name in cut and kind in SIGNED)):
            continue  # its coordinates have no simple relation to the new ones, or cannot stand in a measure
        joint["between"] = joint["between"][::-1]
        for key in ("axis", "zero", "x_axis", "axes"):
            if key in joint and isinstance(joint[key][0], list):
                joint[key] = joint[key][::-1]
        if needed and kind in SIGNED:
            document = renamed(document, name, SIGNED[kind])
        elif name in starts:
            start = document["degrees_of_freedom"][name]
            document["degrees_of_freedom"][name] = reversed_start(start, names)
    return document


def parameters_of(document):
    names = {}
    for name, value in document["parameters"].items():
        names[name] = value if isinstance(value, list) else jets.number(value, names)
    return names


def renamed(document, joint, parts):
    """Copy in which measures with the old meaning stand for the coordinates of a reversed joint."""
    text = json.dumps({key: value for key, value in document.items() if key != "measures"})
    measures = json.dumps(document.get("measures", {}))
    added = {}
    for old, new in parts.items():
        if f"{joint}.{old}" not in text + measures:
            continue
        text = text.replace(f"{joint}.{old}", f"{joint}_{old}")
        measures = measures.replace(f"{joint}.{old}", f"{joint}_{old}")
        added[f"{joint}_{old}"] = f"-{joint}.{new}"
    return {**json.loads(text), "measures": {**added, **json.loads(measures)}}


def reversed_start(start, names):
    """The start of a spherical or floating joint seen from the other body."""
    plain = {key: np.array([jets.number(x, names) for x in value]) for key, value in start.items()}
    rho, omega = plain["rotation"], plain["angular_velocity"]
    R = turn(rho, np.linalg.norm(rho)) if np.linalg.norm(rho) else np.eye(3)
    out = {"rotation": -rho, "angular_velocity": -R.T @ omega}
    if "position" in plain:
        out["position"] = -R.T @ plain["position"]
        out["velocity"] = -R.T @ (plain["velocity"] - cross(omega, plain["position"]))
    return {key: value.tolist() for key, value in out.items()}


def check_roles(mechanism, rng):
    """Findings on starts and motions of variants of a mechanism."""
    found, runs = [], []
    cases = [("as written", mechanism.document, (), None), ("about com", mechanism.document, (), "com")]
    cases += [(*variant, None) for variant in variants(mechanism, rng)]
    for case, *variant in cases:
        here = guarded("start", case, check_start, mechanism, *variant, case)
        if all(finding.kind == "difference" for finding in here):
            here += guarded("roles", case, check_motion, mechanism, *variant, case, runs)
        found += here
    return found


def check_motion(mechanism, document, cut, body_point, case, runs):
    """Findings on the motion of a variant beside the first of `runs`, to which it is added."""
    system = kg.joint(kg.Model.from_dict(document), cut=cut, body_point=body_point)
    runs.append(Runs(mechanism, system, kg.MatrixR(), kg.RungeKutta4()))
    return compared("roles", case, "another motion", *apart(runs[-1], runs[0]))
