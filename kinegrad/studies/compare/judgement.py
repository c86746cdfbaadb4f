"""Which combinations agree: the rule, and the one with which all are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kinegrad.sensitivity.methods import METHODS
from kinegrad.studies.compare.quantities import Quantity
from kinegrad.studies.compare.trials import Trial

FACTOR = 3.0  # two agree if they differ by no more than this times their errors, and what counts as rounding
SAME = 1e-8  # relative difference of the gradients that two methods may give of one run


@dataclass(frozen=True)
class Judgement:
    """The verdict on all trials.

    Attributes
    ----------
    distance : how far apart two values are
    errors, differences : lists, None for trials without values
    verdicts : True, False, or None for trials that were refused
    reference : number of the trial with which all are compared; None where all have failed
    size : what the reference says errors are to be compared with
    apart : how far the gradients of trials are from those by another method of the same runs, where that is too far
    """

    distance: Callable
    errors: list[float | None]
    differences: list[float | None]
    verdicts: list[bool | None]
    reference: int | None
    size: float
    apart: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, trials: Sequence[Trial], quantity: Quantity) -> Judgement:
        """Each trial beside the reference: that with the smallest error of those with which more than half agree, lest one that
        is wrong and does not know it be the measure of all; the smallest error where there is none such."""
        there = [k for k, trial in enumerate(trials) if trial.look is not None]
        errors: list[float | None] = [None] * len(trials)
        differences, verdicts = list(errors), [None if trial.refused else False for trial in trials]
        if not there:
            return cls(lambda x, y: 0.0, errors, differences, verdicts, None, 0.0)
        values = {k: trials[k].look.values for k in there}
        distance = quantity.distance([trials[k].look for k in there])
        for k in there:
            errors[k] = trials[k].error(distance)

        def beside(other: int) -> list[tuple[float, bool]]:
            """The differences of all from one, and whether errors explain them."""
            found = [distance(values[k], values[other]) for k in there]
            return [(d, agrees(d, errors[k], errors[other], quantity)) for k, d in zip(there, found, strict=True)]

        order = sorted(there, key=lambda k: errors[k])
        followed = (k for k in order if 2 * sum(agree for _, agree in beside(k)) > len(there))
        reference = next(followed, order[0])
        for k, (difference, verdict) in zip(there, beside(reference), strict=True):
            differences[k], verdicts[k] = difference, verdict
        apart = _other_methods(trials, there, distance)
        for k in apart:
            verdicts[k] = False
        return cls(distance, errors, differences, verdicts, reference, trials[reference].look.size, apart)


def agrees(difference: float, error: float, other: float, quantity: Quantity) -> bool:
    """Whether errors explain a difference."""
    return difference <= FACTOR * (error + other) + quantity.floor


def _other_methods(trials: Sequence[Trial], there: Sequence[int], distance: Callable) -> dict[int, float]:
    """How far gradients are from those by the first method of the same combination, where that is more than rounding."""
    first: dict[tuple, int] = {}
    apart = {}
    for k in there:
        about = trials[k].way.about
        if about["method"] and not METHODS[about["method"]].exact:
            continue  # it converges to the others, and is not the derivative of the run itself
        other = first.setdefault(tuple(value for name, value in about.items() if name != "method"), k)
        difference = distance(trials[k].look.values, trials[other].look.values)
        if difference > SAME:
            apart[k] = difference
    return apart
