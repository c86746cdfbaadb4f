"""Which formulation goes with which integrator, and what is refused by name."""

from __future__ import annotations

import warnings

from kinegrad.coordinates.system import System
from kinegrad.dynamics.acceleration_level import (
    AccelerationLevelNewmark,
    AccelerationLevelRungeKutta4,
    AccelerationLevelRungeKutta54,
)
from kinegrad.dynamics.ali3p import Ali3pNewmark
from kinegrad.dynamics.matrix_r import MatrixRNewmark, MatrixRRungeKutta4, MatrixRRungeKutta54
from kinegrad.dynamics.recursive import RecursiveNewmark, RecursiveRungeKutta4, RecursiveRungeKutta54
from kinegrad.dynamics.scheme import Scheme
from kinegrad.errors import KinegradError, UnusedOptionWarning
from kinegrad.expressions.syntax import Expression
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

SCHEMES = {
    ("ali3p", "newmark"): Ali3pNewmark,
    ("ali3p", "hht"): Ali3pNewmark,
    ("ali3p", "generalized-alpha"): Ali3pNewmark,
    ("matrix-r", "newmark"): MatrixRNewmark,
    ("matrix-r", "hht"): MatrixRNewmark,
    ("matrix-r", "generalized-alpha"): MatrixRNewmark,
    ("matrix-r", "rk4"): MatrixRRungeKutta4,
    ("matrix-r", "rk54"): MatrixRRungeKutta54,
    ("index1", "newmark"): AccelerationLevelNewmark,
    ("index1", "hht"): AccelerationLevelNewmark,
    ("index1", "generalized-alpha"): AccelerationLevelNewmark,
    ("index1", "rk4"): AccelerationLevelRungeKutta4,
    ("index1", "rk54"): AccelerationLevelRungeKutta54,
    ("penalty", "newmark"): AccelerationLevelNewmark,
    ("penalty", "hht"): AccelerationLevelNewmark,
    ("penalty", "generalized-alpha"): AccelerationLevelNewmark,
    ("penalty", "rk4"): AccelerationLevelRungeKutta4,
    ("penalty", "rk54"): AccelerationLevelRungeKutta54,
    ("recursive", "newmark"): RecursiveNewmark,
    ("recursive", "hht"): RecursiveNewmark,
    ("recursive", "generalized-alpha"): RecursiveNewmark,
    ("recursive", "rk4"): RecursiveRungeKutta4,
    ("recursive", "rk54"): RecursiveRungeKutta54,
}
WHY_NOT = {
    ("ali3p", "rk4"): "ali3p solves for positions at the end of each step and needs an implicit integrator",
    ("ali3p", "rk54"): "ali3p solves for positions at the end of each step and needs an implicit integrator",
}


def scheme_for(system: System, formulation, integrator) -> Scheme:
    """The scheme of a formulation and an integrator on a system.

    Refuses combinations that do not exist, and warns of options that were given and have no effect.
    """
    key = formulation.type, integrator.type
    if key not in SCHEMES:
        can = [i for f, i in SCHEMES if f == formulation.type]
        offered = sorted({f for f, _ in SCHEMES})
        if not can:
            raise KinegradError(
                f"The formulation {formulation.type!r} is not available; choose from {', '.join(offered)}."
            )
        reason = WHY_NOT.get(key, f"{integrator.type!r} is not available with it")
        raise KinegradError(
            f"{formulation.type} with {integrator.type}: {reason}. Use {', '.join(can)} with {formulation.type}."
        )
    given = [name for name in SCHEMES[key].unused if name in formulation.model_fields_set]
    if given:
        names = " and ".join(map(repr, given))
        have, them = ("has", "it") if len(given) == 1 else ("have", "them")
        sentence = f"{names} of {formulation.type} {have} no effect with {integrator.type}; leave {them} out."
        warnings.warn(sentence, UnusedOptionWarning, stacklevel=3)
    scheme = SCHEMES[key](system, options_of(formulation, integrator, system))
    scheme.given = frozenset(formulation.model_fields_set)
    return scheme


def options_of(formulation, integrator, system: System) -> dict:
    """Options of both; one of the integrator that the formulation has too is called integrator_NAME."""
    options = numbers(formulation, system)
    return options | {f"integrator_{k}" if k in options else k: x for k, x in numbers(integrator, system).items()}


def numbers(element, system: System) -> dict:
    """Options of a formulation or integrator with expressions evaluated."""
    return {
        name: system.parameters.evaluate(value, system.rho) if isinstance(value, Expression) else value
        for name, value in ((name, getattr(element, name)) for name in type(element).model_fields)
        if name != "type"
    }


def choose(kind: str, table: dict, value):
    """An option object from an object or from its type's name."""
    if not isinstance(value, str):
        return value
    if value not in table:
        raise KinegradError(f"{value!r} is no {kind}; choose from {', '.join(table)}.")
    return table[value]()


def formulation_of(value):
    """A formulation from an object or a name."""
    return choose("formulation", FORMULATIONS, value)


def integrator_of(value):
    """An integrator from an object or a name."""
    return choose("integrator", INTEGRATORS, value)
