"""One combination at several steps: what it gave, how well that is known, and what it cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.schemes import numbers
from kinegrad.errors import KinegradError, SimulationError, UnusedOptionWarning
from kinegrad.expressions.syntax import Expression
from kinegrad.motion import Motion
from kinegrad.simulate import simulate
from kinegrad.studies.compare.quantities import Look, Quantity
from kinegrad.studies.compare.ways import Way
from kinegrad.times import Every

KEPT = 2000  # states of a run, at which energies and constraints are looked at


@dataclass(frozen=True)
class Trial:
    """A combination before it is compared: its runs at the step and at half of it, with twice the penalty if it has one, and
    with error control at a tolerance that is smaller once more.

    `problem` tells why they are not there: `refused` when the combination does not apply to the model, else it failed at the
    time `stopped`.
    """

    way: Way
    look: Look | None = None
    coarse: np.ndarray | None = None
    stiffer: np.ndarray | None = None
    finer: np.ndarray | None = None
    order: int = 0
    cost: dict = field(default_factory=dict)
    problem: str | None = None
    refused: bool = False
    stopped: float | None = None

    def error(self, distance: Callable) -> float:
        """Of the run at half the step: what the whole step shows is left, and what a penalty leaves.

        The latter is in proportion to the inverse of the penalty, so twice the penalty shows half of it. Steps under error
        control do not simply become half as long, and matrix-r changes its coordinates at other times, so that errors may fall
        less than the order says: there a finer run shows the error itself.
        """
        if self.finer is None:
            error = distance(self.look.values, self.coarse) / (2.0**self.order - 1.0)
        else:
            error = distance(self.look.values, self.finer) / (1.0 - 0.5**self.order)
        return error if self.stiffer is None else error + 2.0 * distance(self.look.values, self.stiffer)


@dataclass(frozen=True)
class Runs:
    """Runs of combinations with the same times, start and solver.

    Attributes
    ----------
    start : what all start from; where it was found in one set it is converted
    """

    quantity: Quantity
    step: float
    t_end: float
    start: object = None
    solver: str | None = None

    def trial(self, way: Way) -> Trial:
        """The combination at the step and at half of it."""
        try:
            if not isinstance(way.system, System):
                raise way.system
            coarse, look = self.run(way, 0), self.run(way, 1)
            stiffer = None
            if "penalty" in type(way.formulation).model_fields:
                stiffer = self.run(way, 1, penalty=2.0).values
        except KinegradError as error:
            failed = isinstance(error, SimulationError)
            stopped = float(error.motion.ts[-1]) if failed and error.motion is not None else None
            return Trial(way, problem=error.problems[0].sentence, refused=not failed, stopped=stopped)
        if not all(np.isfinite(x).all() for x in (coarse.values, look.values, *([] if stiffer is None else [stiffer]))):
            return Trial(way, problem="The run came to its end with numbers that are not finite.", stopped=self.t_end)
        finer = self._finer(way)
        heard = tuple(dict.fromkeys((*coarse.remarks, *look.remarks)))
        kept = replace(look, motion=None, remarks=heard)  # states of all combinations would fill the memory
        return Trial(way, kept, coarse.values, stiffer, finer, int(way.integrator.order), _cost(look))

    def _finer(self, way: Way) -> np.ndarray | None:
        """What a tolerance gives that is smaller once more; None without error control, or if it asks for too much."""
        if not way.pair.adaptive:
            return None
        try:
            values = self.run(way, 2).values
        except KinegradError:
            return None
        return values if np.isfinite(values).all() else None

    def run(self, way: Way, halvings: int, t_end: float | None = None, **factors: float) -> Look:
        """One run with the step halved so many times, and options of the formulation multiplied by factors."""
        formulation = _valued(way.formulation, way.system)
        if factors:
            formulation = formulation.with_(**{name: x * getattr(formulation, name) for name, x in factors.items()})
        return self.run_with(way, formulation, halvings, t_end)

    def run_with(self, way: Way, formulation, halvings: int, t_end: float | None = None) -> Look:
        """The same with this formulation in the place of that of the combination."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            motion = self._simulate(way, formulation, halvings, self.t_end if t_end is None else t_end, KEPT)
            look = self.quantity.look(motion, way.method)
        said = [w for w in heard if issubclass(w.category, UserWarning) and w.category is not UnusedOptionWarning]
        return replace(look, remarks=tuple(" ".join(str(warning.message).split()) for warning in said))

    def motion(self, way: Way, **begin) -> Motion:
        """The run at half the step with more of its states, and another start if one is given."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._simulate(way, _valued(way.formulation, way.system), 1, self.t_end, 10 * KEPT, **begin)

    def _simulate(self, way: Way, formulation, halvings: int, t_end: float, states: int, **begin) -> Motion:
        """With error control the tolerance is divided by 2 to the power of the order in place of a halving of the step."""
        integrator, step = _valued(way.integrator, way.system), self.step
        if way.pair is not None and way.pair.adaptive:
            finer = integrator.tolerance / 2.0 ** (integrator.order * halvings)
            integrator, kept = integrator.with_(tolerance=finer), Every(t_end)  # a shorter one would shorten steps
        else:
            step /= 2.0**halvings
            kept = step * max(1, int(np.ceil(t_end / step / states)))
        return simulate(
            way.system, formulation, integrator, step=step, t_end=t_end, output_step=kept, solver=self.solver,
            **{"start": self.start} | begin,
        )  # fmt: skip


def _cost(look: Look) -> dict:
    """What a run cost, by step, and how well it keeps energy and constraints."""
    motion, steps = look.motion, max(1, len(look.motion.hs))
    found = {
        "energy_drift": motion.energies.drift,
        "energy_drift_percent": 100.0 * motion.energies.drift_part,
        "max_constraint": float(motion.constraint_violation[:, 0].max()),
        "iterations": float(motion.iterations.sum()) / steps,
        "us_per_step": 1e6 * look.cpu_s / steps,
    }
    return {name: x if np.isfinite(x) else None for name, x in found.items()} | {"steps": steps}


def _valued(element, system: System):
    """A formulation or integrator with numbers in the place of expressions in parameters."""
    given = {name: x for name, x in numbers(element, system).items() if isinstance(getattr(element, name), Expression)}
    return element.with_(**given) if given else element
