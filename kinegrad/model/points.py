"""Models by points and vectors: global coordinates, bodies that list theirs, and joints found from what bodies share.

What is read becomes what any other model has: markers of bodies whose frames are the global frame, and joints. A model keeps,
beside these, where they come from (`Origin`), so that what is wrong with a marker is told of the point, and other values of
parameters, with which two bodies would have another joint, are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.expressions.syntax import Expression
from kinegrad.model.bodies import PointMarker, VectorMarker
from kinegrad.model.element import closest, dotted, to_plain
from kinegrad.model.evaluation import Evaluation
from kinegrad.model.found_joints import Choice, Shared, Trouble, Written, joints_of
from kinegrad.model.joints import JOINTS
from kinegrad.model.names import GROUND
from kinegrad.model.values import identifier_problem, to_number

if TYPE_CHECKING:
    from kinegrad.model.model import Broken, Finding, Model

WORDS = {"points": "point", "vectors": "vector"}
#: Sections that have to be sound before joints are looked for.
NEEDED = ("points", "vectors", "bodies", "ground", "joints", "parameters")


@dataclass(frozen=True)
class FoundJoint:
    """A joint that two bodies have because of the points and vectors that they share.

    Attributes
    ----------
    name, type : str
    between : tuple of str
        The markers [first, second].
    why : str
    """

    name: str
    type: str
    between: tuple[str, str]
    why: str


@dataclass
class Origin:
    """What a model was read from: points and vectors by name, who lists which, and the joints found.

    `made` is the path in the file of each marker and joint that was made, `least` the smallest component of each vector.
    """

    points: Mapping[str, tuple]
    vectors: Mapping[str, tuple]
    lists: dict[str, dict[str, tuple[str, ...]]]
    least: dict[str, int] = field(default_factory=dict)
    joints: dict[str, Choice] = field(default_factory=dict)
    made: dict[tuple, tuple] = field(default_factory=dict)

    def shared(self, model: Model, evaluation: Evaluation) -> Shared | None:
        """Where all is with the values of `evaluation`; None while something has no value."""
        place = {name: np.array(evaluation.vector(x)) for name, x in self.points.items()}
        vectors = {name: np.array(evaluation.vector(x)) for name, x in self.vectors.items()}
        lengths = {name: np.linalg.norm(x) for name, x in vectors.items()}
        if not all(np.isfinite([*map(np.sum, place.values()), *lengths.values()])) or not all(lengths.values()):
            return None
        for name, x in vectors.items():
            self.least.setdefault(name, int(np.abs(x).argmin()))
        written = []
        for name, joint in model.joints.items():
            bodies, markers = zip(*(marker.split(".") for marker in joint.between), strict=True)
            if name not in self.joints and all(body in self.lists["points"] for body in bodies):
                axis = np.array(evaluation.vector((joint.axis_pair or [(0.0,)])[0]))
                written.append(Written(bodies, markers, joint.type, axis if np.linalg.norm(axis) > 0.0 else None))
        return Shared(
            self.lists["points"], self.lists["vectors"], place,
            {name: x / lengths[name] for name, x in vectors.items()}, written,
        )  # fmt: skip

    def findings(self, model: Model, evaluation: Evaluation) -> Iterator[Finding]:
        """Joints that would be others with the values of `evaluation`."""
        kept = {name: choice for name, choice in self.joints.items() if name in model.joints}
        shared = self.shared(model, evaluation) if kept else None
        if shared is None:
            return
        found, troubles = joints_of(shared)
        now = {(c.first, c.second): (c,) for c in found} | {(t.first, t.second): t.choices for t in troubles}
        for name, choice in kept.items():
            choices = now.get((choice.first, choice.second), ())
            if choice.kind not in [c.kind for c in choices]:
                other = f"{_a(choices[0].type)}, since they {choices[0].why}" if choices else "no joint"
                yield (
                    ("bodies", choice.second, "points"),
                    f"made {name!r} a {choice.type} joint, but with these values of the parameters there would be {other}; "
                    f"write joint {name!r} out, or take back the values.",
                )

    def told(self, findings: list[Finding]) -> list[Finding]:
        """The same findings with paths and words of what stands in the file, each once."""
        found: dict[Finding, None] = {}
        for path, sentence in findings:
            start = next((path[:n] for n in range(len(path), 1, -1) if path[:n] in self.made), None)
            if start is not None:
                rest = path[len(start) :]
                there = (*self.made[start], *(rest[1:] if rest[:1] in (("position",), ("vector",)) else rest))
                path, sentence = there, sentence.replace(dotted(path), dotted(there), 1)
            found.setdefault((path, sentence))
        return list(found)


def draw(model: Model, points: Mapping, vectors: Mapping, broken: Broken) -> tuple[Origin | None, list[Finding]]:
    """Markers and joints of `model` from points, vectors and the lists of its bodies; what is wrong with them."""
    holders = {GROUND: model.ground} | dict(model.bodies)
    if not (points or vectors or any(x.points or x.vectors for x in holders.values())):
        return None, []
    given = {"points": points, "vectors": vectors}
    findings = [*_wrong_names(given), *_wrong_lists(model, holders, given, broken), *_unowned(holders, given, broken)]
    origin = Origin(dict(points), dict(vectors), {key: {} for key in WORDS})
    for name, holder in holders.items():
        path = ("ground",) if name == GROUND else ("bodies", name)
        markers = dict(holder.markers)
        for key, made in (("points", _point), ("vectors", _vector)):
            known = [x for x in dict.fromkeys(getattr(holder, key)) if x in given[key]]
            origin.lists[key][name] = tuple(known)
            for entry in known:
                if entry not in holder.markers:
                    markers[entry] = made(given[key][entry])
                    origin.made[(*path, "markers", entry)] = (key, entry)
        if holder.points or holder.vectors:
            pose = {} if name == GROUND else {"pose": holder.pose or "global"}
            holder = holder.with_(markers=markers, points=(), vectors=(), **pose)
            if name == GROUND:
                object.__setattr__(model, "ground", holder)
            else:
                dict.__setitem__(model.bodies, name, holder)
    sound = not findings and not any(section in broken.sections for section in NEEDED)
    shared = origin.shared(model, Evaluation(model)) if sound else None
    if shared is not None:
        findings += _add_joints(model, origin, shared)
    if shared is None or findings:  # what refers to joints that would be found, and to points that could not be read
        broken.names.update(f"{a}_{b}" for a, b in combinations(holders, 2))
        broken.names.update(name for name, x in holders.items() if not broken.names.isdisjoint(x.points + x.vectors))
    return origin, findings


def _wrong_names(given: Mapping[str, Mapping]) -> Iterator[Finding]:
    for key, word in WORDS.items():
        for name in given[key]:
            if fragment := identifier_problem(name):
                yield (key, name), f"{key}.{name} {fragment}"
            elif key == "vectors" and name in given["points"]:
                yield (key, name), f"{key}.{name} has the name of a point; both become markers, rename the {word}."


def _wrong_lists(model: Model, holders: Mapping, given: Mapping[str, Mapping], broken: Broken) -> Iterator[Finding]:
    """Bodies that list what does not exist, twice, or beside a marker of that name; and bodies with another frame."""
    for body, holder in holders.items():
        path = ("ground",) if body == GROUND else ("bodies", body)
        for key, word in WORDS.items():
            other = next(x for x in WORDS if x != key)
            for i, name in enumerate(getattr(holder, key)):
                place = (*path, key, i)
                if name in broken.names or key in broken.lost:
                    continue
                if name in given[other] and name not in given[key]:
                    yield place, f"{dotted(place)} names {name!r}, which is a {WORDS[other]}; list it in {other}."
                elif name not in given[key]:
                    known = ", ".join(given[key]) or "none"
                    text = f"names the unknown {word} {name!r}{closest(name, given[key])}; {key}: {known}."
                    yield place, f"{dotted(place)} {text}"
                elif name in getattr(holder, key)[:i]:
                    yield place, f"{dotted(place)} names {name!r}, which stands before already; list it once."
                elif name in holder.markers:
                    yield place, f"{dotted(place)} names {name!r}, and a marker has that name too; rename the marker."
        if (holder.points or holder.vectors) and getattr(holder, "pose", None) not in (None, "global"):
            place = (*path, "pose")
            text = "is not global, but the coordinates of the points that it lists are; leave the pose out, or write markers."
            yield place, f"{dotted(place)} {text}"


def _unowned(holders: Mapping, given: Mapping[str, Mapping], broken: Broken) -> Iterator[Finding]:
    if any(section in broken.sections for section in ("bodies", "ground")):
        return
    for key, word in WORDS.items():
        listed = {name for holder in holders.values() for name in getattr(holder, key)}
        for name in given[key]:
            if name not in listed and (key == "points" or name not in given["points"]):
                text = f"belongs to no body; list it in {key} of a body or of the ground, or remove the {word}."
                yield (key, name), f"{key}.{name} {text}"


def _point(numbers: tuple) -> PointMarker:
    return PointMarker(position=numbers)


def _vector(numbers: tuple) -> VectorMarker:
    return VectorMarker(vector=numbers)


# --- joints ---


def _add_joints(model: Model, origin: Origin, shared: Shared) -> list[Finding]:
    """Put the joints found into the model; what is not clear about them."""
    found, troubles = joints_of(shared)
    findings = [_told(origin, trouble) for trouble in troubles]
    for choice in found:
        name = f"{choice.first}_{choice.second}"
        if name in model.joints:
            text = (
                f"joints.{name} has the name of the joint found between {choice.first!r} and {choice.second!r}, which "
                f"{choice.why}; rename it, or write the other out: NAME: {_text(origin, choice)}."
            )
            findings.append((("joints", name), text))
            continue
        dict.__setitem__(model.joints, name, JOINTS[choice.type].model_validate(document(origin, choice)))
        origin.joints[name] = choice
        origin.made["joints", name] = ("bodies", choice.second, "points")
    return findings


def document(origin: Origin, choice: Choice) -> dict:
    """The joint as it would be written out."""
    first, second = (f"{body}.{p}" for body, p in zip((choice.first, choice.second), choice.points, strict=True))
    entry: dict = {"type": choice.type, "between": [first, second]}
    if choice.type == "cardan":
        entry["axes"] = [origin.vectors[name] for name in choice.axis]
    elif choice.axis:
        entry["axis"] = axis = _axis(origin, choice)
        if choice.type == "planar":
            entry["x_axis"] = _across(axis, origin.least[choice.axis[0]])
    return entry


def _axis(origin: Origin, choice: Choice) -> tuple:
    """A vector, or the way between two points."""
    if len(choice.axis) == 1:
        return origin.vectors[choice.axis[0]]
    a, b = (origin.points[name] for name in choice.axis)
    return tuple(_minus(y, x) for x, y in zip(a, b, strict=True))


def _across(axis: tuple, k: int) -> tuple:
    """Its product with a unit vector: 0 at k, and the other two components in exchange."""
    i, j = (k + 1) % 3, (k + 2) % 3
    found = [0.0, 0.0, 0.0]
    found[i], found[j] = axis[j], _minus(0.0, axis[i])
    return tuple(found)


def _minus(x, y):
    """The number x - y."""
    if isinstance(x, Expression) and y == 0.0:
        return x
    if isinstance(x, Expression) or isinstance(y, Expression):
        return to_number(f"({x}) - ({y})")
    return x - y


def _told(origin: Origin, trouble: Trouble) -> Finding:
    """The sentence for what does not say which joint it is."""
    path = ("bodies", trouble.second, trouble.key)
    if trouble.choices:
        written = (f"{choice.first}_{choice.second}: {_text(origin, choice)}" for choice in trouble.choices)
        remedy = f"write the joint out in joints, such as {' or '.join(dict.fromkeys(written))}"
    else:
        remedy = "give one of the bodies a vector of its own, or write a joint between them"
    return path, f"{dotted(path)}: {trouble.first!r} and {trouble.second!r} {trouble.words}; {remedy}."


def _text(origin: Origin, choice: Choice) -> str:
    from kinegrad.model.writing import flow

    return flow(to_plain(document(origin, choice)))


def _a(word: str) -> str:
    return f"a {word} joint"
