"""Random sound models that use every kind of element, from a seeded generator."""

from kinegrad.model.constraints import CONSTRAINTS
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import Model
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS


class Maker:
    """Makes documents of models; every choice comes from one generator."""

    def __init__(self, rng):
        self.rng = rng
        self.names = iter(range(10**6))
        self.scalars = [self.name("p") for _ in range(rng.integers(1, 6))]

    def name(self, stem):
        """A name that was not given before, sometimes one that YAML or JSON could take for something else."""
        odd = self.rng.choice(["", "_", "E5_", "null_", "y_", "no_", "e1_"])
        return f"{odd}{stem}{next(self.names)}"

    def pick(self, things):
        return things[self.rng.integers(len(things))]

    def chance(self, p=0.5):
        return self.rng.random() < p

    # --- numbers ---

    def literal(self):
        """A float of any size, whole or not."""
        exponent = self.pick([0, 0, 0, -3, 3, -12, 12, 40])
        value = self.rng.normal() * 10.0**exponent
        return float(round(value)) if self.chance(0.3) else float(value)

    def expression(self, depth=3, names=None, index=True):
        """A text that always has a finite value of moderate size."""
        names = self.scalars if names is None else names
        if depth == 0 or self.chance(0.2):
            leaves = [f"{self.rng.random():.3g}", f"{self.rng.integers(0, 9)}", "pi", self.pick(names)]
            return self.pick([*leaves, "u0[1]"] if index else leaves)
        a = self.expression(depth - 1, names, index)
        b = self.expression(depth - 1, names, index)
        forms = ("{a} + {b}", "{a} - ({b})", "-({a})", "({a})*({b})/2e1", "sin({a})", "cos({a})**2", "tanh({a})")
        forms += ("atan2({a}, 3 + sin({b}))", "sqrt(1 + ({a})**2)", "exp(-({a})**2)", "({a})/(2 + cos({b}))")
        return self.pick(forms).format(a=a, b=b)

    def number(self):
        return self.pick([self.literal(), self.expression(), float(self.rng.integers(-5, 6))])

    def positive(self):
        value = float(abs(self.rng.normal()) + 0.1)
        return self.pick([value, f"{value!r} + sin({self.pick(self.scalars)})**2", "1/3", "sqrt(2)/2"])

    def vector(self):
        return [self.number() for _ in range(3)]

    def direction(self):
        return [self.positive(), self.number(), self.literal()]

    def perpendicular(self):
        """Two directions at a right angle."""
        pairs = ([[1, 0, 0], [0, 2, -1]], [[0, 0, 3], ["cos(1)", "sin(1)", 0]], [[1, 1, 0], [1, -1, 0.5]])
        return self.pick(pairs)

    # --- elements ---

    def markers(self):
        points = {self.name("P"): self.vector() for _ in range(2)}
        vector = {self.name("v"): {"vector": self.direction()}}
        frame = {self.name("f"): {"origin": self.vector(), "x_axis": [1, 0.5, 0], "z_axis": [0, self.literal(), 7]}}
        return {**points, **vector, **frame}

    def body(self):
        body = {"mass": self.positive(), "com": self.vector(), "markers": self.markers()}
        j = self.positive()
        body["inertia"] = self.pick(
            [[0, j, j], [3, 3, 2, 0.5, -0.5, 0.25], {"axis": self.direction(), "along": 1, "across": 2}, [j, j, j]]
        )
        if self.chance():
            body["pose"] = self.pick(
                [
                    "global",
                    {"origin": [1, "sqrt(2)", 3]},
                    {"x_axis": [1, 2, 0]},
                    {"x_axis": [0, 0, 1], "z_axis": [1, 0, 0]},
                ]
            )
        if self.chance(0.3):
            body["shape"] = self.shape(list(body["markers"])[:2])
        if self.chance(0.3):
            body["point_masses"] = {self.name("w"): {"mass": self.positive(), "at": self.vector()}}
        return body

    def shape(self, points):
        corners = [[self.literal(), 0, 1], [1, self.expression(), 0], [0, 0, 0]]
        shapes = [
            {"type": "box", "size": [self.positive() for _ in range(3)], "at": self.vector()},
            {"type": "cylinder", "radius": self.positive(), "length": self.positive(), "axis": self.direction()},
            {"type": "cylinder", "radius": self.positive(), "between": points},
            {"type": "rod", "between": points, "colour": "#12aBcd"},
            {"type": "sphere", "radius": self.positive()},
            {"type": "mesh", "vertices": corners, "faces": [[0, 1, 2]], "scale": self.positive()},
            {"type": "mesh", "file": "a b.STL"},
        ]
        return self.pick([self.pick(shapes), shapes])

    def joint(self, kind, between):
        joint = {"type": kind, "between": between}
        if kind in ("revolute", "prismatic", "cylindrical", "screw"):
            joint["axis"] = self.direction()
            if self.chance(0.3):
                joint["axis"], joint["zero"] = [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [self.literal(), 0, 1]]
        if kind == "screw":
            joint["pitch"] = self.number()
        if kind == "cardan":
            joint["axes"] = self.perpendicular()
        if kind == "planar":
            joint["axis"], joint["x_axis"] = self.perpendicular()
            if self.chance(0.3):
                joint["axis"], joint["x_axis"] = [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]]
        if kind == "link":
            joint["length"] = self.positive()
        if self.chance(0.2):
            joint["cut"] = True
        return joint

    def force(self, kind, points, measure, law):
        if kind == "gravity":
            return {"type": kind, "acceleration": self.vector()}
        if kind == "spline":
            values = self.pick(["u0", [self.number() for _ in range(4)]])
            return {"type": kind, "acts_on": measure, "times": [0, 0.5, "pi", 5], "values": values}
        if kind == "spring":
            spring = {"type": kind, "stiffness": self.number(), "damping": self.number()}
            if self.chance():
                return spring | {"between": points, "natural_length": self.pick([0, self.positive()])}
            return spring | {"acts_on": measure, "natural_value": self.number()}
        if kind == "actuator":
            numbers = {"time_constant": self.positive(), "start": self.number()}
            return {"type": kind, "acts_on": measure, "value": law(), **numbers}
        if kind == "bushing":
            stiffness = {"stiffness": [0, self.positive(), 1], "rotational_stiffness": [self.positive(), 0, 2.5]}
            return {"type": kind, "between": points, **stiffness, "natural": self.vector(), "damping": [0, 0.5, "1/3"]}
        if self.chance():
            return {"type": kind, "acts_on": measure, "value": law()}
        return {
            "type": kind,
            "at": points[1],
            "frame": self.pick(["ground", "body"]),
            "value": [law(), 0, self.number()],
        }

    def constraint(self, kind, points, vectors, measures, along):
        in_time = self.expression(names=["t"], index=False)
        return {"type": kind} | {
            "coincidence": {"between": points},
            "distance": {"between": points, "distance": self.positive()},
            "dot": {"between": vectors, "value": self.pick([0, "sin(1)", -0.5])},
            "angle": {"between": vectors, "value": self.pick(["pi/3", 1.5])},
            "parallel": {"between": vectors},
            "same-direction": {"between": vectors},
            "point-on-line": {"between": points, "along": along(points[0].partition(".")[0])},
            "point-in-plane": {
                "between": points,
                "normal": along(points[0].partition(".")[0]),
                "distance": self.number(),
            },
            "position": {"value": f"{measures[0]} - {in_time}"},
            "velocity": {"value": f"{measures[0]}.velocity - {in_time}"},
            "linear": {"terms": {m: self.number() for m in measures}, "value": self.number()},
            "guidance": self.pick(
                [{"measure": measures[0], "value": in_time}, {"marker": points[1], "value": [in_time, 0, "t"]}]
            ),
        }[kind]

    def simulation(self):
        formulation = {"type": self.pick(list(FORMULATIONS)), "tolerance": self.positive(), "max_iterations": 7}
        if formulation["type"] == "ali3p":
            formulation["projection"] = self.pick(["every-step", 1e-5])
        simulation = {"t_end": self.positive(), "step": self.positive(), "formulation": formulation}
        simulation["integrator"] = {"type": self.pick(list(INTEGRATORS))}
        simulation["coordinates"] = self.pick(["joint", {"type": "joint", "body_point": self.pick(["origin", "com"])}])
        if self.chance():
            simulation |= {"output_step": self.positive()}
        return simulation

    def document(self):
        """The document of a model with every kind of joint, force and constraint."""
        rng = self.rng
        doc = {
            "kinegrad": 1,
            "title": self.pick(["Déjà vu: 50 % # {x}", 'He said "no" \\ yes', "- x", "true", "1e3", " a "]),
        }
        parameters = {name: self.pick([self.literal(), "1/3", 5.0, "-sqrt(2)"]) for name in self.scalars}
        derived = self.name("d")
        doc["parameters"] = parameters | {"u0": [self.literal(), "2*pi", 0, -1], derived: self.expression()}
        doc["parameters"][derived] += f" + 0*{self.scalars[0]}"
        doc["design"] = [*self.scalars[:2], self.pick(["u0", "u0[2]"])]
        doc["variants"] = {self.name("x"): {self.scalars[0]: self.pick([1.5, "1/7"]), "u0": [1, 2, 3, "4*pi"]}}
        table = {"x": [0, "1/3", 1, 2.5], "y": self.pick(["u0", [0, 1.5, self.scalars[0], 2]])}
        doc["tables"] = {self.name("tab"): table | self.pick([{}, {"interpolation": "linear", "outside": "hold"}])}
        doc["ground"] = {"markers": self.markers()}
        bodies = doc["bodies"] = {self.name("b"): self.body() for _ in range(len(JOINTS))}
        holders = {"ground": doc["ground"], **bodies}
        names = list(holders)

        def point(body):
            return self.pick(
                [f"{body}.{n}" for n, m in holders[body]["markers"].items() if isinstance(m, list) or "origin" in m]
            )

        def vector(body):
            return self.pick([f"{body}.{n}" for n, m in holders[body]["markers"].items() if "vector" in m])

        def frame(body):
            return self.pick([f"{body}.{n}" for n, m in holders[body]["markers"].items() if "origin" in m])

        def two(choose):
            i, j = rng.choice(len(names), 2, replace=False)
            return [choose(names[i]), choose(names[j])]

        kinds = list(rng.permutation(list(JOINTS)))
        joints = doc["joints"] = {}
        for i, kind in enumerate(kinds):
            joints[self.name("j")] = self.joint(str(kind), [point(names[rng.integers(i + 1)]), point(names[i + 1])])
        doc["measures"] = {self.name("q"): f"norm({point(names[1])}.position - vec(1, 2, {self.number()}))"}
        (measure,) = doc["measures"]
        coordinates = [f"{n}.{c}" for n, j in joints.items() for c in JOINTS[j["type"]].coordinates]
        components = [f"{point(body)}.{axis}" for body in names[1:] for axis in "xyz"]
        measures = [measure, *coordinates, *components]

        def law():
            used = [
                self.scalars[0],
                "t",
                f"{self.pick(coordinates)}.velocity",
                f"{point(names[2])}.velocity.y",
                *measures,
            ]
            return self.expression(names=used)

        doc["forces"] = {
            self.name("f"): self.force(k, two(frame if k == "bushing" else point), self.pick(measures), law)
            for k in FORCES
        }
        doc["constraints"] = {
            self.name("c"): self.constraint(k, two(point), two(vector), [self.pick(components), measure], vector)
            for k in CONSTRAINTS
        }
        driven, *free = rng.permutation(measures)
        doc["drivers"] = {
            self.name("a"): {"measure": str(driven), "value": self.expression(names=["t", *self.scalars])}
        }
        starts = doc["degrees_of_freedom"] = {
            str(m): {"position": self.number(), "velocity": self.pick([0, self.number()])} for m in free[:3]
        }
        for name, joint in joints.items():
            if joint["type"] in ("spherical", "floating"):
                starts[name] = self.pick([{"rotation": self.vector()}, {"euler_parameters": [1, *self.vector()]}])
                starts[name]["angular_velocity"] = self.vector()
            if joint["type"] == "floating":
                starts[name] |= {"position": self.vector(), "velocity": self.vector()}
        doc["objectives"] = {
            self.name("o"): {"integral": f"norm2({point(names[1])}.acceleration) + {law()}"},
            self.name("o"): {"final": f"{self.pick(coordinates)}.acceleration"},
        }
        doc["simulation"] = self.simulation()
        return doc


def random_model(rng) -> Model:
    """A random sound model."""
    return Model.from_dict(Maker(rng).document())
