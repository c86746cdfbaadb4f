"""StudyResult: the optimum of a study, what changed on the way to it, and what holds it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.dataframe import import_pandas
from kinegrad.errors import KinegradError
from kinegrad.markup import frame, grid
from kinegrad.optimize.estimates import Estimates
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem
from kinegrad.optimize.search import OPTIMUM, Outcome, begun

if TYPE_CHECKING:
    from kinegrad.model.model import Model
    from kinegrad.motion import Motion
    from kinegrad.optimize.curvature import Curvature


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult:
    """What a search found.

    Attributes
    ----------
    status : str
        "optimum": the first-order conditions hold; "limit": as many designs were tried as allowed; "stalled": the solver
        ended where they do not hold.
    message : str
        What the solver, or who judged it, says.
    variables, start : dict name -> value
        Of the parameters that vary.
    values, values_before : dict name -> value
        What is minimised, and the objectives of the model, at the optimum and with the start of the study, both by the
        simulations of the last stage; ``minimise`` is in its own units.
    constraints : dict name -> value
    active : dict
        Variables at a bound ("lower", "upper"), and constraints at a limit.
    multipliers : dict
        Of active constraints and bounds: derivatives of the minimum by the limit, in their own units.
    evaluations, failures, gradients : int
        Simulated designs (of all cases at once), those that did not work, and passes of derivatives.
    estimates : Estimates or None
        Of a study with residuals: deviations of the variables, their covariance and intervals of confidence.
    history : (k, 3) array
        Number of the evaluation, value and scaled violation; nan where a design did not work.
    """

    plans: tuple[Plan, ...]
    stages: tuple[Outcome, ...]
    log: Path | None = None

    def __post_init__(self):
        put = object.__setattr__
        put(self, "plan", self.plans[-1])
        put(self, "outcome", self.stages[-1])
        put(self, "begun", begun(self.plans, np.array(self.stages[0].start)))
        o, k = self.outcome, self.plan.n_goals
        names = self.plan.variables.named
        put(self, "status", o.status)
        put(self, "message", o.message)
        put(self, "variables", names(np.array(o.values)))
        put(self, "start", names(self.begun))
        put(self, "values", {"minimise": max(o.goals[:k]), **o.objectives})
        put(self, "values_before", {"minimise": max(o.goals_before[:k]), **o.objectives_before})
        put(self, "constraints", dict(zip(self.plan.constraints, o.goals[k:], strict=True)))
        put(self, "active", dict(o.active))
        put(self, "evaluations", sum(stage.evaluations for stage in self.stages))
        put(self, "failures", sum(stage.failures for stage in self.stages))
        put(self, "gradients", sum(stage.gradients for stage in self.stages))
        put(self, "seconds", sum(stage.seconds for stage in self.stages))

    @property
    def optimal(self) -> bool:
        """Whether every stage ended at an optimum."""
        return all(stage.status == OPTIMUM for stage in self.stages)

    @property
    def multipliers(self) -> dict[str, float]:
        """Derivatives of the minimum by limits, by the names of constraints and of variables at a bound."""
        o = self.outcome
        found = dict(zip(self.plan.constraints, o.multipliers, strict=True))
        found = {name: value for name, value in found.items() if name in o.active}
        bounds = dict(zip(self.plan.variables.labels, o.bound_multipliers, strict=True))
        return found | {label: value for label, value in bounds.items() if label in o.active}

    @property
    def estimates(self) -> Estimates | None:
        """How well the data determine the variables; None without residuals."""
        return None if self.outcome.fit is None else Estimates(**self.outcome.fit)

    @cached_property
    def defects(self) -> list[str]:
        """Of a motion by drivers: singular positions on its way, and data passed in another order than at the start."""
        from kinegrad.optimize.synthesis import defects

        return defects(self.plan, self.begun, np.array(self.outcome.values), self.outcome.positions)

    @property
    def remarks(self) -> list[str]:
        """Sentences about variables that change nothing, and aims that no variable changes."""
        return list(self.outcome.remarks)

    @property
    def sensitivity(self) -> dict[str, float]:
        """Derivatives of what is minimised by the variables, at the optimum."""
        return dict(zip(self.plan.variables.labels, self.outcome.gradient, strict=True))

    @property
    def history(self) -> np.ndarray:
        """All stages, one after the other."""
        rows, before = [], 0
        for stage in self.stages:
            rows += [(before + number, value, violation) for number, value, violation, _ in stage.history]
            before += stage.evaluations
        return np.array(rows, float).reshape(-1, 3)

    @property
    def simulations_saved(self) -> int:
        """Simulations that differences would have taken in the place of gradients, but for those that were done."""
        pairs = zip(self.plans, self.stages, strict=True)
        return sum(stage.gradients * (len(plan.variables) + 1) for plan, stage in pairs) - self.evaluations

    @property
    def ended(self) -> Plan:
        """The plan from the optimum, on its branch."""
        return self.plan.started_at(np.array(self.outcome.values), self.outcome.positions)

    @cached_property
    def model(self) -> Model:
        """The model at the optimum, on its branch."""
        from kinegrad.optimize.poses import on_branch

        return on_branch(self.plan.model.with_values(**self.variables), self.ended)

    def check(self):
        """The gradient at the optimum beside differences of whole runs (`GradientCheck`), for each case."""
        from kinegrad.optimize.certificate import certificate

        return certificate(self)

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives along the directions that limits leave free: whether the optimum is a minimum.

        Computed when it is asked for: two designs with their gradients for each direction.
        """
        from kinegrad.optimize.curvature import curvature

        return curvature(self.ended, np.array(self.outcome.scales))

    def motions(self, case: str | None = None) -> tuple[Motion, Motion]:
        """The motions with the start of the study and with its optimum, of a case (the first by default).

        Those of an equilibrium have one state.
        """
        names = [one.name for one in self.plan.cases]
        case = names[0] if case is None else case
        if case not in names:
            raise KinegradError(f"There is no case {case!r}; cases: {', '.join(filter(None, names)) or 'none'}.")
        plans = (self.plan.started_at(self.begun), self.ended)
        found = [StudyProblem(plan).motion(plan.variables.start, case) for plan in plans]
        return tuple(one.motion for one in found) if self.plan.analysis == "equilibrium" else tuple(found)

    def to_html(self, path: str | Path, *, case: str | None = None, check: bool | Mapping = False, **options) -> Path:
        """Where a page was written with the motion of the optimum and, paler, that of the start, by one clock, and its table.

        Parameters
        ----------
        check : bool or mapping
            Whether the table tells what `check()` and `curvature` find; or what `check()` gave.
        options
            Those of `Motion.to_html`.
        """
        from kinegrad.optimize.report import report
        from kinegrad.page.html import check_suffix, to_html

        path = check_suffix(path)
        before, after = self.motions(case)
        checks = check if isinstance(check, Mapping) else self.check() if check else {}
        tables = report(self, checks, self.curvature if check else None)
        shown = case or self.plan.cases[0].name
        label = f"start, case {shown}" if shown else "start"
        return to_html(after, path, beside={label: before}, report=tables, **options)

    def to_dict(self) -> dict:
        """What `kinegrad optimize --json` prints."""
        return {
            "status": self.status, "message": self.message, "solver": self.outcome.solver, "variables": self.variables,
            "start": self.start, "values": self.values, "values_before": self.values_before,
            "constraints": self.constraints, "active": self.active, "multipliers": self.multipliers,
            "sensitivity": self.sensitivity,
            "residual": self.outcome.residual, "violation": self.outcome.violation, "evaluations": self.evaluations,
            "failures": self.failures, "gradients": self.gradients, "seconds": self.seconds, "estimates": self.outcome.fit,
            "defects": self.defects, "remarks": self.remarks, "log": None if self.log is None else str(self.log),
        }  # fmt: skip

    def to_dataframe(self):
        """A pandas DataFrame: a row for each variable with start, optimum, bounds, and what is active."""
        variables, multipliers = self.plan.variables, self.multipliers
        columns = {
            "start": self.begun, "optimum": self.outcome.values, "lower": variables.lower,
            "upper": variables.upper, "active": [self.active.get(label, "") for label in variables.labels],
            "multiplier": [multipliers.get(label, 0.0) for label in variables.labels],
            "sensitivity": self.outcome.gradient,
        }  # fmt: skip
        return import_pandas().DataFrame(columns, index=list(variables.labels))

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure: value and violation by evaluation; also written to `path` when one is given."""
        from kinegrad.plots.convergence import plot_convergence

        title = f"{self.plan.title or 'Study'}: {self.outcome.solver}, {self.status}"
        begins = np.cumsum([stage.evaluations for stage in self.stages[:-1]]) + 1
        return plot_convergence(title, self.history, bool(self.plan.constraints), path, begins)

    def rows(self) -> list[Sequence[str]]:
        """Texts of a table: name, start, optimum, change, what holds it and its multiplier."""
        multipliers, rows = self.multipliers, []
        for label, before, after in zip(self.plan.variables.labels, self.begun, self.outcome.values, strict=True):
            rows.append(
                _row(label, before, after, self.active.get(label, ""), multipliers.get(label), self.sensitivity[label])
            )
        k = self.plan.n_goals
        for name, before, after in zip(
            self.plan.constraints, self.outcome.goals_before[k:], self.outcome.goals[k:], strict=True
        ):
            rows.append(_row(name, before, after, self.active.get(name, ""), multipliers.get(name)))
        for name, after in self.values.items():
            rows.append(_row(name, self.values_before[name], after, "", None))
        return rows

    def __repr__(self) -> str:
        return (
            f"<StudyResult of {self.plan.title or 'a study'!r}: {self.status}, {self.values['minimise']:.6g} after "
            f"{self.evaluations} evaluations>"
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return frame(repr(self)[1:-1], grid(HEAD, self.rows()))


HEAD = ("", "start", "optimum", "change", "held", "multiplier", "sensitivity")


def _row(
    name: str, before: float, after: float, held: str, multiplier: float | None, slope: float | None = None
) -> Sequence[str]:
    shown = ["" if x is None else f"{x:.4g}" for x in (multiplier, slope)]
    return name, f"{before:.6g}", f"{after:.6g}", f"{after - before:+.3g}", held, *shown
