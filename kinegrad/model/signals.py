"""Signals: the named scalars of a model, with unit, owner and meaning; one name space for objectives, plots, tables and files.

A signal is a component of a marker with its rates, a joint coordinate, a measure, what an element has (`Quantity`: the force of
a spring, the angular velocity of a body, the reaction of a joint), the integrand of an objective, or one of the whole
mechanism. Vectors are listed by component, with their norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from kinegrad.errors import ModelError
from kinegrad.expressions.syntax import Expression
from kinegrad.model import names, units
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.constraints import Guidance, Linear, PositionRow
from kinegrad.model.quantities import AXES, COMPONENTS, Quantity
from kinegrad.model.units import METRE, ONE, RADIAN, SECOND, Unit

if TYPE_CHECKING:
    from kinegrad.model.model import Model

UNKNOWN = ""  # the unit of what is made of parameters
NEAREST = 3  # names that are told in the place of one that does not exist
RATES = ("", "velocity", "acceleration")
RATE_WORDS = ("", "Velocity of ", "Acceleration of ")

OF_BODY = (
    Quantity(
        "rotation", "rad", "Rotation vector from the ground to the body, global, with its turns.", True, 0, "followed"
    ),
    Quantity("angular_velocity", "rad/s", "Angular velocity of the body, global.", True, 1, "motion"),
    Quantity("angular_acceleration", "rad/s2", "Angular acceleration of the body, global.", True, 2, "motion"),
)
OF_SYSTEM = (
    Quantity("kinetic_energy", "J", "Kinetic energy of all bodies."),
    Quantity("potential_energy", "J", "Energy of gravity and springs."),
    Quantity("work", "J", "Work of all that has no potential, since the start.", use="result"),
    Quantity("momentum", "kg m/s", "Momentum of all bodies, global.", True),
    Quantity("angular_momentum", "kg m2/s", "Angular momentum of all bodies about the global origin.", True),
)
_REACTION = "on the second body, at the first marker, global"
REACTION = (
    Quantity("reaction.force", "N", f"Reaction force {_REACTION}.", True, 2, "solved"),
    Quantity("reaction.moment", "N m", f"Reaction moment {_REACTION}.", True, 2, "solved"),
)


@dataclass(frozen=True)
class Signal:
    """A named scalar.

    Attributes
    ----------
    name : str
    unit : str
        Empty where it depends on the units of parameters.
    group : str
        ``marker``, ``joint``, ``body``, ``force``, ``constraint``, ``driver``, ``measure``, ``objective`` or ``system``.
    owner : str
        The element that has it; for a marker the body.
    meaning : str
        A sentence.
    use : str
        Where expressions may use it: "measure" (from positions), "force" (from velocities too), "objective", "solved" (there
        too, a force of constraints), "followed" (there too; a motion also has its turns), or "result", known of a motion alone.
    """

    name: str
    unit: str
    group: str
    owner: str
    meaning: str
    use: str

    @property
    def dimension(self) -> str:
        """What is measured, in a word or two, such as "length"; empty where the unit is not known."""
        named = {"J": "energy", "N m": "torque", UNKNOWN: ""} | dict(units.NAMES.values())
        return named.get(self.unit, self.unit)

    @property
    def is_formula(self) -> bool:
        """Whether it is a function of positions, velocities and accelerations; what is not follows from a whole motion."""
        return self.use not in ("solved", "followed", "result") or self.group == "objective"

    @property
    def label(self) -> str:
        """Name and unit for axes and tables."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


class Catalogue(Mapping):
    """The signals of a model by name, in the order in which they are listed."""

    def __init__(self, model: Model):
        self.model = model
        self._signals = {signal.name: signal for signal in _signals(model)}

    def __getitem__(self, name: str) -> Signal:
        return self._signals[self.canonical(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __contains__(self, name: object) -> bool:
        return name in self._signals

    def __repr__(self) -> str:
        return f"<Catalogue of {len(self)} signals of {self.model.title or 'a model'!r}>"

    def canonical(self, name: str) -> str:
        """The name under which a signal is listed: ``arm.B.velocity.x`` is ``arm.B.x.velocity``; ModelError for no signal."""
        found = self.expand(name)
        if len(found) != 1:
            raise ModelError(f"{name!r} is a vector; name one of {', '.join((*found, f'{name}.norm'))}.")
        return found[0]

    def expand(self, name: str) -> list[str]:
        """The signals that a name stands for: itself, or the three components of a vector; ModelError for none."""
        if name in self._signals:
            return [name]
        parts = [f"{name}.{axis}" for axis in AXES]
        if all(part in self._signals for part in parts):
            return parts
        try:
            reference = names.resolve(self.model, name)
        except ModelError:
            reference = None
        if reference is not None and reference.kind == "marker":
            marker = f"{reference.element}.{reference.part}"
            which = [reference.component] if reference.component is not None else range(3)
            found = [component_name(marker, c, reference.rate) for c in which]
            if all(part in self._signals for part in found):
                return found
        raise ModelError(f"There is no signal {name!r}; {self._nearest(name)}.")

    def _nearest(self, name: str) -> str:
        near = get_close_matches(name, self._signals, NEAREST, 0.4)
        near += [x for x in self._signals if x.startswith(f"{name}.")][: NEAREST - len(near)]
        if near:
            return f"the nearest are {', '.join(near)}"
        return f"`kinegrad signals` lists all {len(self)} of the model"


def component_name(marker: str, component: int, rate: int) -> str:
    """The listed name of a component of a marker, or of its norm."""
    if component >= len(AXES):
        return f"{marker}.{(RATES[rate] or 'position')}.norm"
    return f"{marker}.{AXES[component]}" + (f".{RATES[rate]}" if rate else "")


# --- what a model has ---


def quantities_of(model: Model, element: str) -> tuple[str, tuple[Quantity, ...]]:
    """Group and quantities of an element by its name."""
    if element in model.bodies:
        return "body", OF_BODY
    if element in model.joints:
        return "joint", REACTION
    if element in model.forces:
        force = model.forces[element]
        return "force", force.quantities(_along(model, getattr(force, "acts_on", None)))
    if element in model.drivers:
        unit = _along(model, model.drivers[element].measure)
        return "driver", (_force_of_row(unit), Quantity("power", "W", "Power that it delivers.", level=2, use="solved"))
    if element in model.constraints:
        return "constraint", _of_constraint(model, model.constraints[element])
    return "", ()


def _of_constraint(model: Model, constraint) -> tuple[Quantity, ...]:
    if isinstance(constraint, Guidance) and constraint.measure is not None:
        return (_force_of_row(_along(model, constraint.measure)),)
    if isinstance(constraint, Linear):
        return (_force_of_row(UNKNOWN),)
    if isinstance(constraint, PositionRow):  # rows of velocities are of its class, or have no forces of their own
        return (_force_of_row(UNKNOWN),)
    return REACTION if hasattr(constraint, "between") or isinstance(constraint, Guidance) else ()


def _force_of_row(unit: str) -> Quantity:
    return Quantity(
        "force", unit, "Force along its measure, positive where it pushes the measure up.", False, 2, "solved"
    )


def _along(model: Model, measure: str | None) -> str:
    """The unit of a force along a measure."""
    unit = unit_of_name(model, measure) if measure else None
    if unit is None:
        return UNKNOWN
    return units.TORQUE if unit == RADIAN else str(units.JOULE / unit)


def unit_of_name(model: Model, name: str) -> Unit | None:
    """The unit of what an expression may name, if it is known."""
    try:
        reference = names.resolve(model, name)
    except ModelError:
        return None
    rate = SECOND**reference.rate
    match reference.kind:
        case "time":
            return SECOND
        case "measure":
            unit = unit_of(model, model.measures[reference.element])
            return None if unit is None else unit / rate
        case "coordinate":
            return _of_coordinate(reference.part) / rate
        case "marker":
            return _of_marker(model, reference.element, reference.part) / rate
        case "signal":
            text = reference.quantity.unit
            known = {"J": units.JOULE, "N m": units.JOULE} | {name: unit for unit, (name, _) in units.NAMES.items()}
            return known.get(text)
    return None


def unit_of(model: Model, expression) -> Unit | None:
    """The unit of an expression of the model, if it is known."""
    return units.unit_of(expression, lambda name: unit_of_name(model, name))


def _of_coordinate(part: str) -> Unit:
    return METRE if part in ("distance", *AXES) else RADIAN


def _of_marker(model: Model, body: str, marker: str) -> Unit:
    if marker == names.COM and not names.has_marker(model, body, marker):
        return METRE
    return ONE if isinstance(names.find_marker(model, f"{body}.{marker}")[1], VectorMarker) else METRE


# --- the list ---

#: What an objective does with its expression.
TAKEN = {
    "integral": "integrates",
    "final": "is at the end",
    "sum": "adds up",
    "maximum": "is the maximum of",
    "minimum": "is the minimum of",
}


def _signals(model: Model) -> Iterator[Signal]:
    yield Signal("t", "s", "system", "", "Time.", "force")
    for quantity in OF_SYSTEM:
        if not names.is_taken(model, quantity.part):
            yield from _listed(quantity, "system", "")
    for name, expression in model.measures.items():
        yield from _with_rates(name, unit_of(model, expression), "measure", name, f"measure {name!r}")
    for name, joint in model.joints.items():
        for part in joint.coordinates if joint.angle_is_defined else ():
            text = f"{'distance' if _of_coordinate(part) == METRE else 'angle'} of joint {name!r}"
            yield from _with_rates(f"{name}.{part}", _of_coordinate(part), "joint", name, text)
    for body, element in model.bodies.items():
        for marker in dict.fromkeys((*element.markers, names.COM)):
            yield from _of_a_marker(model, body, marker)
    for marker in model.ground.markers:
        yield from _of_a_marker(model, names.GROUND, marker)
    for section in (model.bodies, model.joints, model.forces, model.constraints, model.drivers):
        for name in section:
            group, quantities = quantities_of(model, name)
            taken = section[name].markers if group == "body" else ()
            for quantity in quantities:
                if quantity.part not in taken:
                    yield from _listed(quantity, group, name)
    for name, objective in model.objectives.items():
        value = objective.expression
        if solves_again(model, value):  # along a motion it is computed from its parts
            continue
        unit = unit_of(model, value) if isinstance(value, Expression) else None
        text = f"What objective {name!r} {TAKEN[objective.kind]}."
        yield Signal(name, str(unit or UNKNOWN), "objective", name, text, "result")


def solves_again(model: Model, value) -> bool:
    """Whether an expression of an objective uses forces of constraints, by itself or by measures."""
    for name in value.names if isinstance(value, Expression) else ():
        try:
            reference = names.resolve(model, name)
        except ModelError:
            continue
        if reference.kind == "signal" and reference.quantity.use == "solved":
            return True
    return False


def _with_rates(name: str, unit: Unit | None, group: str, owner: str, what: str) -> Iterator[Signal]:
    """A scalar and its two rates."""
    for rate, ending in enumerate(RATES):
        text = f"{RATE_WORDS[rate]}{what}."
        found = UNKNOWN if unit is None else str(unit / SECOND**rate)
        use = ("measure", "force", "objective")[rate]
        yield Signal(f"{name}.{ending}" if ending else name, found, group, owner, text[0].upper() + text[1:], use)


def _of_a_marker(model: Model, body: str, marker: str) -> Iterator[Signal]:
    """Components of a marker, or of the centre of mass, with rates, speed and size of the acceleration."""
    name, unit = f"{body}.{marker}", _of_marker(model, body, marker)
    own = names.has_marker(model, body, marker)
    what = repr(name) if own else f"the centre of mass of {body!r}"
    for axis in AXES:
        yield from _with_rates(f"{name}.{axis}", unit, "marker", body, f"{axis} of {what}, global")
    for rate in (1, 2):
        words = ("speed", "size of the acceleration")[rate - 1]
        use = ("force", "objective")[rate - 1]
        text = f"{words.capitalize()} of {what}."
        yield Signal(component_name(name, len(AXES), rate), str(unit / SECOND**rate), "marker", body, text, use)


def _listed(quantity: Quantity, group: str, owner: str) -> Iterator[Signal]:
    """A quantity as signals: one, or its components."""
    name = f"{owner}.{quantity.part}" if owner else quantity.part
    use = ("measure", "force", "objective")[quantity.level] if quantity.use == "motion" else quantity.use
    if not quantity.vector:
        yield Signal(name, quantity.unit, group, owner, quantity.meaning, use)
        return
    for part in COMPONENTS:
        text = f"{quantity.meaning[:-1]}: {'its size' if part == 'norm' else part}."
        yield Signal(f"{name}.{part}", quantity.unit, group, owner, text, use)


def groups_of(catalogue: Catalogue, *texts: str) -> list[list[str]]:
    """Listed names by axes: in a text ";" begins new axes and "," stands between signals on the same ones.

    "all" stands for all signals; vectors are taken by component.
    """
    groups = []
    for text in ";".join(texts).split(";"):
        found: dict[str, None] = {}
        for name in filter(None, map(str.strip, text.split(","))):
            found |= dict.fromkeys(catalogue if name == "all" else catalogue.expand(name))
        if found:
            groups.append(list(found))
    if not groups:
        raise ModelError("No signal is named; write names such as t, kinetic_energy, or all.")
    return groups
