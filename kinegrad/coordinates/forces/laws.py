"""What forces given by expressions share: covectors on scalars, packed as a law (LAW-1)."""

from __future__ import annotations

from kinegrad.coordinates.laws import Formula, force_tapes
from kinegrad.errors import ModelError, Problem
from kinegrad.laws import Law


def add_law(elements, name: str, formula: Formula, forces: dict, stored: tuple = (), *, idle: bool = False) -> None:
    """A row of the table of laws: covectors `forces` by scalar, and what is stored, with the power of the rest.

    An `idle` law does no work: it is no force on bodies.
    """
    if any(u[2] in formula.moved_by(*forces.values()) for u in formula.scalars.values()):
        raise ModelError(
            Problem(
                f"force {name!r} depends on an acceleration, which a force may not; use positions and velocities.",
                f"forces.{name}",
            )
        )
    packed, order = elements.packed, list(formula.scalars)
    tapes = packed.tapes(force_tapes, formula, *forces.values(), *stored, stored=len(stored))
    targets = [order.index(k) for k in forces]
    elements.add("law", name, packed.add(formula, tapes, targets) | {"idle": int(idle)})
    elements.watch(name, formula, list(forces.values()))


def on_measure(formula: Formula, measure, value) -> dict:
    """Covectors -Q of a force `value` along a measure."""
    scalars = list(formula.scalars.items())
    partials = formula.graph.gradient(measure, [u[0] for _, u in scalars])
    zero = formula.graph.constant(0.0)
    return {k: -(p * value) for (k, _), p in zip(scalars, partials, strict=True) if p != zero}


def force_or_power(elements, formula: Formula, force, value, part: str):
    """The force `value` along a measure, or the power that it gives (SIG-1)."""
    return value if part == "force" else value * formula.rate(elements.measure(formula, force.acts_on))


def signal_on_measure(elements, formula: Formula, name: str, force, part: str):
    """Force or power of a force with one value along a measure."""
    value = elements.value(formula, f"forces.{name}.value", force.value, f"force {name!r}")
    return force_or_power(elements, formula, force, value, part)


def lower_on_measure(elements, name: str, force) -> None:
    """A force with one value along a measure."""
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    value = elements.value(formula, f"forces.{name}.value", force.value, f"force {name!r}")
    add_law(elements, name, formula, on_measure(formula, measure, value))


def components(elements, formula: Formula, name: str, force, body: str) -> list:
    """The three components of a force or torque in global axes."""
    if isinstance(force.value, Law):
        value = formula.call(force.value, f"force {name!r}", 3)
    else:
        path = f"forces.{name}.value"
        value = [elements.number(formula, f"{path}.{c}", x) for c, x in zip("xyz", force.value, strict=True)]
    if force.frame == "ground":
        return value
    axes = [[formula.scalar(elements.scalar(m, c)) for c in range(3)] for m in elements.axes(body)]
    return [sum((value[k] * axes[k][c] for k in range(1, 3)), value[0] * axes[0][c]) for c in range(3)]
