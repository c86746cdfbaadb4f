"""What is added to a random mechanism of bodies and joints: measures, constraints, drivers, starts, forces, objectives."""

import numpy as np

from soak.absolute import Instant
from soak.paths import follow
from soak.rotations import random_rotation, turn

LINES = ("parallel", "same-direction", "point-on-line", "point-in-plane")
BLOCKS = {"spherical": 3, "floating": 6}
INDEPENDENT = (0.2, 0.05)  # part of a unit row that must be new, at first and when that is too much
WORST_CONDITION = 1e7  # of the inertia on free motions
SINGULAR = 1e-3  # ratio of singular values at which a position counts as singular
STEPS = 4  # in which a mechanism is followed to see whether it stays regular


def add_elements(maker):
    """Whether the mechanism could be made complete."""
    return Elements(maker).add()


class Elements:
    """Adds to the document of a maker."""

    def __init__(self, maker):
        self.maker, self.rng, self.document = maker, maker.rng, maker.document
        self.chance, self.pick, self.write = maker.chance, maker.pick, maker.numbers.write
        self.L, self.m, self.T = maker.size, maker.mass, maker.time
        self.bodies = list(self.document["bodies"])

    def add(self):
        self.mark_cuts()
        self.add_measures()
        self.scalars = [*self.joint_coordinates(), *self.components(), *self.document["measures"]]
        self.startable = [*self.scalars, *(self.joint_coordinates(cut=True) if self.marked else [])]
        self.add_constraints()
        mechanism = self.maker.mechanism
        mechanism.mobility = self.maker.left()
        freedoms = self.choose_freedoms(mechanism.mobility)
        if freedoms is None:
            return False
        free = self.add_drivers(freedoms)
        self.add_starts(free)
        self.add_forces()
        self.add_objectives()
        self.write_poses(free)
        self.document["design"] = [name for name, x in self.document["parameters"].items() if not isinstance(x, str)]
        self.document["simulation"] = {"t_end": mechanism.t_end, "step": mechanism.step}
        self.document["title"] = f"soak {mechanism.seed}: {mechanism.family}"
        self.drop_empty()
        return self.finish(free)

    # --- which coordinates may be used ---

    def mark_cuts(self):
        """Choose a spanning tree. Its other joints are marked as cut, and then serve as degrees of freedom only; or their
        coordinates are left alone."""
        joints = self.document["joints"]
        names = [name for name in joints if joints[name]["type"] != "link"]
        self.left_out = outside_tree(joints, self.rng.permutation(names).tolist())
        self.marked = self.chance(0.5)
        for name in self.left_out if self.marked else []:
            joints[name]["cut"] = True

    def joint_coordinates(self, cut=False):
        """Coordinates of the joints of the tree, or of those that are cut."""
        from soak.mechanisms import COORDINATES

        found = []
        for name, joint in self.document["joints"].items():
            parts = COORDINATES.get(joint["type"], [])
            if (name in self.left_out) != cut:
                continue
            pair_alone = (
                "zero" not in joint and joint["type"] != "planar" and isinstance(joint.get("axis", [0])[0], list)
            )
            found += [f"{name}.{part}" for part in parts if not (pair_alone and part == "angle")]
        return found

    def components(self):
        return [f"{body}.p{k}.{x}" for body in self.bodies for k in range(2) for x in "xyz"]

    def random_point(self):
        body = self.pick(self.bodies)
        return f"{body}.p{self.rng.integers(3)}"

    def two_points(self):
        """Points of two different bodies, one of which may be the ground."""
        a = self.random_point()
        others = [body for body in self.bodies if body != a.partition(".")[0]]
        if not others or self.chance(0.4):
            return self.maker.put("ground", f"g{len(self.document['ground']['markers'])}", self.maker.point(1.0)), a
        return f"{self.pick(others)}.p{self.rng.integers(3)}", a

    def add_measures(self):
        a, b = self.two_points()
        coordinates = self.joint_coordinates() or [f"{a}.x" if not a.startswith("ground") else f"{b}.x"]
        z = self.pick(coordinates)
        body = self.pick(self.bodies)
        scale = self.L if z.rpartition(".")[2] in ("distance", "x", "y", "z") else 1.0
        self.document["measures"] = {
            "reach": f"norm({a}.position - {b}.position)",
            "mixed": f"{0.4 / scale!r}*{z} + {self.write(0.7)}*{b}.y/{self.L!r}",
            "lean": f"atan2({body}.v.position.y, 2 + {body}.v.position.x)",
        }

    # --- constraints and starts ---

    def add_constraints(self):
        for k in range(self.rng.integers(0, 3) if self.chance(0.35) else 0):
            if self.maker.left() < 2:
                return
            constraint, rows = self.constraint()
            self.maker.accept(f"c{k}", "constraints", constraint, rows)

    def constraint(self):
        kind = self.pick(["coincidence", "distance", "dot", "angle", "linear", "guidance", *LINES])
        a, b = self.two_points()
        instant = Instant(self.document, self.maker.poses, size=self.L)
        xa, xb = instant.marker(a).v, instant.marker(b).v
        if kind == "coincidence":
            body = b.partition(".")[0]
            r, A = self.maker.pose(body)
            other = self.maker.put(body, f"k{self.rng.integers(10**6)}", A.T @ (xa - r))
            return {"type": kind, "between": [a, other]}, 3
        if kind == "distance":
            return {"type": kind, "between": [a, b], "distance": self.write(np.linalg.norm(xb - xa))}, 1
        if kind in ("dot", "angle"):
            u = self.pick(self.bodies)
            others = [body for body in self.bodies if body != u]
            self.document["ground"]["markers"]["gv"] = {"vector": [0.3, -0.5, 1.0]}
            v = f"{self.pick(others)}.v" if others and self.chance(0.6) else "ground.gv"
            c = float(instant.marker(f"{u}.v").v @ Instant(self.document, self.maker.poses).marker(v).v)
            return {
                "type": kind,
                "between": [f"{u}.v", v],
                "value": self.write(c if kind == "dot" else np.arccos(c)),
            }, 1
        if kind in LINES:
            return self.line(kind, a, b, xb - xa)
        if kind == "guidance":
            z = self.pick(self.scalars)
            return {"type": kind, "measure": z, "value": self.course(z, float(instant.value(z).v))}, 1
        names = [str(name) for name in self.rng.choice(self.scalars, 2, replace=False)]
        factors = [float(self.rng.choice([-1, 1]) * self.rng.uniform(0.5, 2.0) / self.unit(name)) for name in names]
        value = sum(f * float(instant.value(name).v) for f, name in zip(factors, names, strict=True))
        return {"type": kind, "terms": dict(zip(names, factors, strict=True)), "value": self.write(value)}, 1

    def line(self, kind, a, b, d):
        """A constraint of directions, or of the points a and b, which are d apart."""
        first, second = (name.partition(".")[0] for name in (a, b))
        if kind == "point-on-line":
            return {"type": kind, "between": [a, b], "along": self.put_vector(first, d)}, 2
        u = self.maker.direction()
        if kind == "point-in-plane":
            name = self.put_vector(first, u)
            return {"type": kind, "between": [a, b], "normal": name, "distance": self.write(float(u @ d))}, 1
        sense = -1.0 if kind == "parallel" and self.chance(0.5) else 1.0
        return {"type": kind, "between": [self.put_vector(first, u), self.put_vector(second, sense * u)]}, 2

    def put_vector(self, body, u):
        """The name of a new vector marker of a body, with this global direction."""
        place = self.document["ground"] if body == "ground" else self.document["bodies"][body]
        name = f"u{self.rng.integers(10**6)}"
        place["markers"][name] = {"vector": [self.write(x) for x in self.maker.pose(body)[1].T @ u]}
        return f"{body}.{name}"

    def unit(self, name):
        """The size of a measure: the length of the mechanism, or 1."""
        last = name.rpartition(".")[2]
        return self.L if last in ("distance", "x", "y", "z", "reach") else 1.0

    def choose_freedoms(self, mobility):
        """Measures, and joints that count for several freedoms, that are independent and determine the motion."""
        all_driven = self.chance(0.2)
        joints = self.document["joints"]
        blocks = [] if all_driven else [n for n in joints if joints[n]["type"] in BLOCKS and n not in self.left_out]
        instant = Instant(self.document, self.maker.poses, size=self.L)
        coordinates = [n for n in self.startable if n.partition(".")[0] in joints]
        others = [n for n in self.startable if n not in coordinates]
        for threshold in INDEPENDENT:
            first = self.rng.permutation([*blocks, *coordinates]).tolist()
            second = self.rng.permutation(others).tolist()
            order = first + second if self.chance(0.7) else self.rng.permutation(first + second).tolist()
            J, _ = instant.scaled(instant.jacobian)
            _, sigma, Vt = np.linalg.svd(J) if len(J) else (0, np.zeros(0), np.zeros((0, instant.n)))
            basis = Vt[: int((sigma > 1e-8 * sigma.max(initial=0.0)).sum())]
            chosen = []
            for name in order:
                if len(basis) == instant.n:
                    break
                rows, _ = instant.scaled(instant.freedom_rows(name))
                rest = rows - rows @ basis.T @ basis
                if len(basis) + len(rows) <= instant.n and np.linalg.svd(rest, compute_uv=False)[-1] > threshold:
                    q, _ = np.linalg.qr(rest.T)
                    basis = np.vstack([basis, q.T])
                    chosen.append(name)
            if len(basis) == instant.n:
                self.all_driven = all_driven
                return chosen
        return None

    def course(self, name, start):
        """An expression in time that begins at `start`."""
        unit, rng = self.unit(name), self.rng
        a, b = (self.write(unit * rng.uniform(-0.5, 0.5)) for _ in range(2))
        return f"{self.write(start)} + ({a})*t/{self.T!r} + ({b})*sin({float(rng.uniform(0.5, 2.0))!r}*t/{self.T!r})"

    def add_drivers(self, freedoms):
        """Drive all, some or none of the freedoms; returns those that stay free."""
        instant = Instant(self.document, self.maker.poses, size=self.L)
        share = 1.0 if self.all_driven else self.pick([0.0, 0.0, 0.4])
        free, drivers = [], {}
        for name in freedoms:
            if name in self.scalars and self.chance(share):
                value = self.course(name, float(instant.value(name).v))
                drivers[f"d{len(drivers)}"] = {"measure": name, "value": value}
            else:
                free.append(name)
        self.document["drivers"] = drivers
        self.maker.mechanism.freedoms = sum(
            BLOCKS[self.document["joints"][n]["type"]] if n in self.document["joints"] else 1 for n in free
        )
        return free

    def add_starts(self, free):
        instant = Instant(self.document, self.maker.poses, size=self.L)
        joints, starts, self.rates = self.document["joints"], {}, {}
        for name in free:
            values = instant.freedom_position(name)
            if name not in joints:
                rate = self.rng.uniform(-1, 1) * self.unit(name) / self.T
                starts[name] = {"position": self.write(values[0]), "velocity": self.write(rate)}
                self.rates[name] = [rate]
                continue
            omega = self.rng.uniform(-1, 1, 3) / self.T
            start = {
                "rotation": [self.write(x) for x in values[-3:]],
                "angular_velocity": [self.write(x) for x in omega],
            }
            velocity = self.rng.uniform(-1, 1, 3) * self.L / self.T
            if joints[name]["type"] == "floating":
                start["position"] = [self.write(x) for x in values[:3]]
                start["velocity"] = [self.write(x) for x in velocity]
            starts[name] = start
            self.rates[name] = [*velocity, *omega] if len(values) == 6 else list(omega)
        self.document["degrees_of_freedom"] = starts

    # --- forces and objectives ---

    def add_forces(self):
        rng, force = self.rng, self.m * self.L / self.T**2
        forces = {}
        if self.chance(0.9):
            g = self.maker.direction() * self.L / self.T**2
            forces["weight"] = {"type": "gravity", "acceleration": [self.write(x) for x in g]}
        for k in range(rng.integers(0, 3)):
            a, b = self.two_points()
            forces[f"coil{k}"] = {
                "type": "spring", "between": [a, b], "stiffness": self.write(rng.uniform(0.2, 4) * force / self.L),
                "damping": self.write(rng.uniform(0, 0.5) * force * self.T / self.L),
                "natural_length": self.pick([0, self.write(rng.uniform(0.1, 1) * self.L)]),
            }  # fmt: skip
        for k in range(rng.integers(0, 3)):
            z = self.pick(self.scalars)
            unit = self.unit(z)
            work = force * self.L / unit
            forces[f"wind{k}"] = {
                "type": "spring", "acts_on": z, "stiffness": self.write(rng.uniform(0.2, 2) * work / unit),
                "damping": self.write(rng.uniform(0, 0.3) * work * self.T / unit),
                "natural_value": self.write(rng.uniform(-1, 1) * unit),
            }  # fmt: skip
        for k in range(rng.integers(0, 4)):
            forces[f"push{k}"] = self.push(force)
        if self.chance(0.3):
            z = self.pick(self.scalars)
            values = rng.uniform(-1, 1, 5) * force * self.L / self.unit(z)
            times = (np.array([-0.2, 0.04, 0.1, 0.16, 0.5]) * self.T).tolist()
            named = self.chance(0.5)
            values = self.maker.numbers.list_of(values) if named else [self.write(x) for x in values]
            forces["motor"] = {"type": "spline", "acts_on": z, "times": times, "values": values}
        if self.chance(0.4):
            forces["mount"] = self.mount(force)
        self.document["forces"] = forces

    def mount(self, force):
        """A bushing between frames of two bodies that are turned against each other by at most a radian."""
        names = [name.partition(".")[0] for name in self.two_points()]
        (_, A), (_, B) = (self.maker.pose(name) for name in names)
        axes = random_rotation(self.rng)
        turned = axes @ turn(self.maker.direction(), self.rng.uniform(0.0, 1.0))
        ends = []
        for name, local in zip(names, (A.T @ axes, B.T @ turned), strict=True):
            end = self.maker.put(name, f"m{self.rng.integers(10**6)}", self.maker.point(0.6))
            place = self.document["ground"] if name == "ground" else self.document["bodies"][name]
            origin = place["markers"][end.partition(".")[2]]
            entry = {"origin": origin, "x_axis": local[:, 0].tolist(), "z_axis": local[:, 2].tolist()}
            place["markers"][end.partition(".")[2]] = entry
            ends.append(end)
        units = {"": force / self.L, "rotational_": force * self.L}
        numbers = {"type": "bushing", "between": ends}
        for word, unit in units.items():
            numbers[f"{word}stiffness"] = [self.write(x) for x in self.rng.uniform(0.1, 2.0, 3) * unit]
            numbers[f"{word}damping"] = [self.write(x) for x in self.rng.uniform(0.0, 0.3, 3) * unit * self.T]
        numbers["natural"] = [self.write(x) for x in self.rng.uniform(-0.3, 0.3, 3) * self.L]
        numbers["natural_rotation"] = [self.write(x) for x in self.rng.uniform(-0.3, 0.3, 3)]
        return numbers

    def push(self, force):
        """A force or torque on a body or on a measure, with a law."""
        kind = self.pick(["force", "torque"])
        a, z = self.random_point(), self.pick(self.scalars)
        speed = f"{self.T / self.L!r}*{a}.velocity.x"
        rate = f"{self.T / self.unit(z)!r}*{z}.velocity"
        laws = [
            f"sin(2*t/{self.T!r})", f"-tanh({speed})", f"cos({a}.position.z/{self.L!r})", f"-{rate}*0.3", "0.4",
            f"q0*{z}/{self.unit(z)!r}", f"-0.2*{speed}*sqrt(1 + ({speed})**2)",
        ]  # fmt: skip
        if self.chance(0.4):
            return {"type": kind, "acts_on": z, "value": f"{force * self.L / self.unit(z)!r}*({self.pick(laws)})"}
        size = force * (1.0 if kind == "force" else 0.3 * self.L)
        value = [f"{self.rng.uniform(-1, 1) * size!r}*({self.pick(laws)})" for _ in range(3)]
        return {"type": kind, "at": a, "value": value, "frame": self.pick(["ground", "body"])}

    def add_objectives(self):
        a, b, z = self.random_point(), self.random_point(), self.pick(self.scalars)
        T, L, u = self.T, self.L, self.unit(z)
        self.document["objectives"] = {
            "shake": {"integral": f"{T**3 / L**2!r}*norm2({a}.acceleration)"},
            "swift": {
                "integral": f"{T / L**2!r}*norm2({b}.velocity) + {T / u!r}*{z}.velocity*q1/{T!r} + {z}/{u * T!r}"
            },
            "place": {"final": f"{b}.position.x/{L!r} + norm2({a}.position)/{L * L!r} + {T / u!r}*{z}.velocity"},
            "pull": {"final": f"{T**2 / L!r}*{a}.y.acceleration + {T**2 / u!r}*{z}.acceleration + reach/{L!r}*q0"},
        }

    # --- completion ---

    def write_poses(self, free):
        """Poses as first guesses: exact, a little off, or none where the starts say all."""
        joints = self.document["joints"]
        tree = not outside_tree(joints, [n for n in joints if joints[n]["type"] != "link"])
        rows = any(joint["type"] == "link" for joint in joints.values()) or self.document.get("constraints")
        told = all(name.partition(".")[0] in joints for name in free) and not self.document["drivers"]
        if tree and not rows and told and self.chance(0.4):
            return
        off = 1e-3 if self.chance(0.3) else 0.0
        for body, (r, A) in self.maker.poses.items():
            r = r + off * self.L * self.rng.normal(size=3)
            x, z = A[:, 0] + off * self.rng.normal(size=3), A[:, 2]
            self.document["bodies"][body]["pose"] = {"origin": r.tolist(), "x_axis": x.tolist(), "z_axis": z.tolist()}

    def drop_empty(self):
        for key in [key for key, value in self.document.items() if value == {} or value == []]:
            del self.document[key]

    def finish(self, free):
        """Whether it is sound from the start to the end: motions found, inertia definite, far from singular positions."""
        mechanism = self.maker.mechanism
        instant = Instant(self.document, self.maker.poses, size=self.L)
        if np.abs(instant.stacked("v")).max(initial=0.0) > 1e-9 * max(1.0, self.L):
            raise AssertionError(f"the mechanism of seed {mechanism.seed} is not assembled")
        mechanism.motion, left = instant.velocities(self.rates)
        if left > 1e-9 * max(1.0, np.abs(mechanism.motion).max(initial=0.0)):
            return False
        path = follow(mechanism, STEPS)
        regular = path.condition < WORST_CONDITION and path.weakest > SINGULAR and not path.changed
        return regular and path.gap < 1e-2 * self.L and path.shortest > 0.05 * self.L


def outside_tree(joints, order):
    """The joints that a tree which takes them in this order leaves out."""
    leader = {}

    def find(body):
        while leader.get(body, body) != body:
            body = leader[body]
        return body

    left_out = []
    for name in order:
        a, b = (find(marker.partition(".")[0]) for marker in joints[name]["between"])
        if a == b:
            left_out.append(name)
        leader[a] = b
    return left_out
