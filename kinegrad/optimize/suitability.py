"""Which solvers suit a study: what a solver does not take is refused before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinegrad.optimize.description import Constraint, Description, SolverChoice
from kinegrad.optimize.solvers import SOLVERS
from kinegrad.optimize.variables import Variables


def unsuited(choice: SolverChoice, study: Description, variables: Variables | None) -> Iterator[str]:
    """Why a solver does not suit a study, each with others that do."""
    kind = SOLVERS[choice.type]
    if kind.squares and not study.residuals:
        yield f"is for studies with residuals, and this one has none; {_able(lambda one: not one.squares)}"
    if choice.hessian == "exact" and not kind.second:
        yield f"takes no second derivatives; leave hessian: exact out, or {_able(lambda one: one.second)}"
    front = study.front is not None
    limits = [*study.constraints, *(["assembly"] if study.assembly is not None else [])]
    if (limits or front) and not kind.constrained:
        what = f"constraints such as {limits[0]!r}" if limits else "constraints, and a front by limits needs one"
        yield f"takes no {what}; {_able(lambda one: one.constrained)}"
    equations = [name for name, one in study.constraints.items() if _is_equation(one)]
    if kind.constrained and equations and not kind.equations:
        yield f"takes no equations such as {equations[0]!r}; {_able(lambda one: one.constrained and one.equations)}"
    if variables is not None and not kind.bounded:
        bound = np.isfinite(variables.bounds).any(axis=0)
        for label in np.array(variables.labels)[bound][:1]:
            yield f"takes no bounds such as those of {str(label)!r}; {_able(lambda one: one.bounded and not one.squares)}"


def _is_equation(constraint: Constraint) -> bool:
    return constraint.limits[0] == constraint.limits[1]


def _able(suits: Callable) -> str:
    return f"choose from {', '.join(name for name, kind in SOLVERS.items() if suits(kind))}."
