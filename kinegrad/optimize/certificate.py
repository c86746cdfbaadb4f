"""The gradient at an optimum beside differences of whole runs."""

from __future__ import annotations

from kinegrad.errors import KinegradError
from kinegrad.optimize.analyses import cheaper
from kinegrad.optimize.problem import StudyProblem
from kinegrad.sensitivity.differences import GradientCheck
from kinegrad.sensitivity.gradient import gradient


def certificate(result) -> dict[str, GradientCheck]:
    """A check for each case, by its name (empty without cases)."""
    problem = StudyProblem(result.ended)
    found = problem.evaluate(problem.start)
    if not found.ok:
        raise KinegradError(f"The design does not work: {found.problem}")
    labels, checks = problem.variables.labels, {}
    for runs, _ in problem._cases:
        method = cheaper(len(labels), len(runs.system.objectives))
        run = found.found[runs.case.name].result
        if result.plan.analysis == "equilibrium":
            at = run.gradient(wrt=labels, method="direct" if method == "direct" else "adjoint")
        else:
            at = gradient(run, wrt=labels, method=method, tighten=False)
        checks[runs.case.name] = at.check()
    return checks
