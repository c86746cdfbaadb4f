"""Random mechanisms that are assembled by construction: `generate(seed)`.

Bodies are placed one after the other by random joint coordinates; loops are closed by joints whose markers and axes are
read off the poses. What a closing joint takes away is counted by rank, so that what is left moves: closures in space
hold all their rows, planar ones those in the plane, doubled ones none. Every joint has markers of its own.
"""

from dataclasses import dataclass, field

import numpy as np

from soak.absolute import Instant
from soak.elements import add_elements
from soak.rotations import across, cross, random_rotation, turn, unit
from soak.values import Numbers

FREEDOMS = {
    "revolute": 1, "prismatic": 1, "cylindrical": 2, "screw": 1, "cardan": 2, "spherical": 3, "planar": 3,
    "floating": 6, "fixed": 0, "link": 5,
}  # fmt: skip
COORDINATES = {
    "revolute": ["angle"], "prismatic": ["distance"], "cylindrical": ["distance", "angle"], "screw": ["angle"],
    "cardan": ["angle1", "angle2"], "planar": ["x", "y", "angle"],
}  # fmt: skip
FAMILIES = ("tree", "tree", "spatial", "spatial", "spatial", "planar", "parallelogram", "spherical", "doubled")
WEAKEST = 3e-3  # ratio of singular values that counts as regular
TRIES = 30


@dataclass
class Mechanism:
    """A document with what is known of it by construction.

    Attributes
    ----------
    size, time : float
        Typical length [m] and time [s].
    poses : {body: (r, A)} where it is assembled
    motion : (6 bodies,) velocities and angular velocities at the start
    loose : set of joints and bodies whose numbers may be changed one by one without pulling a loop apart
    loops : list of joints left out by a spanning tree
    """

    seed: int
    family: str
    document: dict
    size: float
    time: float
    mass: float
    poses: dict = field(default_factory=dict)
    motion: np.ndarray | None = None
    stiff: set = field(default_factory=set)
    mobility: int = 0
    freedoms: int = 0

    @property
    def step(self):
        return self.time / 200.0

    @property
    def t_end(self):
        return self.time / 5.0

    def instant(self, document=None):
        """The equations at the start."""
        return Instant(document or self.document, self.poses, self.motion, size=self.size)


def generate(seed, size=None, mass=None):
    """The mechanism of a seed; another one is drawn from the same generator when one comes out singular.

    With `size` and `mass` the same mechanism, but for its length [m] and its masses [kg].
    """
    rng = np.random.default_rng([7, seed])
    for _ in range(TRIES):
        mechanism = Maker(seed, rng, size, mass).make()
        if mechanism is not None:
            return mechanism
    raise RuntimeError(f"no mechanism came out of seed {seed}")


class Maker:
    """One mechanism on its way."""

    def __init__(self, seed, rng, size=None, mass=None):
        self.rng = rng
        sizes = float(rng.choice([1e-3, 1.0, 1.0, 1.0, 1e3])), float(rng.choice([1e-3, 1.0, 1.0, 1e3]))
        self.size = L = size or sizes[0]
        self.mass = mass or sizes[1]
        self.time = float(np.sqrt(L / 10.0) * rng.uniform(0.7, 1.5))
        self.numbers = Numbers(rng)
        self.family = str(rng.choice(FAMILIES))
        self.document = {"kinegrad": 1, "parameters": self.numbers.parameters, "ground": {"markers": {}}}
        self.document |= {"bodies": {}, "joints": {}}
        self.mechanism = Mechanism(seed, self.family, self.document, L, self.time, self.mass)
        self.poses = self.mechanism.poses
        self.tree = []  # joints that placed a body
        self.closing = []  # joints that closed a loop
        self.stiff = self.mechanism.stiff  # joints in redundant loops, and their bodies

    # --- small ones ---

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, things):
        return things[self.rng.integers(len(things))]

    def point(self, size=0.6):
        return self.rng.uniform(-size, size, 3) * self.size

    def direction(self):
        return unit(self.rng.normal(size=3))

    def write(self, vector, fixed=False):
        return [float(x) for x in vector] if fixed else [self.numbers.write(x) for x in vector]

    def pose(self, body):
        return (np.zeros(3), np.eye(3)) if body == "ground" else self.poses[body]

    def instant(self):
        return Instant(self.document, self.poses, size=self.size)

    def rank(self):
        """Rank of all rows, and how clearly it is that."""
        J, _ = self.instant().scaled(self.instant().jacobian)
        sigma = np.linalg.svd(J, compute_uv=False) if len(J) else np.zeros(1)
        found = int((sigma > 1e-8 * max(sigma[0], 1e-300)).sum())
        return found, (sigma[found - 1] / sigma[0] if found else 1.0)

    # --- bodies and joints ---

    def add_body(self):
        name = f"b{len(self.document['bodies'])}"
        rng, m = self.rng, self.mass * 10.0 ** self.rng.uniform(-0.7, 0.7)
        points = rng.normal(size=(6, 3)) * self.size * rng.uniform(0.1, 0.3)
        points -= points.mean(axis=0)
        I = m / 6.0 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)
        body = {"mass": self.numbers.write(m), "com": self.write(self.point(0.3))}
        kind = rng.integers(3)
        if kind == 0:
            six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            body["inertia"] = self.write(six)
        elif kind == 1:
            body["inertia"] = self.write(np.linalg.eigvalsh(I))
        else:
            across_ = float(np.trace(I) / 3.0)
            along = 0.0 if self.chance(0.2) else across_ * rng.uniform(0.05, 1.5)
            body["inertia"] = {
                "axis": self.write(self.direction()),
                "along": along,
                "across": self.numbers.write(across_),
            }
        markers = {f"p{k}": self.write(self.point()) for k in range(3)}
        markers["v"] = {"vector": self.write(self.direction())}
        if self.chance(0.3):
            markers["f"] = {"origin": self.write(self.point()), "x_axis": [1, 0.2, 0], "z_axis": [0, 0.3, 1]}
        body["markers"] = markers
        if self.chance(0.2):
            body["point_masses"] = {"tip": {"mass": self.numbers.write(0.2 * m), "at": self.write(self.point())}}
        self.document["bodies"][name] = body
        return name

    def put(self, body, marker, position, fixed=False):
        """The name of a new point marker of a body."""
        place = self.document["ground"] if body == "ground" else self.document["bodies"][body]
        place["markers"][marker] = self.write(position, fixed)
        return f"{body}.{marker}"

    def new_joint(self):
        return f"j{len(self.document['joints'])}"

    def place(self, parent, kind):
        """A new body that a joint of this kind ties to `parent`; the joint may name it first or second."""
        child, name = self.add_body(), self.new_joint()
        backward = self.chance(0.4)
        s_parent, s_child = self.point(), self.point()
        r, A = self.pose(parent)
        joint, R, shift = self.relative(kind)
        # the joint's frames: second seen from first is (shift, R); with `backward` the parent is the second
        if backward:
            R, shift = R.T, -R.T @ shift
        A2 = A @ R
        self.poses[child] = (r + A @ (s_parent + shift) - A2 @ s_child, A2)
        ends = [self.put(parent, f"{name}a", s_parent), self.put(child, f"{name}b", s_child)]
        self.document["joints"][name] = {"type": kind, "between": ends[:: -1 if backward else 1], **joint}
        self.tree.append(name)
        return child

    def relative(self, kind):
        """Keys of a joint, and the rotation and shift of the second body seen from the first, in the first's frame."""
        rng, L = self.rng, self.size
        none = np.zeros(3)
        angle, slide = rng.uniform(-2.0, 2.0), rng.uniform(-0.6, 0.6) * L
        if kind == "fixed":
            return {}, np.eye(3), none
        if kind == "spherical":
            return {}, self.moderate(), none
        if kind == "floating":
            return {}, self.moderate(), self.point()
        if kind == "cardan":
            a1 = self.direction()
            a2 = across(self.direction(), a1)
            return (
                {"axes": [self.write(a1, True), self.write(a2, True)]},
                turn(a1, angle) @ turn(a2, rng.uniform(-1, 1)),
                none,
            )
        a1 = self.direction()
        z1 = across(self.direction(), a1)
        turns = 0.0 if kind == "prismatic" else angle
        shift = {"revolute": none, "planar": slide * z1 + rng.uniform(-0.5, 0.5) * L * cross(a1, z1)}.get(
            kind, slide * a1
        )
        joint = {}
        if kind == "screw":
            pitch = L * rng.choice([-1, 1]) * rng.uniform(0.02, 0.3)
            turns = angle + 2.0 * np.pi * rng.integers(-1, 2)
            joint["pitch"], shift = self.numbers.write(pitch), pitch * turns * a1
        R = turn(a1, turns)
        if kind == "planar":
            if self.chance(0.5):
                return {"axis": self.write(a1, True), "x_axis": self.write(z1, True)}, R, shift
            C = random_rotation(rng)
            joint = {"axis": [self.write(a1, True), self.write(C.T @ a1, True)]}
            return joint | {"x_axis": [self.write(z1, True), self.write(C.T @ z1, True)]}, R @ C, shift
        if self.chance(0.5):
            return joint | {"axis": self.write(rng.uniform(0.5, 2.0) * a1)}, R, shift
        C = random_rotation(rng)  # the second body's frame at angle zero
        joint["axis"] = [self.write(a1), self.write(C.T @ a1)]
        if kind in ("prismatic", "screw") or self.chance(0.8):
            z2 = z1 if kind in ("prismatic", "screw") else z1 + rng.normal() * a1
            joint["zero"] = [self.write(z1), self.write(C.T @ z2)]
        return joint, R @ C, shift

    def moderate(self):
        """A rotation by less than 2 rad."""
        return turn(self.direction(), self.rng.uniform(-2.0, 2.0))

    # --- closures ---

    def accept(self, name, section, element, expected, weakest=WEAKEST):
        """Put in an element; take it out again unless it raises the rank by just what is expected."""
        before, _ = self.rank()
        self.document.setdefault(section, {})[name] = element
        after, ratio = self.rank()
        if after - before == expected and ratio > weakest:
            return True
        del self.document[section][name]
        return False

    def close(self, first, second, kind, fixed=False, axis=None, at=None, expected=None, along=None):
        """Close a loop between two bodies by a joint at a global point with a global axis; whether it could be done."""
        (r1, A1), (r2, A2) = self.pose(first), self.pose(second)
        name = self.new_joint()
        x1 = (0.5 * (r1 + r2) + self.point(0.4)) if at is None else at
        u = self.direction() if axis is None else axis
        z = across(self.direction(), u) if along is None else along
        joint, x2, R = {"type": kind}, x1, A1.T @ A2
        if kind == "cardan":
            a2 = self.direction()
            a1 = cross(a2, R @ a2)
            a1 = unit(a1) if np.linalg.norm(a1) > 0.1 else across(self.direction(), a2)
            if abs(a1 @ R @ a2) > 1e-12:  # nearly parallel frames
                return None
            joint["axes"] = [self.write(a1, True), self.write(a2, True)]
        elif kind == "link":
            x2 = x1 + self.size * self.rng.uniform(0.3, 1.5) * u
        elif kind not in ("spherical", "fixed", "floating"):
            angle = 0.0 if kind == "prismatic" else self.rng.uniform(-1.5, 1.5)
            slide = self.rng.uniform(-0.4, 0.4) * self.size
            z2 = turn(u, angle) @ z
            if kind == "screw":
                pitch = self.size * self.rng.choice([-1, 1]) * self.rng.uniform(0.05, 0.3)
                joint["pitch"], slide = self.numbers.write(pitch, fixed), pitch * angle
            rigid = fixed or kind == "planar"
            joint["axis"] = [self.write(A1.T @ u, rigid), self.write(A2.T @ u, rigid)]
            joint["x_axis" if kind == "planar" else "zero"] = [
                self.write(A1.T @ z, rigid),
                self.write(A2.T @ z2, rigid),
            ]
            if kind == "planar":
                x2 = x1 + slide * z
            elif kind != "revolute":
                x2 = x1 + slide * u
        ends = [
            self.put(first, f"{name}a", A1.T @ (x1 - r1), fixed),
            self.put(second, f"{name}b", A2.T @ (x2 - r2), fixed),
        ]
        joint["between"] = ends
        if kind == "link":
            joint["length"] = self.numbers.write(float(np.linalg.norm(x2 - x1)))
        if not self.accept(name, "joints", joint, 6 - FREEDOMS[kind] if expected is None else expected):
            return None
        self.closing.append(name)
        return name

    def pair_of_bodies(self):
        bodies = ["ground", *self.document["bodies"]]
        i, j = self.rng.choice(len(bodies), 2, replace=False)
        return bodies[i], bodies[j]

    def left(self):
        return 6 * len(self.document["bodies"]) - self.rank()[0]

    # --- families ---

    def make(self):
        rng = self.rng
        {
            "tree": lambda: None,
            "spatial": lambda: None,
            "planar": self.planar_core,
            "parallelogram": self.parallelogram_core,
            "spherical": self.spherical_core,
            "doubled": lambda: None,
        }[self.family]()
        more = rng.integers(1, 7) if not self.document["bodies"] else rng.integers(0, 3)
        for _ in range(more):
            bodies = ["ground", *self.document["bodies"]]
            kinds = [*COORDINATES, "revolute", "spherical", "spherical", "fixed", "floating"]
            self.place(self.pick(bodies) if self.chance(0.7) else bodies[-1], self.pick(kinds))
        if self.family != "tree":
            for _ in range(rng.integers(1, 5)):
                kinds = [*COORDINATES, "spherical", "link", "link"]
                kind = self.pick(kinds)
                if self.left() - (6 - FREEDOMS[kind]) >= (0 if self.chance(0.15) else 1):
                    self.close(*self.pair_of_bodies(), kind)
        if self.family == "doubled" or self.chance(0.1):
            self.double()
        if self.chance(0.15):
            self.close(*self.pair_of_bodies(), "floating", expected=0)
        if not add_elements(self):
            return None
        return self.mechanism

    def double(self):
        """A second joint beside one of the first: hinges on one axis, parallel slides, equal screws."""
        partners = {
            "revolute": ["revolute", "cylindrical", "spherical", "planar"], "prismatic": ["prismatic", "cylindrical"],
            "cylindrical": ["cylindrical"], "spherical": ["spherical"], "planar": ["planar"],
            "fixed": ["revolute", "spherical", "cardan", "planar", "prismatic"],
        }  # fmt: skip
        joints = [name for name in self.tree if self.document["joints"][name]["type"] in partners]
        if not joints:
            return
        for name in self.rng.permutation(joints)[: self.rng.integers(1, 3)]:
            joint = self.freeze(str(name))
            first, second = (marker.partition(".")[0] for marker in joint["between"])
            instant = self.instant()
            x = instant.marker(joint["between"][0]).v
            u = instant.joint_vectors(str(name))[0].v if "axis" in joint else self.direction()
            kind = self.pick(partners[joint["type"]])
            at = x if joint["type"] == "spherical" else x + 0.3 * self.size * u
            axis = u
            if joint["type"] == "prismatic":
                at = at + self.point(0.3)
            if (joint["type"], kind) == ("planar", "planar"):
                at = at + self.point(0.3)
            made = self.close(first, second, kind, fixed=True, axis=axis, at=at, expected=0)
            if made:
                self.stiff |= {str(name), made}

    def freeze(self, name):
        """The joint, with plain numbers in it and in its markers."""
        joint = self.document["joints"][name]
        parameters = self.instant().parameters
        for key in ("axis", "zero", "pitch", "axes", "x_axis"):
            if key in joint:
                joint[key] = self.numbers.plain(joint[key], parameters)
        for marker in joint["between"]:
            body, _, point = marker.partition(".")
            place = self.document["ground"] if body == "ground" else self.document["bodies"][body]
            place["markers"][point] = self.numbers.plain(place["markers"][point], parameters)
        return joint

    def planar_core(self):
        """Bodies in a plane, tied by hinges and slides across it; closures that add two rows to five."""
        n = np.array([0.0, 0.0, 1.0]) if self.chance(0.5) else self.direction()
        bodies = ["ground"]
        for _ in range(self.rng.integers(3, 6)):
            parent = self.pick(bodies) if self.chance(0.5) else bodies[-1]
            body, kind = self.add_body(), self.pick(["revolute", "revolute", "prismatic", "planar"])
            r, A = self.pose(parent)
            self.poses[body] = (r + self.flat(n), A @ turn(A.T @ n, self.rng.uniform(-1.5, 1.5)))
            self.join_in_plane(parent, body, kind, n, 6 - FREEDOMS[kind], closing=False)
            bodies.append(body)
        for _ in range(self.rng.integers(1, 4)):
            first, second = (bodies[k] for k in self.rng.choice(len(bodies), 2, replace=False))
            if self.left() < 3:
                break
            self.join_in_plane(first, second, self.pick(["revolute", "revolute", "prismatic"]), n, 2, closing=True)

    def flat(self, n):
        """A random vector in the plane."""
        x = self.point(1.0)
        return x - n * (n @ x)

    def join_in_plane(self, first, second, kind, n, expected, closing):
        at = (
            0.5 * (self.pose(first)[0] + self.pose(second)[0])
            + self.flat(n) * 0.6
            + n * self.rng.normal() * 0.1 * self.size
        )
        axis = unit(self.flat(n)) if kind == "prismatic" else n
        ends = (first, second) if self.chance(0.6) else (second, first)
        name = self.close(*ends, kind, fixed=True, axis=axis, at=at, expected=expected)
        if name and not closing:
            self.closing.remove(name)
            self.tree.append(name)
        if name:
            self.stiff.add(name)
        return name

    def parallelogram_core(self):
        """A coupler on three or four equal cranks."""
        n = np.array([0.0, 0.0, 1.0]) if self.chance(0.5) else self.direction()
        crank = self.flat(n)
        origin, A = self.point(), random_rotation(self.rng)
        coupler = self.add_body()
        self.poses[coupler] = (origin + crank, A)
        for k in range(self.rng.integers(2, 5)):
            body = self.add_body()
            foot = origin + k * self.flat(n) + n * self.rng.normal() * 0.1 * self.size
            self.poses[body] = (foot + 0.3 * crank, random_rotation(self.rng))
            for end, at in (("ground", foot), (coupler, foot + crank)):
                ends = (end, body) if self.chance(0.6) else (body, end)
                expected = 5 if end == "ground" else (5, 2, 1, 1)[k]
                name = self.close(*ends, "revolute", fixed=True, axis=n, at=at, expected=expected)
                if name is None:
                    break
                self.stiff.add(name)

    def spherical_core(self):
        """Four hinges whose axes meet in a point."""
        centre, bodies = self.point(), ["ground"]
        for k in range(4):
            last = k == 3
            axis = self.direction()
            if not last:
                bodies.append(self.add_body())
                self.poses[bodies[-1]] = (centre + self.point(), random_rotation(self.rng))
            first, second = (bodies[-1], "ground") if last else (bodies[-2], bodies[-1])
            at = centre + axis * self.rng.uniform(-0.5, 0.5) * self.size
            name = self.close(first, second, "revolute", fixed=True, axis=axis, at=at, expected=2 if last else 5)
            if name:
                self.stiff.add(name)
