"""The model of an optimum, with poses from which it is assembled on the branch that was found."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from kinegrad.errors import KinegradError, ModelWarning
from kinegrad.model.model import Model
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem

SAME = 1e-6  # coordinates that are one, beside their size or their unit


def on_branch(model: Model, ended: Plan) -> Model:
    """The model, or where its poses lead elsewhere one with those of the optimum at its start, in the first case."""
    case = ended.cases[0].name
    if not ended.positions.get(case) or ended.analysis == "equilibrium":
        return model
    found = StudyProblem(ended).motion(ended.variables.start, case)
    try:
        alone = StudyProblem(replace(ended, positions={})).motion(ended.variables.start, case)
        unit = found.system.workspace()["unit"]
        if np.allclose(alone.q[0] / unit, found.q[0] / unit, rtol=SAME, atol=SAME):
            return model
    except KinegradError:
        pass
    posed = _with_poses(model, found)
    if posed.problems():
        warnings.warn(
            "The model with the best values is assembled on another branch than in the study; give its bodies poses near that.",
            ModelWarning, stacklevel=3,
        )  # fmt: skip
        return model
    return posed


def _with_poses(model: Model, motion) -> Model:
    """The model with its bodies where a motion begins."""
    from kinegrad.page.replay import frames

    there, posed = frames(motion, [0]), model.copy()
    for k, (name, body) in enumerate(model.bodies.items()):
        axes = there.axes[0, k]
        pose = {"origin": there.origin[0, k].tolist(), "x_axis": axes[:, 0].tolist(), "z_axis": axes[:, 2].tolist()}
        posed.bodies[name] = body.with_(pose=pose)
    return posed
