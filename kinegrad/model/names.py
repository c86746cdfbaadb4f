"""What a dotted name in an expression, or the name of a measure, stands for.

==========================================  ============================================================
``t``                                       time
``L_A1``                                    a parameter
``reach``  ``reach.velocity``               an entry of `measures`, and its rates
``J1.angle``  ``J1.angle.velocity``         a joint coordinate, and its rates
``bar.P.x``  ``bar.P.x.velocity``           a component of a marker in global axes, and its rates
``bar.P.position``  ``bar.P.velocity``      a vector in global components
``bar.P.position.x``  ``bar.P.velocity.norm``  a component of it, its length
``spring.force``  ``bar.angular_velocity``  what an element has (`kinegrad.model.signals`)
==========================================  ============================================================

A vector marker has `position` too: its components in global axes.  ``bar.com`` is the centre of mass, where no marker has that
name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kinegrad.errors import ModelError
from kinegrad.expressions.syntax import FUNCTIONS
from kinegrad.model.bodies import FrameMarker, PointMarker, VectorMarker
from kinegrad.model.element import closest
from kinegrad.model.quantities import COMPONENTS as OF_VECTORS
from kinegrad.model.quantities import NORM, Quantity

if TYPE_CHECKING:
    from kinegrad.model.model import Model

GROUND = "ground"
RATES = {"position": 0, "velocity": 1, "acceleration": 2}
COMPONENTS = {"x": 0, "y": 1, "z": 2}
COM = "com"
KIND_OF_MARKER = {PointMarker: "point", VectorMarker: "vector", FrameMarker: "frame"}


@dataclass(frozen=True)
class Reference:
    """What a name stands for.

    Attributes
    ----------
    kind : str
        ``time``, ``parameter``, ``measure``, ``coordinate`` (of a joint), ``marker`` or ``signal`` (a quantity of an element).
    element : str
        Name of the parameter, measure, joint or body; empty for time.
    part : str
        Name of the coordinate, marker or quantity.
    rate : int
        0 for the value, 1 for its velocity, 2 for its acceleration; of a quantity what it takes.
    component : int, optional
        0, 1 or 2 for one component of a marker or quantity, 3 for the norm; None for the whole vector, and for numbers.
    quantity : Quantity, optional
        What a ``signal`` is.
    """

    kind: Literal["time", "parameter", "measure", "coordinate", "marker", "signal"]
    element: str = ""
    part: str = ""
    rate: int = 0
    component: int | None = None
    quantity: Quantity | None = None

    @property
    def is_vector(self) -> bool:
        """Whether it has three components."""
        has = self.quantity.vector if self.quantity is not None else self.kind == "marker"
        return has and self.component is None

    @property
    def is_measure(self) -> bool:
        """Whether it may be guided, driven or acted on: a number that follows from the positions."""
        known = self.kind in ("measure", "coordinate", "marker") and self.rate == 0
        return known and not self.is_vector and self.component != NORM


def resolve(model: Model, name: str) -> Reference:
    """What `name` stands for in `model`; raises ModelError with a fragment such as "names the unknown body 'x'"."""
    first, *rest = name.split(".")
    if first == "t" and not rest:
        return Reference("time")
    if first in model.parameters:
        if rest:
            raise ModelError(f"names {name!r}, but {first!r} is a parameter and has no parts; write {first}.")
        return Reference("parameter", first)
    if first in model.measures:
        return Reference("measure", first, rate=_rate(name, rest))
    found = _quantity(model, first, rest)
    if found is not None:
        return found
    if first in model.joints:
        return _coordinate(model, name, first, rest)
    if first in model.bodies or first == GROUND:
        return _marker_quantity(model, name, first, rest)
    if rest and any(first in x for x in (model.forces, model.drivers, model.constraints)):
        from kinegrad.model.signals import quantities_of

        own = [quantity.part for quantity in quantities_of(model, first)[1]]
        near = closest(rest[0], own)
        has = f"it has {', '.join('.' + word for word in own)}" if own else "it has no quantities"
        raise ModelError(f"names {name!r}, which {first!r} does not have{near}; {has}.")
    known = [*model.parameters, *model.measures, *model.joints, *model.bodies, GROUND]
    what = "joint or body" if rest else "parameter or measure"
    remedy = "write its arguments in parentheses" if name in FUNCTIONS else "define it or correct the name"
    raise ModelError(f"names the unknown {what} {first!r}{closest(first, known)}; {remedy}.")


def find_marker(model: Model, name: str):
    """Body name and marker of ``body.marker``; raises ModelError with a fragment when there is none."""
    body, _, marker = name.partition(".")
    if body != GROUND and body not in model.bodies:
        known = [GROUND, *model.bodies]
        raise ModelError(f"names the unknown body {body!r}{closest(body, known)}; bodies: {', '.join(known)}.")
    markers = model.ground.markers if body == GROUND else model.bodies[body].markers
    if marker not in markers:
        known = ", ".join(markers) or "none"
        raise ModelError(
            f"names the unknown marker {marker!r} of {body!r}{closest(marker, markers)}; its markers: {known}."
        )
    return body, markers[marker]


def has_marker(model: Model, body: str, marker: str) -> bool:
    """Whether a body, or the ground, has a marker of that name."""
    return marker in (model.ground.markers if body == GROUND else model.bodies[body].markers)


def is_taken(model: Model, name: str) -> bool:
    """Whether an element of the model has that name."""
    sections = (
        model.parameters,
        model.measures,
        model.bodies,
        model.joints,
        model.forces,
        model.constraints,
        model.drivers,
    )
    return any(name in section for section in (*sections, model.objectives))


def _quantity(model: Model, first: str, rest: list[str]) -> Reference | None:
    """The quantity of an element, or of the whole mechanism, that a name stands for; a marker of that name comes first."""
    from kinegrad.model.signals import OF_SYSTEM, quantities_of

    if first in model.bodies and rest and has_marker(model, first, rest[0]):
        return None
    whole = {q.part: q for q in OF_SYSTEM}
    if first in whole and not is_taken(model, first):
        owner, known, rest = "", (whole[first],), [first, *rest]
    else:
        owner, (_, known) = first, quantities_of(model, first)
    for quantity in known:
        part = quantity.part.split(".")
        more = rest[len(part) :]
        if rest[: len(part)] != part or len(more) > 1:
            continue
        component = OF_VECTORS.index(more[0]) if more and quantity.vector and more[0] in OF_VECTORS else None
        if component is not None or not more:
            return Reference("signal", owner, quantity.part, quantity.level, component, quantity)
    return None


def _rate(name: str, rest: list[str]) -> int:
    if not rest:
        return 0
    if len(rest) > 1 or rest[0] not in ("velocity", "acceleration"):
        raise ModelError(f"names {name!r}; only .velocity or .acceleration may follow there.")
    return RATES[rest[0]]


def _coordinate(model: Model, name: str, joint_name: str, rest: list[str]) -> Reference:
    joint = model.joints[joint_name]
    known = ", ".join(f"{joint_name}.{c}" for c in joint.coordinates)
    if not joint.coordinates:
        raise ModelError(
            f"names {name!r}, but a {joint.type} joint has no coordinate to name; use a measure of markers."
        )
    if not rest or rest[0] not in joint.coordinates:
        raise ModelError(
            f"names {name!r}, but the coordinates of this {joint.type} joint are {known}; write one of them."
        )
    if rest[0] == "angle" and not joint.angle_is_defined:
        raise ModelError(
            f"names {name!r}, but joint {joint_name!r} has a pair of axes and no zero; "
            f"add zero: [[...], [...]] to the joint, a direction in each body that coincide at angle 0."
        )
    return Reference("coordinate", joint_name, rest[0], _rate(name, rest[1:]))


def _marker_quantity(model: Model, name: str, body: str, rest: list[str]) -> Reference:
    if not rest:
        raise ModelError(f"names the body {body!r}; write {body}.MARKER.position or {body}.MARKER.x.")
    if rest[0] != COM or body == GROUND or has_marker(model, body, COM):
        find_marker(model, f"{body}.{rest[0]}")
    match rest[1:]:
        case [component, *more] if component in COMPONENTS:
            return Reference("marker", body, rest[0], _rate(name, more), COMPONENTS[component])
        case [rate] if rate in RATES:
            return Reference("marker", body, rest[0], RATES[rate])
        case [rate, component] if rate in RATES and component in OF_VECTORS:
            return Reference("marker", body, rest[0], RATES[rate], OF_VECTORS.index(component))
    marker = f"{body}.{rest[0]}"
    raise ModelError(f"names {name!r}; write {marker}.position, .velocity, .acceleration, or {marker}.x, .y, .z.")
