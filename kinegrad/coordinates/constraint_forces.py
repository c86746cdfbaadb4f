"""Forces of constraints as formulas with multipliers, for objectives (OBJ-3).

A row Phi exerts -lam Phi_x on a marker x.  Multipliers of rows of a measure are forces along it; those of the rows between two
bodies add up to the reaction on the second one, at the first marker (OBJ-4).
"""

from __future__ import annotations

from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.rows import cross
from kinegrad.coordinates.laws import Formula
from kinegrad.coordinates.opened_joints import reaction
from kinegrad.errors import ExpressionError
from kinegrad.kernels.records import COINCIDENCE, DISTANCE
from kinegrad.model.names import Reference


class NotHere(ExpressionError):
    """An expression that a set of coordinates cannot give, and others can."""


def of_constraint(elements, formula: Formula, reference: Reference):
    """The Scalar, or the three, of a force of a constraint."""
    name, part = reference.element, reference.part
    if part.startswith("reaction."):
        return tuple(_reaction(elements, formula, name)[part])
    if name not in elements.row_names:
        raise NotHere(f"uses the force of {name!r}, which has no row of its own in these coordinates.")
    force = -elements.multiplier(formula, elements.row_names.index(name))
    if part == "power":
        return force * formula.rate(elements.measure(formula, elements.model.drivers[name].measure))
    return force


def _reaction(elements, formula: Formula, name: str) -> dict[str, list]:
    """Force and moment that the first body of a joint or constraint exerts on its second, at the first marker (OBJ-4)."""
    element = elements.model.joints.get(name) or elements.model.constraints[name]
    elements.asks_reactions = True
    if name in elements.opened:
        return reaction(elements, formula, name)
    if name in elements.can_open:
        elements.to_open[name] = None
        zero = [formula.graph.constant(0.0)] * 3
        return {"reaction.force": zero, "reaction.moment": zero}
    rows = elements.rows_of.get(name, ())
    laws = {row["row"] for row in elements.tables["row_law"]}
    if elements.shared.get(name):
        raise NotHere(
            f"uses the reaction of {name!r}, which the bodies share by coordinates, without a row that tells what it exerts; "
            "take joint or reference-point coordinates."
        )
    if getattr(element, "marker", None):  # the components of a point follow a course: rows along the axes
        return {
            "reaction.force": [-elements.multiplier(formula, row) for row in rows],
            "reaction.moment": [formula.graph.constant(0.0)] * 3,
        }
    if not hasattr(element, "between"):
        raise ExpressionError(f"uses the reaction of {name!r}, which is not between two markers.")
    second = element.between[1].partition(".")[0]
    at = elements.components(formula, elements.marker(element.between[0]))
    every, zero = list(elements.markers), formula.graph.constant(0.0)
    force, moment = [zero] * 3, [zero] * 3
    for row in laws & set(rows):
        force, moment = KINDS[element.type].thrust(elements, formula, name, element, row)
    for row in (row for row in elements.tables["row"] if row["row"] in rows):
        lam = elements.multiplier(formula, row["row"])
        for marker, covector in _covectors(elements, formula, row):
            body, _, is_point = every[marker]
            if body != second:
                continue
            F, x = [-(lam * y) for y in covector], elements.components(formula, marker)
            arm = [a - b for a, b in zip(x, at, strict=True)] if is_point else x
            if row["type"] != DISTANCE:  # along the arm
                moment = [a + b for a, b in zip(moment, cross(arm, F), strict=True)]
            if is_point:
                force = [a + b for a, b in zip(force, F, strict=True)]
    return {"reaction.force": force, "reaction.moment": moment}


def _covectors(elements, formula: Formula, row: dict) -> list[tuple[int, list]]:
    """Markers of a row and its derivatives by them."""
    one, zero = formula.graph.constant(1.0), formula.graph.constant(0.0)
    if row["type"] == COINCIDENCE:
        unit = [one if c == row["comp"] else zero for c in range(3)]
        return [(row["i"], unit), (row["j"], [-y for y in unit])]
    i, j, k = (elements.components(formula, row[key]) if row[key] >= 0 else [zero] * 3 for key in "ijk")
    d = [a - b for a, b in zip(j, k, strict=True)]
    y = [2.0 * x for x in d] if row["type"] == DISTANCE else i
    found = [(row["j"], y), (row["k"], [-x for x in y])]
    found += [] if row["type"] == DISTANCE else [(row["i"], d)]
    return [(marker, covector) for marker, covector in found if marker >= 0]
