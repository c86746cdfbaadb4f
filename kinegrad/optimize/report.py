"""The report of an optimum: tables of variables, constraints and objectives, and what speaks for it, as texts for a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.model.signals import unit_of
from kinegrad.model.units import NAMES, ONE, SECOND

if TYPE_CHECKING:
    from kinegrad.model.model import Model
    from kinegrad.optimize.curvature import Curvature
    from kinegrad.optimize.result import StudyResult
    from kinegrad.sensitivity.differences import GradientCheck

FACTOR = re.compile(r"(?<!\*\*)(?<![\w.])\d")  # a number that is no power
LIMITS = ("from", "to")  # columns of limits
HELD = {
    "": "",
    "lower": "from",
    "at_least": "from",
    "equals": "from",
    "upper": "to",
    "at_most": "to",
}  # by which of them


def report(
    result: StudyResult, checks: Mapping[str, GradientCheck] | None = None, bent: Curvature | None = None
) -> dict:
    """The document of a report, ready for JSON: every cell is a text.

    Parameters
    ----------
    checks : mapping of cases to checks, optional
        The gradient there beside differences of whole runs, as `StudyResult.check` gives it.
    bent : Curvature, optional
    """
    return {
        "status": result.status,
        "good": result.optimal,
        "message": result.message,
        "tables": [table for table in (_values(result), _constraints(result), _variables(result)) if table["rows"]],
        "notes": [*_estimates(result), *result.defects, *result.remarks, *_notes(result, checks or {}, bent)],
    }


def _variables(result) -> dict:
    variables, o, multipliers = result.plan.variables, result.outcome, result.multipliers
    rows = []
    for k, label in enumerate(variables.labels):
        cells = [
            label,
            _six(result.begun[k]),
            _six(o.values[k]),
            *map(_limit, (variables.lower[k], variables.upper[k])),
        ]
        cells += [_three(multipliers.get(label)), _three(o.gradient[k])]
        rows.append({"cells": cells, "held": HELD[result.active.get(label, "")]})
    return {"head": ["Variables", "start", "optimum", *LIMITS, "multiplier", "sensitivity"], "rows": rows}


def _constraints(result) -> dict:
    o, k, multipliers = result.outcome, result.plan.n_goals, result.multipliers
    rows = []
    for (name, one), before, after in zip(
        result.plan.constraints.items(), o.goals_before[k:], o.goals[k:], strict=True
    ):
        unit = units(result.plan.model).get(one.value.text, "")
        limits = [f"= {one.equals:.6g}", ""] if one.equals is not None else list(map(_limit, one.limits))
        cells = [_with_unit(name, unit), _six(before), _six(after), *limits, _three(multipliers.get(name))]
        rows.append({"cells": cells, "held": HELD[result.active.get(name, "")]})
    return {"head": ["Constraints", "start", "optimum", *LIMITS, "multiplier"], "rows": rows}


def _values(result) -> dict:
    known, rows = units(result.plan.model), []
    for name, after in result.values.items():
        before, unit = result.values_before[name], known.get(name.partition("@")[0], "")
        if name == "minimise" and len(result.plan.goals) == 1:
            unit = known.get(result.plan.goals[0].text.partition("@")[0], "")
        cells = [_with_unit(name, unit), _six(before), _six(after), f"{after - before:+.3g}"]
        rows.append({"cells": cells, "held": ""})
    return {"head": ["Values", "start", "optimum", "change"], "rows": rows}


def units(model: Model) -> dict[str, str]:
    """Units of the objectives of a model that are sure: they have a name, and no number may stand for another unit."""
    found = {}
    for name, objective in model.objectives.items():
        unit = None if FACTOR.search(str(objective.expression)) else unit_of(model, objective.expression)
        unit = unit * SECOND if unit is not None and objective.kind == "integral" else unit
        if unit is not None and unit.plain in NAMES and unit.plain != ONE:
            found[name] = str(unit)
    return found


def _estimates(result) -> list[str]:
    """What data say of the variables."""
    fit = result.estimates
    if fit is None:
        return []
    said = f"{fit.count} data, rms of the residuals {fit.rms:.4g}."
    if fit.undetermined:
        return [said, f"The data do not determine {', '.join(fit.undetermined)}."]
    pairs = zip(fit.labels, fit.values, fit.deviations, strict=True)
    return [said, "Estimates: " + ", ".join(f"{label} = {value:.6g} ± {d:.2g}" for label, value, d in pairs) + "."]


def _notes(result, checks: Mapping, bent) -> list[str]:
    o = result.outcome
    notes = [
        f"{o.solver}: {result.evaluations} evaluations, {result.failures} of which failed, {result.gradients} gradients, "
        f"{result.seconds:.3g} s.",
        f"Gradient left {o.residual:.1e}, violation {o.violation:.1e} (scaled).",
    ]
    return [*notes, *told_of(checks), *([] if bent is None else [str(bent)])]


def told_of(checks: Mapping[str, GradientCheck]) -> list[str]:
    """A sentence for each case: whether the gradient is that of differences of whole runs."""
    told = []
    for name, one in checks.items():
        of_case = f" (case {name})" if name else ""
        if one.good:
            told.append(f"The gradient there agrees with differences of whole runs{of_case}.")
        elif one.wrong:
            pairs = ", ".join(f"{objective} by {label}" for objective, label in one.wrong[:4])
            told.append(f"The gradient there differs from differences of whole runs{of_case}: {pairs}.")
        else:
            lacking = ", ".join(one.missing[:4])
            told.append(f"The gradient there could not be compared{of_case}: next to {lacking} the model does not run.")
    return told


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _six(x: float) -> str:
    return f"{x:.6g}"


def _three(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}"


def _limit(x: float) -> str:
    return f"{x:.6g}" if np.isfinite(x) else ""
