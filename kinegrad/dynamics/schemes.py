"""Which formulation goes with which integrator, and what is refused by name."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from kinegrad.coordinates.patterns import DENSE, FRONTS, fronts_pay
from kinegrad.coordinates.system import System
from kinegrad.dynamics.acceleration_level import AccelerationLevel
from kinegrad.dynamics.ali3p import Ali3p
from kinegrad.dynamics.integrator import Integrator
from kinegrad.dynamics.matrix_r import MatrixR
from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.recursive import Recursive
from kinegrad.dynamics.runge_kutta import RungeKutta4, RungeKutta54
from kinegrad.dynamics.scheme import Pair, Scheme
from kinegrad.errors import KinegradError, UnusedOptionWarning
from kinegrad.expressions.syntax import Expression
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from kinegrad.remembered import remembered

#: what is computed for each formulation of `kinegrad.model.simulation`; it says with which integrators it goes
BY_FORMULATION = {
    "ali3p": Ali3p,
    "matrix-r": MatrixR,
    "index1": AccelerationLevel,
    "penalty": AccelerationLevel,
    "recursive": Recursive,
    "udwadia-kalaba": AccelerationLevel,  # which has the form of (UDK-3)
}
BY_INTEGRATOR = {
    **dict.fromkeys(("newmark", "hht", "generalized-alpha"), NewmarkFamily),
    "rk4": RungeKutta4,
    "rk54": RungeKutta54,
}


AUTO = "auto"
SOLVERS = (AUTO, DENSE, FRONTS)


def pairs(formulations: dict, integrators: dict) -> dict[tuple[str, str], Pair]:
    """All that go together, by their names."""
    return {
        (f, i): Pair(formulation, integrator)
        for f, formulation in formulations.items()
        for i, integrator in integrators.items()
        if issubclass(integrator, formulation.families)
    }


SCHEMES = pairs(BY_FORMULATION, BY_INTEGRATOR)


def scheme_for(system: System, formulation, integrator) -> Scheme:
    """The scheme of a formulation and an integrator on a system.

    Refuses combinations that do not exist, and warns of options that were given and have no effect.
    """
    made = made_of(system, formulation, integrator)
    if made.remark:
        warnings.warn(made.remark, UnusedOptionWarning, stacklevel=3)
    return Scheme(system, *made[:4])


class Made(NamedTuple):
    """What a scheme is made of: options with expressions evaluated, a sentence on those that have no effect, whether no
    parameter moves any, and an integrator that carries nothing."""

    pair: Pair
    options: dict
    of_integrator: dict
    given: frozenset[str]
    remark: str
    fixed: bool
    integrator: Integrator
    key: tuple  # what it follows from, by value


def made_of(system: System, formulation, integrator) -> Made:
    """What the scheme of a formulation and an integrator is made of; remembered where no parameter moves an option."""
    known, key = system.tables.setdefault("schemes", {}), (key_of(formulation), key_of(integrator))
    found = known.get(key)
    if found is None:
        found = _make(system, formulation, integrator)
        if found.fixed:
            remembered(known, key, lambda: found)
    return found


def key_of(element) -> tuple:
    """The type and the options of an element, given or not: equal where these are."""
    return type(element), tuple(vars(element).values()), frozenset(element.model_fields_set)


def _follows(element) -> bool:
    return any(isinstance(getattr(element, name), Expression) for name in type(element).model_fields)


def _make(system: System, formulation, integrator) -> Made:
    key = formulation.type, integrator.type
    if key not in SCHEMES:
        can = [i for f, i in SCHEMES if f == formulation.type]
        offered = sorted({f for f, _ in SCHEMES})
        if not can:
            raise KinegradError(
                f"The formulation {formulation.type!r} is not available; choose from {', '.join(offered)}."
            )
        reason = BY_FORMULATION[formulation.type].why_not or f"{integrator.type!r} is not available with it"
        raise KinegradError(
            f"{formulation.type} with {integrator.type}: {reason}. Use {', '.join(can)} with {formulation.type}."
        )
    given, sentence = [name for name in SCHEMES[key].unused if name in formulation.model_fields_set], ""
    if given:
        names = " and ".join(map(repr, given))
        have, them = ("has", "it") if len(given) == 1 else ("have", "them")
        sentence = f"{names} of {formulation.type} {have} no effect with {integrator.type}; leave {them} out."
    pair, options, of_integrator = SCHEMES[key], numbers(formulation, system), numbers(integrator, system)
    fixed = not (_follows(formulation) or _follows(integrator))
    values = () if fixed else (*options.values(), *of_integrator.values())
    return Made(
        pair,
        options,
        of_integrator,
        frozenset(formulation.model_fields_set),
        sentence,
        fixed,
        pair.integrator(of_integrator),
        (key_of(formulation), key_of(integrator), values),
    )


def solved(system: System, formulation, solver: str) -> System:
    """The system with matrices as a solver wants them: "dense", "fronts", or "auto", which takes fronts where they pay."""
    takes_fronts = BY_FORMULATION[formulation.type].takes_fronts if formulation.type in BY_FORMULATION else False
    if solver not in SOLVERS:
        raise KinegradError(f"{solver!r} is no solver; choose from {', '.join(SOLVERS)}.")
    if solver == AUTO:
        return system.with_solver(FRONTS if takes_fronts and fronts_pay(system) else DENSE)
    if solver == FRONTS and not takes_fronts:
        able = ", ".join(name for name, one in BY_FORMULATION.items() if one.takes_fronts)
        raise KinegradError(
            f"The solver 'fronts' does not serve the formulation {formulation.type!r}, which needs dense ones; take 'auto' or "
            f"'dense', or one of the formulations {able}."
        )
    return system.with_solver(solver)


def takes_only(formulation) -> str | None:
    """The one coordinate set that a formulation takes; None where it takes all."""
    return BY_FORMULATION[formulation.type].only


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
