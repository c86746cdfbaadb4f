"""What is wrong with a model as a whole: names, references, expressions. Values are looked at in `check_values`.

Every check adds to one list of findings, so that a user sees all problems at once. A finding is the path of a place and
a sentence that begins with that path.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kinegrad.errors import ExpressionError, ModelError
from kinegrad.expressions.graph import Graph, scalarise_number
from kinegrad.expressions.syntax import KINKED, OF_TIME, RESERVED, Expression
from kinegrad.laws import Law
from kinegrad.model import names
from kinegrad.model.check_values import find_in_values_of
from kinegrad.model.constraints import (
    OBJECTIVES,
    Driver,
    Freedom,
    Guidance,
    Linear,
    Objective,
    PositionRow,
    VelocityRow,
)
from kinegrad.model.element import Element, closest, dotted
from kinegrad.model.evaluation import Evaluation
from kinegrad.model.forces import Spline
from kinegrad.model.joints import JOINTS
from kinegrad.model.names import Reference
from kinegrad.model.parameters import Parameters
from kinegrad.model.shapes import shapes_of
from kinegrad.model.values import identifier_problem, show

if TYPE_CHECKING:
    from kinegrad.model.model import Broken, Finding, Model

#: The sections that share one name space, with the word for one of their elements.
NAMED = {
    "parameters": "parameter",
    "tables": "table",
    "bodies": "body",
    "joints": "joint",
    "forces": "force",
    "constraints": "constraint",
    "measures": "measure",
    "drivers": "driver",
    "objectives": "objective",
}


def find(model: Model, broken: Broken) -> list[Finding]:
    """All problems of `model`; what refers to `broken` elements is left out."""
    checks = Checks(model, broken)
    for check in (
        checks.bodies,
        checks.names,
        checks.parameters,
        checks.design_and_variants,
        checks.markers,
        checks.shapes,
        checks.measured,
        checks.starts,
        checks.driven_twice,
        checks.list_parameters,
        checks.expressions,
        checks.kinks,
        checks.measure_cycles,
    ):
        check()
    findings = checks.findings + find_in_values_of(model, checks.evaluation)
    return model._origin.told(findings) if model._origin else findings


def find_in_values(
    model: Model, values: Mapping[str, Any], path: Callable[[str], tuple], evaluation: Evaluation | None = None
) -> list[Finding]:
    """Problems of giving `values` to parameters: unknown or derived ones, lists of another length."""
    parameters = (evaluation or Evaluation(model)).parameters
    findings = []
    for name, value in values.items():
        if evaluation and name in evaluation.unknown:
            continue
        try:
            parameters.values({name: value})
        except ModelError as error:
            findings += [(path(name), f"{dotted(path(name))}: {problem.sentence}") for problem in error.problems]
    return findings


class Checks:
    """One pass over one model."""

    def __init__(self, model: Model, broken: Broken):
        self.model = model
        self.broken = broken
        self.evaluation = Evaluation(model, broken.names)
        self.findings: list[Finding] = []

    def add(self, path: tuple, fragment: str):
        self.findings.append((path, f"{dotted(path)} {fragment}"))

    def hidden(self, name: str) -> bool:
        """Whether `name` begins with an element that could not be read."""
        return self.broken.hides(name.split(".")[0])

    def holders(self) -> dict[tuple, Element]:
        """The ground and the bodies, by their paths."""
        return {("ground",): self.model.ground} | {("bodies", n): body for n, body in self.model.bodies.items()}

    # --- names ---

    def bodies(self):
        if not self.model.bodies and "bodies" not in self.broken.sections:
            self.add(("bodies",), "is empty; describe at least one body.")
        for path, holder in self.holders().items():
            for key in ("points", "vectors"):
                if getattr(holder, key):
                    text = f"are read with the {key} of a whole model only: Model({key}={{...}}, bodies={{...}}, ...)."
                    self.add((*path, key), text)

    def names(self):
        taken: dict[str, str] = {}
        for section, word in NAMED.items():
            for name in getattr(self.model, section):
                path = (section, name)
                if fragment := identifier_problem(name):
                    self.add(path, fragment)
                elif name in RESERVED:
                    self.add(path, f"has the reserved name {name!r}; choose another name for this {word}.")
                elif name in taken:
                    self.add(path, f"has the name of a {taken[name]}; names are shared, rename one of the two.")
                taken.setdefault(name, word)
        for name in self.model.variants:
            if fragment := identifier_problem(name):
                self.add(("variants", name), fragment)
        for path, holder in self.holders().items():
            for table in ("markers", "point_masses"):
                for name in getattr(holder, table, ()):
                    if fragment := identifier_problem(name):
                        self.add((*path, table, name), fragment)
                    elif keyword.iskeyword(name):
                        self.add((*path, table, name), "has a reserved name; choose another.")

    def parameters(self):
        for problem in Parameters(self.model.parameters).problems():
            name = problem.where.removeprefix("parameters.").split("[")[0]
            number = self.model.parameters.get(name)
            mentioned = {n for entry in _expressions(number) for n in entry.names}
            if not any(self.hidden(n) for n in mentioned):
                self.findings.append((("parameters", name), problem.sentence))

    def design_and_variants(self):
        parameters = self.evaluation.parameters
        for i, name in enumerate(self.model.design):
            path = ("design", i)
            if name.split("[")[0] in self.evaluation.unknown:
                continue
            try:
                derived = [label for label in parameters.expand(name) if label in parameters.derived]
            except ModelError as error:
                if "parameters" not in self.broken.lost:
                    self.add(path, f"is {name!r}: {error.problems[0].sentence}")
                continue
            if derived:
                self.add(path, f"is {name!r}, which is derived; name the parameters it follows instead.")
            elif name in self.model.design[:i]:
                self.add(path, f"is {name!r}, which stands before already; name each parameter once.")
        if "parameters" in self.broken.lost:
            return
        for variant, values in self.model.variants.items():
            self.findings += find_in_values(
                self.model, values, lambda name, variant=variant: ("variants", variant, name), self.evaluation
            )

    # --- references ---

    def markers(self):
        """Markers named by joints, forces and constraints exist, are of the right kind, and belong to two bodies."""
        for path, element in _elements(self.model, "joints", "forces", "constraints"):
            wanted = getattr(element, "marker_kind", "point")
            bodies = []
            for key in ("between", "at", "marker"):
                value = getattr(element, key, None)
                many = isinstance(value, tuple)
                for i, name in enumerate(value if many else (value,) if value else ()):
                    place = (*path, key, i) if many else (*path, key)
                    bodies.append(self.marker(place, name, wanted))
            if len(bodies) == 2 and bodies[0] is not None and bodies[0] == bodies[1]:
                self.add((*path, "between"), f"names the body {bodies[0]!r} twice; name markers of two bodies.")
            key = getattr(element, "direction_key", "")
            if key:
                self.direction((*path, key), getattr(element, key), bodies[0])

    def direction(self, path: tuple, name: str, first: str | None):
        """A vector marker of the body of the first point exists."""
        body = self.marker(path, name, "vector")
        if body is not None and first is not None and body != first:
            self.add(
                path,
                f"names {name!r}, a vector of {body!r}; name a vector of {first!r}, as the first point in between is.",
            )

    def marker(self, path: tuple, name: str, wanted: str) -> str | None:
        """Body of the marker `name`, when it is there."""
        if self.hidden(name):
            return None
        try:
            body, marker = names.find_marker(self.model, name)
        except ModelError as error:
            self.add(path, error.problems[0].sentence)
            return None
        kind = names.KIND_OF_MARKER[type(marker)]
        if wanted == "point" and kind == "vector":
            self.add(path, f"names {name!r}, which is a vector; name a point, written [x, y, z] in the markers.")
        elif wanted == "vector" and kind != "vector":
            self.add(path, f"names {name!r}, which is a {kind}; name a vector, written {{vector: [x, y, z]}}.")
        elif wanted == "frame" and kind != "frame":
            self.add(path, f"names {name!r}, which is a {kind}; name a frame, written {{origin, x_axis, z_axis}}.")
        return body

    def shapes(self):
        """Markers named by shapes are points of their body, two different ones."""
        for path, holder in self.holders().items():
            for i, shape in enumerate(shapes_of(holder)):
                place = (
                    (*path, "shape", i, "between") if isinstance(holder.shape, tuple) else (*path, "shape", "between")
                )
                ends = getattr(shape, "between", None) or ()
                for k, name in enumerate(ends):
                    self.marker((*place, k), f"{path[-1]}.{name}", "point")
                if len(ends) == 2 and ends[0] == ends[1]:
                    self.add(place, f"names the marker {ends[0]!r} twice; name two markers.")

    def measured(self):
        """Measures named by forces, constraints and drivers exist."""
        for path, element in _elements(self.model, "forces", "constraints", "drivers"):
            for key in ("acts_on", "measure"):
                if getattr(element, key, None) is not None:
                    self.measure((*path, key), getattr(element, key))
            if isinstance(element, Linear):
                if not element.terms:
                    self.add((*path, "terms"), "is empty; give at least one measure with its factor.")
                for name in element.terms:
                    self.measure((*path, "terms", name), name)

    def measure(self, path: tuple, name: str):
        if self.hidden(name):
            return
        try:
            reference = names.resolve(self.model, name)
        except ModelError as error:
            self.add(path, error.problems[0].sentence)
            return
        if not reference.is_measure:
            self.add(path, f"names {name!r}, which is {describe(reference)}; {MEASURE_NEEDED}")

    def starts(self):
        """Degrees of freedom name measures; those of spherical and floating joints name the joint."""
        for name, start in self.model.degrees_of_freedom.items():
            path = ("degrees_of_freedom", name)
            joint = self.model.joints.get(name)
            if self.hidden(name):
                continue
            if joint is not None and joint.start is not Freedom:
                if not issubclass(joint.start, type(start)):
                    keys = joint.start.needs
                    self.add(path, f"starts the {joint.type} joint {name!r}; give it the keys {keys}.")
            elif isinstance(start, Freedom):
                self.measure(path, name)
            else:
                found = next(kind for kind, starts in JOINTS.items() if starts.start is type(start))
                what = f"is a {joint.type} joint" if joint is not None else "is no joint"
                self.add(path, f"has the start of a {found} joint, but {name!r} {what}; give position and velocity.")

    def driven_twice(self):
        seen: dict[str, str] = {}
        for name, driver in self.model.drivers.items():
            if driver.measure in seen:
                text = f"drives {driver.measure!r}, as {seen[driver.measure]!r} does already; keep one of the two."
                self.add(("drivers", name), text)
            seen.setdefault(driver.measure, name)
        for name in self.model.degrees_of_freedom:
            if name in seen:
                text = f"is driven by {seen[name]!r} and is not free; remove one of the two."
                self.add(("degrees_of_freedom", name), text)

    # --- expressions ---

    def expressions(self):
        """Every expression names what it may use in its place, and gives a number."""
        for path, expression, allowed in all_expressions(self.model):
            self.expression(path, expression, allowed)

    def list_parameters(self):
        """Ordinates of splines and tables that are given by a name are parameters that are lists."""
        named = [(("forces", n, "values"), f.values) for n, f in self.model.forces.items() if isinstance(f, Spline)]
        named += [(("tables", name, "y"), table.y) for name, table in self.model.tables.items()]
        for path, value in named:
            if not isinstance(value, str) or self.hidden(value):
                continue
            if not isinstance(self.model.parameters.get(value), tuple):
                lists = [n for n, v in self.model.parameters.items() if isinstance(v, tuple)]
                text = f"is {value!r}, which is no list parameter{closest(value, lists)}; "
                self.add(path, text + "give a list of numbers or the name of such a parameter.")

    def expression(self, path: tuple, expression: Expression, allowed: Allowed):
        graph = Graph()
        scalars = {}
        sound = True
        for dotted_name, index in expression.references:
            try:
                scalars[dotted_name, index] = self.look_up(graph, dotted_name, index, allowed)
            except (ModelError, ExpressionError) as error:
                sound = False
                if not self.hidden(dotted_name):
                    self.add(path, f"is {show(expression)} and {error.problems[0].sentence}")
        for name in sorted(expression.tables):
            if allowed is NUMBERS:
                self.add(path, f"is {show(expression)} and reads the table {name!r}; {allowed.sentence}")
            elif name not in self.model.tables and not self.broken.hides_table(name):
                known = ", ".join(self.model.tables) or "none"
                near = closest(name, self.model.tables)
                self.add(path, f"is {show(expression)} and reads the unknown table {name!r}{near}; tables: {known}.")
        for call in expression.calls(OF_TIME):
            inside = Expression(call).names - {"t", *self.model.parameters}
            if sound and inside:
                smooth = "smooth_step(x, w) is for anything else"
                text = f"takes {call.function!r} of {min(inside)!r}; it is for t and parameters, {smooth}."
                self.add(path, f"is {show(expression)} and {text}")
        if sound:
            try:
                scalarise_number(expression, graph, lambda name, index: scalars[name, index], lambda x, name: x)
            except ExpressionError as error:
                self.add(path, f"is wrong: {error.problems[0].sentence}")

    def kinks(self):
        """What rows hold has two continuous derivatives: no kink, and no jump."""
        for path, expression, allowed in all_expressions(self.model):
            if allowed in (IN_TIME, POSITION_ROW, VELOCITY_ROW):
                self.smooth(path, expression)
        named = [
            ((*path, "measure"), getattr(e, "measure", None))
            for path, e in _elements(self.model, "constraints", "drivers")
        ]
        named += [
            ((*path, "terms", name), name)
            for path, element in _elements(self.model, "constraints")
            if isinstance(element, Linear)
            for name in element.terms
        ]
        named += [(("degrees_of_freedom", name), name) for name in self.model.degrees_of_freedom]
        for path, name in named:
            if name in self.model.measures:
                self.smooth(path, Expression.parse(name))

    def smooth(self, path: tuple, expression: Expression):
        """The expression, and the measures in it, use nothing that has a kink or jumps."""
        seen: set[str] = set()
        waiting = [expression]
        while waiting:
            part = waiting.pop()
            linear = [
                n
                for n in sorted(part.tables)
                if n in self.model.tables and self.model.tables[n].interpolation == "linear"
            ]
            found = [f"{call.function}(...)" for call in part.calls(KINKED | OF_TIME)] + [
                f"the linear table {n!r}" for n in linear
            ]
            if found:
                remedy = (
                    "interpolation: cubic" if found[0].startswith("the") else "a smooth form such as smooth_abs(x, w)"
                )
                where = f"is {show(expression)} and" if part is expression else f"uses {show(part)}, which"
                text = f"{where} has {found[0]}; what is held or driven needs two continuous derivatives, use {remedy}."
                self.add(path, text)
                return
            names_ = {name.split(".")[0] for name in part.names} & set(self.model.measures) - seen
            seen |= names_
            waiting += [self.model.measures[name] for name in sorted(names_)]

    def look_up(self, graph: Graph, name: str, index: int | None, allowed: Allowed):
        """Scalars that stand for `name`; an error whose sentence is a fragment when it may not stand here."""
        reference = names.resolve(self.model, name)
        if not allowed.permits(reference):
            what = describe(reference)
            raise ModelError(f"uses {name!r}, {'which is ' * (what == ELSEWHERE)}{what}; {allowed.sentence}")
        if reference.kind == "parameter":
            self.evaluation.check_index(name, index)
        elif index is not None:
            raise ModelError(f"uses {name}[{index}], but {name!r} has no entries; write {name}.")
        if reference.is_vector:
            return tuple(graph.input(f"{name}.{axis}") for axis in "xyz")
        return graph.input(name if index is None else f"{name}[{index}]")

    def measure_cycles(self):
        measures = self.model.measures
        uses = {name: [n.split(".")[0] for n in sorted(measures[name].names)] for name in measures}
        done: set[str] = set()
        for start in measures:
            trail: list[str] = []
            stack = [(start, iter(uses[start]))]
            while stack and start not in done:
                name, rest = stack[-1]
                trail = [entry[0] for entry in stack]
                following = next((n for n in rest if n in uses and n not in done), None)
                if following is None:
                    done.add(name)
                    stack.pop()
                elif following in trail:
                    circle = " -> ".join([*trail[trail.index(following) :], following])
                    self.add(("measures", following), f"depends on itself ({circle}); define one of them by markers.")
                    done.update(trail)
                else:
                    stack.append((following, iter(uses[following])))


# --- what may stand where ---------------------------------------------------------------------------------------------

MEASURE_NEEDED = "name a joint coordinate (joint.angle), a marker component (body.marker.x) or an entry of measures."


class Allowed:
    """The kinds of reference an expression may use, with the words that say so."""

    def __init__(self, sentence: str, *kinds: str, rate: int = 0):
        self.sentence = sentence
        self.kinds = kinds
        self.rate = rate

    def permits(self, reference: Reference) -> bool:
        if reference.kind == "signal" and reference.quantity.use != "motion":
            return reference.quantity.use in FOR_OBJECTIVES and self.rate == OBJECTIVE_RATE
        return reference.kind in self.kinds and reference.rate <= self.rate


OBJECTIVE_RATE = 2
ELSEWHERE = "for objectives and results"  # after "which is"
FOR_OBJECTIVES = ("objective", "solved", "followed")
MOTION = ("parameter", "measure", "coordinate", "marker", "signal")
NUMBERS = Allowed("only parameters may be used here.", "parameter")
IN_TIME = Allowed("only t and parameters may be used here.", "time", "parameter")
POSITIONS = Allowed("a measure uses parameters, positions of markers, joint coordinates and other measures.", *MOTION)
FORCE_LAW = Allowed("a force uses t, parameters, positions and velocities.", "time", *MOTION, rate=1)
POSITION_ROW = Allowed("a row of positions uses t, parameters and positions.", "time", *MOTION)
VELOCITY_ROW = Allowed("a row of velocities uses t, parameters, positions and velocities.", "time", *MOTION, rate=1)
ANYTHING = Allowed(
    "an objective uses t, parameters, positions, velocities, accelerations, and forces and energies that follow from them.",
    "time",
    *MOTION,
    rate=OBJECTIVE_RATE,
)

#: Places with more than numbers and parameters: (class of the element, field).
LAWS = {
    (PositionRow, "value"): POSITION_ROW,
    (VelocityRow, "value"): VELOCITY_ROW,
    (Guidance, "value"): IN_TIME,
    (Driver, "value"): IN_TIME,
    **{(Objective, key): ANYTHING for key in OBJECTIVES},
}


def describe(reference: Reference) -> str:
    """What a reference is, in words."""
    if reference.kind == "signal":
        for_objectives = dict.fromkeys(FOR_OBJECTIVES, ELSEWHERE)
        known = for_objectives | {
            "result": "an integral over a whole motion; integrate the power of a force, {integral: FORCE.power}"
        }
        text = known.get(reference.quantity.use, ("a position", "a velocity", "an acceleration")[reference.rate])
        return text + (" (a vector)" if reference.is_vector else "")
    rate = ("", "a velocity of ", "an acceleration of ")[reference.rate]
    kind = {
        "time": "the time",
        "parameter": "a parameter",
        "measure": "a measure",
        "coordinate": "a joint coordinate",
        "marker": "a marker" if reference.component is None else "a marker component",
    }[reference.kind]
    return f"{rate}{kind}" + (" (a vector)" if reference.is_vector else "")


def _elements(model: Model, *sections: str) -> Iterator[tuple[tuple, Element]]:
    for section in sections:
        for name, element in getattr(model, section).items():
            yield (section, name), element


def _expressions(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from _expressions(entry)


def all_expressions(model: Model) -> Iterator[tuple[tuple, Expression, Allowed]]:
    """Path, expression and what it may use, for all expressions but those of parameters and variants."""
    for name, expression in model.measures.items():
        yield ("measures", name), expression, POSITIONS
    single = [(("ground",), model.ground), (("simulation",), model.simulation)]
    sections = ("bodies", "joints", "forces", "constraints", "drivers", "degrees_of_freedom", "objectives")
    for path, element in (*single, *_elements(model, *sections)):
        for key in type(element).model_fields:
            allowed = FORCE_LAW if key in getattr(element, "laws", ()) else LAWS.get((type(element), key), NUMBERS)
            for place, expression in _within((*path, key), getattr(element, key)):
                yield place, expression, allowed


def _within(path: tuple, value: Any) -> Iterator[tuple[tuple, Expression]]:
    """Expressions in a field, with their paths."""
    if isinstance(value, Expression):
        yield path, value
    elif isinstance(value, tuple):
        for i, entry in enumerate(value):
            yield from _within((*path, i), entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _within((*path, key), entry)
    elif isinstance(value, Law):
        for i, entry in enumerate(value.inputs):
            yield (*path, "arguments", i), entry
    elif isinstance(value, Element):
        for key in type(value).model_fields:
            yield from _within((*path, key), getattr(value, key))
