"""The same mechanism in other units, powers of two times as large: its numbers are then the same, bit by bit.

A product of numbers with powers of two is exact, so every operation of the program gives the same digits in other units,
unless a number with no unit of the model decides or enters: a threshold in metres, a floor of 1, a norm of lengths and
angles, a search for pivots among rows of different units.  `rewritten` gives the document in other units, `compare` runs
both and tells where bits differ first.

    python -m soak.units five_bar windows --kinds natural --pairs index1+rk4    # from the folder tests
    python -m soak --seed 3 --checks units

Numbers are multiplied by their units.  Parameters keep their values, since they have no units: what is made of them is
multiplied, and so are the quantities that a formula takes in and what comes out.  Of the options `step`, `t_end`,
`output_step` are times, `frequency` is one over a time, `penalty` is a mass; `tolerance` and the threshold of `projection`
refer to the sizes of the model and stay.
"""

import argparse
import copy
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import BY_FORMULATION, SCHEMES
from kinegrad.errors import KinegradError
from kinegrad.expressions import syntax
from kinegrad.expressions.syntax import Call, Expression, Name, Number, Product, to_text
from kinegrad.model import names, units
from kinegrad.model.signals import unit_of_name
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from kinegrad.model.units import JOULE, METRE, NEWTON, ONE, RADIAN, SECOND, Unit
from kinegrad.model.values import PLAIN_NUMBER

EXAMPLES = Path(__file__).parents[2] / "examples"
KILOGRAM = Unit.of(kg=1)
INERTIA = KILOGRAM * METRE**2
#: options of formulations that have a unit
OPTIONS = {"penalty": KILOGRAM, "frequency": ONE / SECOND}
STEPS = 100
UNDERFLOW = (
    1e-200  # of the largest entry of a column: what is smaller may be lost where squares leave the range of numbers
)
WITH_OBJECTIVES = ("direct", "discrete-adjoint")


class Units(NamedTuple):
    """Exponents of two: lengths, masses and times are multiplied by these powers."""

    length: int = 0
    mass: int = 0
    time: int = 0

    def exponent(self, unit: Unit) -> int:
        """That of a number with this unit."""
        power = unit.m * self.length + unit.kg * self.mass + unit.s * self.time
        if power.denominator != 1:
            raise ValueError(f"{unit} is multiplied by a root of two with {self}")
        return int(power)


#: units in turn: one kind of unit alone, so that what differs shows which, and all at once
FAR = (
    Units(-30), Units(20), Units(0, -50), Units(0, 30), Units(0, 0, -20), Units(0, 0, 20), Units(-30, -50, -10),
    Units(20, 30, 10), Units(-20, 20, -20), Units(10, -40, 20),
)  # fmt: skip


# --- a document in other units ---


def rewritten(document: dict, to: Units) -> dict:
    """The document of the same mechanism in other units."""
    return _Writer(kg.Model.from_dict(document), to).document()


class _Writer:
    def __init__(self, model: kg.Model, to: Units):
        self.model, self.to = model, to
        self.measures: dict[str, Unit] = {}
        for name, expression in model.measures.items():
            self.measures[name] = self.unit_of(expression)
        self.tables = self._tables()

    # --- units of names and formulas ---

    def of_name(self, name: str) -> Unit:
        """The unit by which what a name stands for is multiplied; none for parameters."""
        reference = names.resolve(self.model, name)
        if reference.kind == "parameter":
            return ONE
        if reference.kind == "measure":
            return self.measures[reference.element] / SECOND**reference.rate
        known = unit_of_name(self.model, name)
        if known is not None:
            return known
        part = reference.part  # of what acts along a measure, or on a row
        element = reference.element
        along = ONE
        if element in self.model.forces:
            along = self.of_name(self.model.forces[element].acts_on)
        elif element in self.model.drivers:
            along = self.of_name(self.model.drivers[element].measure)
        elif element in self.model.constraints:
            along = self.of_row(self.model.constraints[element])
        return JOULE / along if part == "force" else JOULE / SECOND

    def of_row(self, constraint) -> Unit:
        """The unit of a row that a constraint names by its measures."""
        if constraint.type == "linear":
            return self.of_name(next(iter(constraint.terms)))
        if constraint.type == "guidance":
            return METRE if constraint.measure is None else self.of_name(constraint.measure)
        return self.unit_of(constraint.value)

    def unit_of(self, expression) -> Unit:
        """The unit of a formula as far as its names tell; where they do not, the formula keeps its number."""

        def known(name):
            reference = names.resolve(self.model, name)
            return None if reference.kind == "parameter" else self.of_name(name)

        unit = units.unit_of(expression, known) if isinstance(expression, Expression) else None
        whole = unit is not None and all(power.denominator == 1 for power in unit.powers)
        return unit if whole else ONE

    # --- numbers and formulas ---

    def number(self, value, unit: Unit):
        """A number, or a formula whose value has a unit, in the other units."""
        k = self.to.exponent(unit)
        if isinstance(value, str) and not PLAIN_NUMBER.fullmatch(value):
            value = Expression.parse(value)
        if not isinstance(value, Expression):
            return float(np.ldexp(float(value), k))
        tree = value.tree
        if isinstance(tree, Name) and self.of_name(tree.dotted) == unit != ONE:
            return to_text(tree)
        return to_text(_times(self.node(tree), k))

    def node(self, node):
        """A formula that takes quantities in the other units and gives the number of the first ones."""
        match node:
            case Name(dotted, _):
                return _times(node, -self.to.exponent(self.of_name(dotted)))
            case Call("table", (argument, name)):
                x, y = self.tables[name.name]
                return _times(Call("table", (_times(self.node(argument), x), name)), -y)
            case Call(function, arguments):
                return Call(function, tuple(map(self.node, arguments)))
            case syntax.Negative(operand):
                return syntax.Negative(self.node(operand))
            case syntax.Power(base, exponent):
                return syntax.Power(self.node(base), self.node(exponent))
            case syntax.Sum(terms):
                return syntax.Sum(tuple((sign, self.node(term)) for sign, term in terms))
            case syntax.Product(factors):
                return Product(tuple((sign, self.node(factor)) for sign, factor in factors))
        return node

    def vector(self, values, unit: Unit):
        return [self.number(value, unit) for value in values]

    def _tables(self) -> dict[str, tuple[int, int]]:
        """Exponents of abscissas and ordinates: those of what a table is asked at, if that is one unit, and of lengths."""
        asked: dict[str, set] = {name: set() for name in self.model.tables}
        for text in _texts(self.model.to_dict()):
            try:
                expression = Expression.parse(text)
            except KinegradError:
                continue
            for call in expression.calls(["table"]):
                asked[call.arguments[1].name].add(self.unit_of(Expression(call.arguments[0])))
        found = {}
        for name, table in self.model.tables.items():
            x = self.to.exponent(asked[name].pop()) if len(asked[name]) == 1 else 0
            found[name] = x, 0 if isinstance(table.y, str) else self.to.length
        return found

    # --- sections ---

    def document(self) -> dict:
        document = copy.deepcopy(self.model.to_dict())
        for name, table in document.get("tables", {}).items():
            x, y = self.tables[name]
            table["x"] = [_scaled(v, x) for v in table["x"]]
            if not isinstance(table["y"], str):
                table["y"] = [_scaled(self.number(v, ONE), y) for v in table["y"]]
        for place in (document.get("ground", {}), *document.get("bodies", {}).values()):
            place.pop("shape", None)
            for name, marker in place.get("markers", {}).items():
                place["markers"][name] = self.marker(marker)
        for body in document.get("bodies", {}).values():
            self.body(body)
        for joint in document.get("joints", {}).values():
            for key in ("pitch", "length"):
                if key in joint:
                    joint[key] = self.number(joint[key], METRE)
        for force in document.get("forces", {}).values():
            getattr(self, force["type"], self.load)(force)
        for name, constraint in document.get("constraints", {}).items():
            self.constraint(constraint, self.model.constraints[name])
        for name in document.get("measures", {}):
            document["measures"][name] = self.number(document["measures"][name], self.measures[name])
        for driver in document.get("drivers", {}).values():
            driver["value"] = self.number(driver["value"], self.of_name(driver["measure"]))
        for name, start in document.get("degrees_of_freedom", {}).items():
            self.start(name, start)
        for objective in document.get("objectives", {}).values():
            self.objective(objective)
        self.simulation(document.setdefault("simulation", {}))
        return document

    def marker(self, marker):
        if isinstance(marker, dict):
            if "origin" in marker:
                marker["origin"] = self.vector(marker["origin"], METRE)
            return marker
        return self.vector(marker, METRE)

    def body(self, body):
        body["mass"] = self.number(body["mass"], KILOGRAM)
        if "com" in body:
            body["com"] = self.vector(body["com"], METRE)
        inertia = body.get("inertia")
        if isinstance(inertia, dict):
            for key in ("along", "across"):
                inertia[key] = self.number(inertia[key], INERTIA)
        elif inertia is not None:
            body["inertia"] = self.vector(inertia, INERTIA)
        for extra in body.get("point_masses", {}).values():
            extra["mass"], extra["at"] = self.number(extra["mass"], KILOGRAM), self.vector(extra["at"], METRE)
        if isinstance(body.get("pose"), dict) and "origin" in body["pose"]:
            body["pose"]["origin"] = self.vector(body["pose"]["origin"], METRE)

    def gravity(self, force):
        force["acceleration"] = self.vector(force["acceleration"], METRE / SECOND**2)

    def spring(self, force):
        along = METRE if "between" in force else self.of_name(force["acts_on"])
        for key, unit in (
            ("stiffness", JOULE / along**2), ("damping", JOULE * SECOND / along**2), ("natural_length", along),
            ("natural_value", along),
        ):  # fmt: skip
            if force.get(key) is not None:
                force[key] = self.number(force[key], unit)

    def bushing(self, force):
        for key, unit in (
            ("stiffness", NEWTON / METRE), ("damping", NEWTON * SECOND / METRE), ("rotational_stiffness", JOULE),
            ("rotational_damping", JOULE * SECOND), ("natural", METRE),
        ):  # fmt: skip
            if key in force:
                force[key] = self.vector(force[key], unit)

    def load(self, force):
        """A force or torque at a marker or on a measure, a spline, an actuator."""
        unit = NEWTON if force["type"] == "force" else JOULE
        if "acts_on" in force:
            unit = JOULE / self.of_name(force["acts_on"])
        if force["type"] == "spline":
            force["times"] = [_scaled(t, self.to.time) for t in force["times"]]
            values = force["values"]
            if isinstance(values, str):
                values = [f"{values}[{k}]" for k in range(len(self.model.parameters[values]))]
            force["values"] = self.vector(values, unit)
            return
        value = force["value"]
        force["value"] = self.vector(value, unit) if isinstance(value, list) else self.number(value, unit)
        if "time_constant" in force:
            force["time_constant"] = self.number(force["time_constant"], SECOND)
        if "start" in force:
            force["start"] = self.number(force["start"], unit)

    def constraint(self, constraint, element):
        unit = self.of_row(element) if constraint["type"] in ("linear", "guidance", "position", "velocity") else ONE
        if "distance" in constraint:
            constraint["distance"] = self.number(constraint["distance"], METRE)
        for name, factor in constraint.get("terms", {}).items():
            constraint["terms"][name] = self.number(factor, unit / self.of_name(name))
        if "value" in constraint:
            value = constraint["value"]
            constraint["value"] = self.vector(value, unit) if isinstance(value, list) else self.number(value, unit)

    def start(self, name, start):
        unit = METRE if name in self.model.joints else self.of_name(name)
        if "position" in start:
            position = start["position"]
            start["position"] = (
                self.vector(position, unit) if isinstance(position, list) else self.number(position, unit)
            )
        if "velocity" in start:
            velocity, rate = start["velocity"], unit / SECOND
            start["velocity"] = (
                self.vector(velocity, rate) if isinstance(velocity, list) else self.number(velocity, rate)
            )
        if "angular_velocity" in start:
            start["angular_velocity"] = self.vector(start["angular_velocity"], RADIAN / SECOND)

    def objective(self, objective):
        for key in ("integral", "final", "sum", "maximum", "minimum"):
            if objective.get(key) is not None:
                unit = self.unit_of(Expression.parse(str(objective[key])))
                objective[key] = self.number(str(objective[key]), unit)
        if objective.get("times") is not None:
            objective["times"] = [_scaled(t, self.to.time) for t in objective["times"]]
        if objective.get("sharpness") is not None:
            objective["sharpness"] = self.number(objective["sharpness"], ONE / unit)

    def of_objective(self, name: str) -> int:
        """The exponent of an objective."""
        objective = self.model.objectives[name]
        unit = self.unit_of(objective.expression)
        return self.to.exponent(unit * SECOND if objective.kind == "integral" else unit)

    def simulation(self, simulation):
        simulation["step"] = self.number(simulation.get("step", 1e-3), SECOND)
        for key in ("t_end", "output_step"):
            if simulation.get(key) is not None:
                simulation[key] = self.number(simulation[key], SECOND)
        for key in ("formulation", "integrator"):
            if key in simulation:
                options = dict(simulation[key])
                table = FORMULATIONS if key == "formulation" else INTEGRATORS
                simulation[key] = {"type": options["type"]} | self.options(table, options)

    def options(self, table, chosen: dict) -> dict:
        """The options of a formulation or an integrator by which it is the same in other units."""
        found = {key: value for key, value in chosen.items() if key != "type"}
        for key in OPTIONS.keys() & found.keys() & table[chosen["type"]].model_fields.keys():
            found[key] = self.number(found[key], OPTIONS[key])
        return found


def _times(node, k: int):
    """A formula times a power of two; times one too, so that formulas have one shape in all units."""
    return Product((("*", node), ("*", Number(2.0**k))))


def _scaled(value, k: int):
    """A number, or the text of a formula, times a power of two."""
    if isinstance(value, str) and not PLAIN_NUMBER.fullmatch(value):
        return to_text(_times(Expression.parse(value).tree, k))
    return float(np.ldexp(float(value), k))


def _texts(value):
    """All texts of a document."""
    if isinstance(value, dict):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, str):
        yield value


# --- runs in both, and what differs ---


@dataclass
class Run:
    """What a run gave by name: arrays with exponents by which they are divided, None for each column its own; or why there is
    none."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    exponents: dict[str, object] = field(default_factory=dict)
    refused: str = ""
    warned: Counter = field(default_factory=Counter)


@dataclass(frozen=True)
class Difference:
    """One case beside itself in other units.

    Attributes
    ----------
    case, to
        Name of the set, formulation and integrator, and the units.
    worst : float
        Largest difference of an array, relative to the largest entry of its column.
    where : str
        Array and step at which bits differ first.
    text : str
        What else differs, such as a run that is refused.
    """

    case: str
    to: Units
    worst: float
    where: str
    text: str = ""

    @property
    def equal(self) -> bool:
        return not self.where and not self.text

    def __str__(self) -> str:
        told = "equal" if self.equal else self.text or f"{self.worst:.1e}, first at {self.where}"
        return f"{self.case} [{self.to.length},{self.to.mass},{self.to.time}]: {told}"


def compare(document, kind, pair, all_units, steps=STEPS, methods=WITH_OBJECTIVES) -> list[Difference]:
    """The document with a set and a pair, run in its own units and in others; formulations with their default options, or those
    of the document where it names the formulation."""
    first = run(document, Units(), kind, pair, steps, methods)
    return [
        _beside(first, run(document, to, kind, pair, steps, methods), f"{kind} {'+'.join(pair)}", to)
        for to in all_units
    ]


def run(document, to: Units, kind, pair, steps=STEPS, methods=WITH_OBJECTIVES) -> Run:
    """A run of a document in other units."""
    found = Run()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _run(found, document, to, kind, pair, steps, methods)
        except KinegradError as error:
            found.refused = f"{type(error).__name__}: {error}"
    found.warned = Counter(w.category.__name__ for w in caught)
    return found


def _run(found: Run, document, to, kind, pair, steps, methods) -> None:
    writer = _Writer(kg.Model.from_dict(document), to)
    model = kg.Model.from_dict(writer.document())
    system = kg.lower(model, kind)
    options = []
    for key, table, name in (("formulation", FORMULATIONS, pair[0]), ("integrator", INTEGRATORS, pair[1])):
        own = {"type": name} | {k: f.default for k, f in table[name].model_fields.items() if k in OPTIONS}
        named = document.get("simulation", {}).get(key, {})
        options.append(table[name](**writer.options(table, own | (named if named.get("type") == name else {}))))
    step = model.simulation.step
    step = float(system.parameters.evaluate(step, system.rho) if isinstance(step, Expression) else step)
    motion = kg.simulate(system, *options, step=step, t_end=steps * step)
    put = found.arrays.__setitem__, found.exponents.__setitem__

    def keep(name, array, exponent):
        for function, value in zip(put, (np.asarray(array, float), exponent), strict=True):
            function(name, value)

    keep("t", motion.t, to.time)
    keep("q", motion.q, None)
    keep("qd", motion.qd, None)
    keep("qdd", motion.qdd, None)
    for name in sorted(system.markers):
        at = motion.marker(name)
        length = to.exponent(unit_of_name(model, f"{name}.x"))
        for k, level in enumerate(("position", "velocity", "acceleration")):
            keep(f"{name}.{level}", getattr(at, level), length - k * to.time)
    keep("iterations", motion.iterations, 0)
    keep("hs", np.asarray(motion.hs), to.time)
    names_ = list(motion.objectives)
    by = np.array([writer.of_objective(name) for name in names_], int)  # exponents
    keep("objectives", list(motion.objectives.values()), by)
    if "direct" in methods and names_ and (model.design or system.parameters.independent):
        keep("direct", kg.gradient(motion).matrix, by[:, None])
    if "discrete-adjoint" in methods and names_:
        adjoint = kg.gradient(motion, method="discrete-adjoint", every_slot=True)
        keep("adjoint", adjoint.matrix, by[:, None])
        numbers = adjoint.by_number()
        fields = system.slots.field_values(system.rho)
        found.arrays["fields"] = fields
        keep(
            "by number",
            np.array([[numbers[n][path] for path in system.slots.field_paths] for n in names_]),
            by[:, None],
        )


def _beside(first: Run, other: Run, case: str, to: Units) -> Difference:
    if first.refused or other.refused:
        same = first.refused.partition(":")[0] == other.refused.partition(":")[0]
        text = "" if same else f"refused: {first.refused or 'not'}, in other units: {other.refused or 'not'}"
        return Difference(case, to, 0.0 if same else np.inf, "", text)
    worst, places = 0.0, []
    for order, name in enumerate(first.exponents):
        x, y = first.arrays[name], other.arrays[name]
        if x.shape != y.shape:
            places.append((0, order, name, f"of {len(x)} and {len(y)}"))
            worst = np.inf
            continue
        exponent = other.exponents[name]
        if name == "by number":
            fields = first.arrays["fields"], other.arrays["fields"]
            exponent = np.where(fields[0] == 0.0, _powers(x, y), exponent - _powers(*fields))
        elif exponent is None:
            exponent = _powers(_largest(x), _largest(y))
        y = np.ldexp(y, -np.broadcast_to(exponent, y.shape)) if y.size else y
        different = ~((x == y) | (np.isnan(x) & np.isnan(y)))
        by_time = name not in ("objectives", "direct", "adjoint", "by number")
        if different.any():
            scale = np.maximum(np.nanmax(np.abs(x), axis=0 if by_time else -1, keepdims=True), np.finfo(float).tiny)
            different &= ~(np.abs(x - y) <= UNDERFLOW * scale)
        if different.any():
            where = np.argwhere(different)[0]
            off = float(np.nan_to_num(np.where(different, np.abs(x - y) / scale, 0.0), nan=np.inf).max())
            worst = max(worst, off)
            places.append((int(where[0]) if by_time else sys.maxsize, order, name, f"{where.tolist()} ({off:.1e})"))
    if not places:
        text = ""
        if first.warned != other.warned:
            text = f"warned {dict(first.warned)}, in other units {dict(other.warned)}"
        return Difference(case, to, 0.0, "", text)
    step, _, name, text = min(places)
    return Difference(case, to, worst, f"{name} {text}")


def _largest(x):
    return np.abs(x).max(axis=0, initial=0.0) if x.size else np.zeros(x.shape[1:])


def _powers(x, y):
    """Exponents of the powers of two by which y is x, nearest; 0 where one of them is zero."""
    both = (x != 0.0) & (y != 0.0)
    with np.errstate(all="ignore"):
        return np.where(both, np.rint(np.log2(np.abs(np.where(both, y, 1.0) / np.where(both, x, 1.0)))), 0.0).astype(
            int
        )


# --- random mechanisms, and examples ---


def check_units(mechanism, pairs, rng, count=1) -> list:
    """Findings on a mechanism in other units: every set, each with some of the pairs that it takes."""
    from soak.findings import Finding, guarded

    found = []
    document = copy.deepcopy(mechanism.document)
    document["simulation"] = document.get("simulation", {}) | {"step": mechanism.step, "t_end": STEPS * mechanism.step}

    def check(kind, pair, to):
        differences = [d for d in compare(document, kind, pair, [to]) if not d.equal]
        return [Finding("units", d.case, "difference", str(d), d.worst) for d in differences]

    for kind in SETS:
        taken = [pair for pair in pairs if BY_FORMULATION[pair[0]].only in (None, kind)]
        for k in rng.permutation(len(taken))[:count]:
            to = FAR[rng.integers(len(FAR))]
            found += guarded("units", f"{kind} {'+'.join(taken[k])}", check, kind, taken[k], to)
    return found


def example(name: str) -> dict:
    """The document of an example."""
    return kg.Model.from_yaml(EXAMPLES / name / "model.yaml").to_dict()


def parsed(argv):
    parser = argparse.ArgumentParser(prog="python -m soak.units", description="Examples in other units.")
    known = sorted(path.parent.name for path in EXAMPLES.glob("*/model.yaml"))
    parser.add_argument(
        "examples", nargs="*", default=known, help="names of examples, or paths of models (all examples)"
    )
    parser.add_argument("--seeds", default="", help="random mechanisms too: first:last")
    parser.add_argument("--kinds", default=",".join(SETS), help="coordinate sets")
    parser.add_argument(
        "--pairs", default="ali3p+newmark,matrix-r+rk4,index1+rk4,penalty+rk4,udwadia-kalaba+rk4,recursive+rk4"
    )
    parser.add_argument("--units", default=None, help="length:mass:time,... as exponents of two (ten in turn)")
    parser.add_argument("--count", type=int, default=2, help="how many of the ten, for each case (2)")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--no-gradients", action="store_true")
    return parser.parse_args(argv)


def main(argv) -> int:
    options = parsed(argv)
    methods = () if options.no_gradients else WITH_OBJECTIVES
    documents = {}
    for name in options.examples:
        path = Path(name)
        documents[path.name] = kg.Model.from_yaml(path).to_dict() if path.is_file() else example(name)
    if options.seeds:
        from soak.mechanisms import generate

        first, _, last = options.seeds.partition(":")
        for seed in range(int(first), int(last or int(first) + 1)):
            mechanism = generate(seed)
            document = documents[f"seed {seed}"] = copy.deepcopy(mechanism.document)
            document["simulation"] = {"step": mechanism.step}
    pairs = [tuple(text.split("+")) for text in options.pairs.split(",")]
    pairs = list(SCHEMES) if options.pairs == "all" else pairs
    counter, equal, total = 0, 0, 0
    for name, document in documents.items():
        for kind in options.kinds.split(","):
            for pair in pairs:
                if BY_FORMULATION[pair[0]].only not in (None, kind):
                    continue
                if options.units:
                    chosen = [Units(*map(int, text.split(":"))) for text in options.units.split(",")]
                else:
                    chosen = [FAR[(counter + k) % len(FAR)] for k in range(options.count)]
                    counter += options.count
                for difference in compare(document, kind, pair, chosen, options.steps, methods):
                    total += 1
                    equal += difference.equal
                    print(f"{name}: {difference}", flush=True)
    print(f"{equal} of {total} equal bit by bit")
    return 0 if equal == total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
