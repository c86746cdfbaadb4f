"""The joints between bodies that follow from the points and vectors they share: a table of decisions.

Two bodies that share points are held together there, and the directions that they share besides decide the joint: none,
spherical (or Cardan, if each has a vector of its own and these are perpendicular); one, revolute; two, fixed. Two bodies that
share vectors and no point move along each other, as far as their points lie: on a line along the vector, cylindrical, or
prismatic if they share two vectors; in a plane across it, planar. What other joints hold together already is not held again.
Nothing is guessed: what could be two joints, or none, is told with the choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

EXACT = 1e-9  # sine or cosine that counts as zero
NEAR = 1e-3  # and one that is too small to be meant as another direction

#: What written joints hold together: their markers; vectors along their axis; all vectors.
HOLD_POINTS = ("revolute", "spherical", "cardan", "fixed")
HOLD_AXIS = ("revolute", "cylindrical", "screw", "planar")
HOLD_VECTORS = ("prismatic", "fixed")
STRICT = ("prismatic", "cylindrical", "planar")


@dataclass(frozen=True)
class Choice:
    """A joint that would do: its type, a point of each body, what its axis is (a vector, or the way of two points), and why."""

    type: str
    first: str
    second: str
    points: tuple[str, str]
    axis: tuple[str, ...] = ()
    why: str = ""

    @property
    def kind(self) -> tuple:
        """What tells two choices for one pair of bodies apart."""
        return self.type, self.axis


@dataclass(frozen=True)
class Trouble:
    """What two bodies share that does not say which joint they have; `choices` are those that would do."""

    first: str
    second: str
    key: str
    words: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Written:
    """A joint that stands in the model: bodies, names of its markers, type, and the direction of its axis, if any."""

    bodies: tuple[str, str]
    markers: tuple[str, str]
    type: str
    axis: np.ndarray | None = None


@dataclass
class Shared:
    """Who has which points and vectors, in the order of the file and the ground first, and where these are.

    Attributes
    ----------
    points, vectors : dict body -> names
    place, direction : dict name -> (3,) global coordinates, or unit vector
    """

    points: Mapping[str, Sequence[str]]
    vectors: Mapping[str, Sequence[str]]
    place: Mapping[str, np.ndarray]
    direction: Mapping[str, np.ndarray]
    written: Sequence[Written] = ()
    _roots: dict = field(default_factory=dict)

    def pairs(self, table: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """Bodies with an entry of `table` in common, each two once, without those with a joint that is written out."""
        owners: dict[str, list[str]] = {}
        for body, names in table.items():
            for name in names:
                owners.setdefault(name, []).append(body)
        done = {frozenset(joint.bodies) for joint in self.written}
        found = {pair for bodies in owners.values() for pair in combinations(bodies, 2) if frozenset(pair) not in done}
        order = {body: i for i, body in enumerate(table)}
        return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))

    def common(self, table: Mapping[str, Sequence[str]], a: str, b: str) -> list[str]:
        """What both bodies list, in the order of the first."""
        return [name for name in table[a] if name in table[b]]

    # --- what joints hold together ---

    def root(self, what: str, name: str, body: str):
        """The same for bodies in which joints keep an entity together."""
        key = (what, name, body)
        while self._roots.get(key, key) != key:
            key = self._roots[key]
        return key

    def hold(self, what: str, names: Sequence[str], a: str, b: str) -> None:
        """Note that a joint keeps entities of two bodies together."""
        for name in names:
            self._roots[self.root(what, name, a)] = self.root(what, name, b)

    def held(self, what: str, names: Sequence[str], a: str, b: str) -> bool:
        """Whether joints keep all of them together already."""
        return all(self.root(what, name, a) == self.root(what, name, b) for name in names)


def joints_of(shared: Shared) -> tuple[list[Choice], list[Trouble]]:
    """The joints that the bodies have, and what does not say which joint it is."""
    for joint in shared.written:
        _hold_written(shared, joint)
    found, troubles = _joints_at_points(shared)
    more, open_ones = _joints_along_vectors(shared)
    order = {body: i for i, body in enumerate(shared.points)}
    return sorted([*found, *more], key=lambda c: (order[c.first], order[c.second])), troubles + open_ones


def _hold_written(shared: Shared, joint: Written) -> None:
    a, b = joint.bodies
    at = joint.markers[0]
    if joint.type in HOLD_POINTS and at == joint.markers[1]:
        shared.hold("point", [at], a, b)
        points = shared.common(shared.points, a, b) if at in shared.place else []
        ways = {name: shared.place[name] - shared.place[at] for name in points}
        on_axis = [name for name, way in ways.items() if _along(shared, joint, way)]
        shared.hold("point", points if joint.type == "fixed" else on_axis, a, b)
    for name in shared.common(shared.vectors, a, b):
        along = joint.axis is not None and _sine(joint.axis, shared.direction[name]) <= EXACT
        if joint.type in HOLD_VECTORS or (joint.type in HOLD_AXIS and along):
            shared.hold("vector", [name], a, b)


def _along(shared: Shared, joint: Written, way: np.ndarray) -> bool:
    """Whether a written joint with an axis holds a point that lies this way from its marker."""
    if np.linalg.norm(way) <= EXACT * _size(shared, *joint.bodies):
        return True
    return joint.type == "revolute" and joint.axis is not None and _sine(way, joint.axis) <= EXACT


# --- bodies with points in common ---


def _joints_at_points(shared: Shared) -> tuple[list[Choice], list[Trouble]]:
    """Joints of bodies that share points; those with the most in common first, then neighbours in the file."""
    order = {body: i for i, body in enumerate(shared.points)}
    pairs = [(_directions(shared, a, b), a, b) for a, b in shared.pairs(shared.points)]
    pairs.sort(key=lambda entry: (-len(entry[0]), order[entry[2]] - order[entry[1]], order[entry[1]]))
    found, troubles = [], []
    for directions, a, b in pairs:
        points, vectors = shared.common(shared.points, a, b), shared.common(shared.vectors, a, b)
        if shared.held("point", points, a, b) and shared.held("vector", vectors, a, b):
            continue
        shared.hold("point", points, a, b)
        shared.hold("vector", vectors, a, b)
        shared.hold("level", vectors, a, b)
        answer = _joint_at_points(shared, a, b, points, vectors, directions)
        (found if isinstance(answer, Choice) else troubles).append(answer)
    return found, troubles


def _directions(shared: Shared, a: str, b: str) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """Up to two independent directions that both bodies have, and names of what they come from; vectors first."""
    points = shared.common(shared.points, a, b)
    ways = [((name,), shared.direction[name]) for name in shared.common(shared.vectors, a, b)]
    for name in points[1:]:
        way = shared.place[name] - shared.place[points[0]]
        if np.linalg.norm(way) > EXACT * _size(shared, a, b):
            ways.append(((points[0], name), way / np.linalg.norm(way)))
    found = ways[:1]
    if found:
        farthest = max(ways, key=lambda entry: _sine(entry[1], found[0][1]))
        if _sine(farthest[1], found[0][1]) > EXACT:
            found.append(farthest)
    return found


def _joint_at_points(shared, a, b, points, vectors, directions) -> Choice | Trouble:
    at = (points[0], points[0])
    share = "share " + _listed(points, vectors)
    if not directions:
        return _ball_or_cardan(shared, a, b, at, share + ", which are at one place" * (len(points) > 1))
    several = len(points) + len(vectors) > 2
    hinge = Choice("revolute", a, b, at, directions[0][0], share + ", which have one direction" * several)
    if len(directions) == 1:
        return hinge
    fixed = Choice("fixed", a, b, at, (), share + ", which have two directions")
    sine = _sine(directions[0][1], directions[1][1])
    if sine <= NEAR:
        words = f"{share}, whose directions are nearly one (sine {sine:.1g}); make them exact"
        return Trouble(a, b, "points", words, (hinge, fixed))
    return fixed


def _ball_or_cardan(shared: Shared, a: str, b: str, at: tuple[str, str], share: str) -> Choice | Trouble:
    ball = Choice("spherical", a, b, at, (), share)
    own = [[v for v in shared.vectors[x] if sum(v in names for names in shared.vectors.values()) == 1] for x in (a, b)]
    crosses, near = [], []
    for u, w in product(*own):
        cosine = abs(shared.direction[u] @ shared.direction[w])
        why = f"{share}, and their own vectors {u} and {w} are perpendicular"
        if cosine <= NEAR:
            (crosses if cosine <= EXACT else near).append(Choice("cardan", a, b, at, (u, w), why))
    if len(crosses) == 1 and not near:
        return crosses[0]
    if crosses or near:
        more = "several pairs of their own vectors are" if crosses else "two of their own vectors are nearly"
        return Trouble(a, b, "points", f"{share}, and {more} perpendicular", (ball, *crosses, *near))
    return ball


# --- bodies with vectors and no point in common ---


def _joints_along_vectors(shared: Shared) -> tuple[list[Choice], list[Trouble]]:
    """Joints of bodies that share vectors that nothing holds together yet; the strictest first."""
    answers: dict[tuple[str, str], Choice | Trouble] = {}
    for a, b in shared.pairs(shared.vectors):
        if not shared.common(shared.points, a, b) and not _settled(shared, a, b):
            answers[a, b] = _joint_along_vectors(shared, a, b)
    sure = [answer for answer in answers.values() if isinstance(answer, Choice)]
    sure.sort(key=lambda choice: STRICT.index(choice.type))
    found, troubles = [], []
    for choice in sure:
        a, b = choice.first, choice.second
        if _settled(shared, a, b):
            continue
        others = [
            c for c in sure if c is not choice and c.type == choice.type and not _settled(shared, c.first, c.second)
        ]
        others = [c for c in others if _joins_the_same(shared, choice, c) and not _equivalent(shared, choice, c)]
        if others:
            choices = (choice, *others)
            words = f"{choice.why}; so do {', '.join(f'{c.first!r} and {c.second!r}' for c in others)}"
            troubles.append(Trouble(a, b, "vectors", words, choices))
        else:
            found.append(choice)
        vectors = shared.common(shared.vectors, a, b)
        axis = shared.direction[choice.axis[0]]
        level = [v for v in vectors if choice.type == "planar" or abs(axis @ shared.direction[v]) <= EXACT]
        shared.hold("level", level if choice.type != "cylindrical" else [], a, b)
        shared.hold("vector", vectors, a, b)
    for (a, b), answer in answers.items():
        if isinstance(answer, Trouble) and not _settled(shared, a, b):
            troubles.append(answer)
            shared.hold("vector", shared.common(shared.vectors, a, b), a, b)
    return found, troubles


def _settled(shared: Shared, a: str, b: str) -> bool:
    return shared.held("vector", shared.common(shared.vectors, a, b), a, b)


def _joins_the_same(shared: Shared, one: Choice, other: Choice) -> bool:
    """Whether two joints along one vector would tie the same two groups of bodies together."""
    name = one.axis[0]
    if not all(name in shared.vectors[body] for body in (other.first, other.second)):
        return False
    ends = [{shared.root("vector", name, body) for body in (c.first, c.second)} for c in (one, other)]
    return ends[0] == ends[1]


def _equivalent(shared: Shared, one: Choice, other: Choice) -> bool:
    """Whether they say the same, since joints hold the points (of a plane: the heights) of their bodies together."""
    name = one.axis[0]
    for body, point in zip((one.first, one.second), one.points, strict=True):
        near = [x for x in (other.first, other.second) if shared.held("vector", [name], x, body)]
        if near == [body] or (near and one.type == "planar" and shared.held("level", [name], near[0], body)):
            continue
        if not near or point not in shared.points[near[0]] or not shared.held("point", [point], near[0], body):
            return False
    return True


def _joint_along_vectors(shared: Shared, a: str, b: str) -> Choice | Trouble:
    vectors = shared.common(shared.vectors, a, b)
    share = "share " + _listed([], vectors)
    sines = [_sine(shared.direction[v], shared.direction[vectors[0]]) for v in vectors]
    if EXACT < max(sines) <= NEAR:
        return Trouble(a, b, "vectors", f"{share}, which are nearly parallel (sine {max(sines):.1g}); make them exact")
    whole = max(sines) > EXACT
    parted = [
        v
        for i, v in enumerate(vectors)
        if all(_sine(shared.direction[v], shared.direction[w]) > EXACT for w in vectors[:i])
    ]
    pairs = [*product(shared.points[a], shared.points[b])]
    lines, near, touching = _lines(shared, a, b, parted, pairs, whole, share)
    if len(lines) == 1:
        return lines[0]
    if lines:
        several = "along several of them" if whole else "on several lines along it"
        return Trouble(a, b, "vectors", f"{share}, and have points {several}", tuple(lines))
    if near:
        (p, q), v, sine = near[0]
        return Trouble(
            a, b, "vectors", f"{share}, and {q} lies nearly along {v} from {p} (sine {sine:.1g}); make it exact"
        )
    if touching:
        p, q = touching[0]
        kinds = [("prismatic", v) for v in parted] if whole else [("cylindrical", parted[0]), ("planar", parted[0])]
        choices = tuple(Choice(kind, a, b, (p, q), (v,), share) for kind, v in kinds)
        return Trouble(
            a, b, "vectors", f"{share}, and {p} and {q} are at one place, which lies along and across them", choices
        )
    if not whole:
        for p, q in pairs:
            way = shared.place[q] - shared.place[p]
            if abs(way @ shared.direction[parted[0]]) <= EXACT * np.linalg.norm(way):
                why = f"{share}, and {q} lies in the plane through {p} across it"
                return Choice("planar", a, b, (p, q), (parted[0],), why)
    bare = next((body for body in (a, b) if not shared.points[body]), None)
    them = "it" if len(vectors) == 1 else "them"
    lies = f"no point of one lies along {'or across ' * (not whole)}{them} from a point of the other"
    return Trouble(a, b, "vectors", f"{share}, but {lies if bare is None else f'{bare!r} lists no point'}")


def _lines(shared, a, b, vectors, pairs, whole, share) -> tuple[list[Choice], list, list[tuple[str, str]]]:
    """A joint for each line along one of `vectors` on which both bodies have points, pairs nearly on one, and at one place."""
    found, near, touching, size = [], [], [], _size(shared, a, b)
    for v, (p, q) in product(vectors, pairs):
        u, way = shared.direction[v], shared.place[q] - shared.place[p]
        if np.linalg.norm(way) <= EXACT * size:
            touching.append((p, q))
        elif (sine := _sine(way, u)) > EXACT:
            near += [((p, q), v, sine)] if sine <= NEAR else []
        else:
            apart = [shared.place[p] - shared.place[c.points[0]] for c in found if c.axis == (v,)]
            if apart and (whole or any(np.linalg.norm(np.cross(x, u)) <= EXACT * size for x in apart)):
                continue
            kind, orientation = ("prismatic", ", so their orientation") if whole else ("cylindrical", "")
            why = f"{share}{orientation}, and {q} lies on the line through {p} along {v}"
            found.append(Choice(kind, a, b, (p, q), (v,), why))
    return found, near, touching


# --- small ones ---


def _sine(x: np.ndarray, y: np.ndarray) -> float:
    """Of the angle of two vectors that are not zero, taken as lines."""
    return float(np.linalg.norm(np.cross(x, y)) / (np.linalg.norm(x) * np.linalg.norm(y)))


def _size(shared: Shared, a: str, b: str) -> float:
    """The largest coordinate of the points of two bodies."""
    return max((abs(shared.place[p]).max() for p in (*shared.points[a], *shared.points[b])), default=0.0) or 1.0


def _listed(points: Sequence[str], vectors: Sequence[str]) -> str:
    """ "the point A and the vectors x, y"."""
    parts: Iterator[str] = (
        f"the {word}{'s' * (len(names) > 1)} {', '.join(names)}"
        for word, names in (("point", points), ("vector", vectors))
        if names
    )
    return " and ".join(parts)
