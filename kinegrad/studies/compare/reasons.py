"""Why a combination fails or disagrees: found by runs that change one thing, not by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kinematics.singular import MANY
from kinegrad.sensitivity.passages import Watch
from kinegrad.starts import FromState, start_of
from kinegrad.studies.compare.judgement import Judgement, agrees
from kinegrad.studies.compare.quantities import Points
from kinegrad.studies.compare.trials import Runs, Trial

MUCH = 1e4  # growth of a small change of the start from which on a motion counts as sensitive to it
NUDGE = 1e-8  # that change, of what is changed or of 1
ROUNDING = 1e-14
LARGE = 1e-2  # of the size of the motion: errors beyond which their growth is no longer in proportion
NEAR = 0.05  # part of the time until a singular position before or after which a run that stops, stops there
HELD = 10.0  # factor of the frequency that stabilises constraints, or this frequency [rad/s] where it is 0
STIFFER = (1e2, 1e4, 1e6)  # factors of the penalty
SHARE = 0.03  # of the difference: constraints that are violated by more have a part in it
FASTER = 1.5  # by so much more than its order do errors fall where a step was beyond the limit of stability
FURTHER = (2, 3)  # halvings that are tried where a run disagrees
SHORTER = (2, 4, 6)  # halvings that are tried where a run failed


class Reason(NamedTuple):
    """A word for the cause, and the evidence in a sentence."""

    cause: str
    sentence: str


@dataclass(frozen=True)
class Reasons:
    """The reasons of trials that fail or disagree."""

    runs: Runs
    trials: Sequence[Trial]
    judgement: Judgement

    def of(self, k: int) -> Reason:
        """Why trial k fails, or disagrees with the reference."""
        trial = self.trials[k]
        if trial.look is None:
            return self._failure(trial)
        if k in self.judgement.apart:
            return Reason(
                "methods",
                f"the two methods of differentiation differ by {self.judgement.apart[k]:.1e} on the same run.",
            )
        for look in (self._lost_meaning, self._penalty, self._drift, self._branch, self._growth, self._step):
            found = look(k, trial)
            if found:
                return found
        return Reason(
            "unknown",
            "neither a shorter step nor a harder hold on the constraints brings it nearer, and the motion passes no singular "
            "position and is not sensitive to its start; one of the two is wrong for this model.",
        )

    # --- runs that failed ---

    def _failure(self, trial: Trial) -> Reason:
        """Constraints that are held, or shorter steps, up to a little after the time at which it stopped."""
        pair = trial.way.pair
        if trial.stopped is None:
            return Reason("failed", "there is no motion at all.")
        until = min(self.runs.t_end, 1.25 * trial.stopped + 10.0 * self.runs.step)
        for factor, _ in self._stiffer(trial, until):
            return Reason(
                "penalty", f"with {factor:g} times the penalty it passes that time: the constraints give way."
            )
        held = self._held(trial, until)
        if held is not None:
            return Reason(
                "drift", f"with a frequency of {held[0]:g} rad/s, which holds the constraints, it passes that time."
            )
        for halvings in SHORTER if not pair.adaptive else ():
            try:
                self.runs.run(trial.way, halvings, t_end=until)
            except KinegradError:
                continue
            step = f"with steps of {self.runs.step / 2.0**halvings:g} s it passes that time"
            if not pair.integrator.explicit:
                return Reason("step", f"{step}: the step is too long.")
            return Reason("stiff", f"{step}: the step is beyond the limit of stability of an explicit scheme.")
        no_help = "shorter steps do not pass that time either"
        if self._is_singular(trial):
            return Reason("singular", f"the constraints lose rank there; {no_help}.")
        return Reason("failed", f"{no_help}.")

    def _is_singular(self, trial: Trial) -> bool:
        """Whether the motion passes a singular position where the trial stopped, as it says or as the reference shows."""
        if "reaches a singular position" in trial.problem:
            return True
        passed = None if self.judgement.reference is None else self._passed
        return passed is not None and abs(passed - trial.stopped) <= NEAR * passed + 2.0 * self.runs.step

    # --- runs that disagree ---

    def _agrees(self, values: np.ndarray, error: float) -> bool:
        """Whether other values of a trial, with such an error, are those of the reference."""
        reference = self.judgement.reference
        difference = self.judgement.distance(values, self.trials[reference].look.values)
        return agrees(difference, error, self.judgement.errors[reference], self.runs.quantity)

    def _try(self, trial: Trial, halvings: int, t_end: float | None = None, **factors: float) -> np.ndarray | None:
        """Values of a run with something changed; None where it fails."""
        try:
            return self.runs.run(trial.way, halvings, t_end, **factors).values
        except KinegradError:
            return None

    def _lost_meaning(self, k: int, trial: Trial) -> Reason | None:
        """Derivatives beside which a parameter has none."""
        lost = sorted(trial.look.without_meaning)
        if lost:
            return Reason(
                "singular", f"the motion passes a singular position, and derivatives by {', '.join(lost)} mean nothing."
            )
        return None

    def _penalty(self, k: int, trial: Trial) -> Reason | None:
        """What a penalty leaves is in proportion to its inverse; where it is not, its part of the error is wrong."""
        for factor, values in self._stiffer(trial):
            if self._agrees(values, trial.error(self.judgement.distance)):
                return Reason("penalty", f"with {factor:g} times the penalty it agrees: the constraints give way.")
        return None

    def _stiffer(self, trial: Trial, t_end: float | None = None) -> Iterator[tuple[float, np.ndarray]]:
        """Values with penalties that are far larger, and by how much; none where constraints are held otherwise."""
        for factor in STIFFER if trial.way.formulation.type == "penalty" else ():
            values = self._try(trial, 1, t_end, penalty=factor)
            if values is not None:
                yield factor, values

    def _drift(self, k: int, trial: Trial) -> Reason | None:
        """Constraints that are held harder tell what their drift has done."""
        violation = trial.cost.get("max_constraint")
        if violation is None or (self.runs.quantity.unit and violation < SHARE * self.judgement.differences[k]):
            return None
        held = self._held(trial)
        if held is None:
            return None
        frequency, finer = held
        if not self._agrees(finer, self.judgement.errors[k]):
            return None
        return Reason(
            "drift",
            f"its constraints drift, by up to {violation:.1e}; with a frequency of {frequency:g} rad/s, which holds them, it "
            "agrees.",
        )

    def _held(self, trial: Trial, t_end: float | None = None) -> tuple[float, np.ndarray] | None:
        """A higher frequency of stabilisation, and the values of a run with it; None where there is none or it fails."""
        way = trial.way
        if "frequency" not in type(way.formulation).model_fields or way.system.m == 0:
            return None
        given = way.formulation.frequency
        frequency = HELD * given if isinstance(given, float) and given > 0.0 else HELD  # an expression counts as 0
        try:
            changed = way.formulation.with_(frequency=frequency)
            return frequency, self.runs.run_with(way, changed, 1, t_end).values
        except KinegradError:
            return None

    def _branch(self, k: int, trial: Trial) -> Reason | None:
        """A singular position on the way, after which a mechanism has several ways to go on."""
        if self._passed is None or self.judgement.differences[k] < LARGE * self.judgement.size:
            return None
        return Reason(
            "singular",
            f"the motion passes a singular position at t = {self._passed:.4g} s, after which it can go on in several ways.",
        )

    def _growth(self, k: int, trial: Trial) -> Reason | None:
        """A motion that is sensitive to its start makes every error grow."""
        growth = self._sensitivity
        spread = max(self.judgement.distance(trial.look.values, trial.coarse), self.judgement.differences[k])
        if growth is None or growth < MUCH:
            return None
        if spread < LARGE * self.judgement.size and ROUNDING * growth < spread:
            return None
        return Reason(
            "chaotic",
            f"a small change of the start is {growth:.0e} times as large at the end: errors grow until they have the size of "
            "the motion, and no two runs can agree for so long; compare a shorter time.",
        )

    def _step(self, k: int, trial: Trial) -> Reason | None:
        """Further runs, at a quarter and an eighth of the step, tell whether errors fall as the order of the scheme says."""
        distance, pair = self.judgement.distance, trial.way.pair
        reference = self.trials[self.judgement.reference].look.values
        runs = [trial.coarse, trial.look.values]
        for halvings in FURTHER:
            finer = self._try(trial, halvings)
            if finer is None:
                return None
            runs.append(finer)
            first, second = distance(runs[-3], runs[-2]), distance(runs[-2], runs[-1])
            error = second / (2.0**trial.order - 1.0)
            if trial.stiffer is not None:
                error += 2.0 * distance(trial.look.values, trial.stiffer)
            if self._agrees(finer, error):
                break
        nearer = distance(trial.look.values, reference) / max(distance(runs[-1], reference), 1e-300)
        if not self._agrees(finer, error) and nearer < 2.0 ** (len(runs) - 2):
            return None
        if pair.adaptive:
            smaller = 2.0 ** (trial.order * halvings)
            return Reason("step", f"with a tolerance {smaller:.0e} times smaller it is {nearer:.1g} times nearer.")
        seen = float(np.log2(max(first, 1e-300) / max(second, 1e-300)))
        fall = f"with steps of {self.runs.step / 2.0**halvings:g} s it is {nearer:.1g} times nearer, and its errors fall by "
        fall += f"2^{seen:.1f} a halving where 2^{trial.order} is its order"
        if pair.integrator.explicit and seen > trial.order + FASTER:
            return Reason("stiff", f"{fall}: the step is at the limit of stability of an explicit scheme.")
        return Reason("step", f"{fall}: the step is too long to tell the error.")

    # --- of the motion, found once ---

    @cached_property
    def _passed(self) -> float | None:
        """The time of the first singular position of the reference motion; None if it passes none."""
        way = self.trials[self.judgement.reference].way
        if way.system.m == 0 or way.system.n > MANY:
            return None
        motion = self.runs.motion(way)
        watch = Watch(motion)
        watch.look(motion)
        return min((t for t, *_ in watch.changes), default=None)

    @cached_property
    def _sensitivity(self) -> float | None:
        """By how much a small change of the start has grown at the end of the reference motion; None where nothing is free."""
        way = self.trials[self.judgement.reference].way
        points = Points(way.system)
        motion = self.runs.motion(way)
        begin, guess = start_of(way.system, motion.state(0.0))
        if not len(begin.position):
            return None
        change = [NUDGE * np.maximum(1.0, np.abs(x)) for x in (begin.position, begin.velocity)]
        start = FromState(begin.position + change[0], begin.velocity + change[1])
        try:
            nudged = self.runs.motion(way, start=start, guess=guess)
        except KinegradError:
            return None
        first, last = (x - y for x, y in zip(points.ends(nudged), points.ends(motion), strict=True))
        return float(np.linalg.norm(last, axis=1).max() / max(np.linalg.norm(first, axis=1).max(), NUDGE))
