"""Times of a run: those that are given or that the model says, and the steps between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.even_times import EvenSteps, EvenTimes
from kinegrad.expressions.syntax import Expression
from kinegrad.jumps import arguments, grid_through, jump_times, stops_at
from kinegrad.objectives import asked_times, beyond_steps
from kinegrad.remembered import remembered

FIXED = frozenset((int, float, type(None)))  # types of times that follow nothing
MAX_STEPS = 10**9
MOST_STATES = 10**6  # with error control
SHORT = 2000  # steps of which times and sizes are written out


class Every(float):
    """An output_step at whose multiples steps end, for a run with error control that keeps all states nevertheless."""


class Times(NamedTuple):
    """Times of one run.

    Attributes
    ----------
    ts, hs : arrays, or EvenTimes and EvenSteps
        Ends and sizes of all steps; with error control `ts` has the times that are met, and `hs` is empty.  Without an end
        there are none.
    stride : int
        Steps between two states that are kept; 0: as many as there are from one multiple of `output_step` to the next.
    follows : dict
        Those of t_end, step and output_step that follow from parameters, with their expressions.
    stops : tuple of float
        Times of jumps and of sums, which steps have to meet.
    fixed : bool
        No parameter moves any of them.
    """

    t_end: float
    step: float
    output_step: float | None
    ts: Sequence[float] | None
    hs: Sequence[float]
    stride: int
    follows: dict[str, Expression]
    stops: tuple[float, ...] = ()
    fixed: bool = False

    @classmethod
    def endless(cls, step: float) -> Times:
        """Steps of one size, as many as are asked for."""
        return cls(np.inf, step, None, None, (), 1, {})

    @property
    def key(self) -> tuple:
        """What they follow from, by value."""
        return self.t_end, self.step, self.output_step, self.stride, tuple(self.follows), self.stops


def times_of(system: System, integrator, t_end=None, step=None, output_step=None) -> Times:
    """The times of a run with an integrator of `kinegrad.dynamics`, or without one, from what is given and from the model.

    Where no parameter moves any of them they are remembered, for a run with other values.
    """
    asked = asked_of(system, t_end, step, output_step)
    if arguments(system) or not FIXED.issuperset(map(type, asked)):
        return _times(system, integrator, t_end, step, output_step)
    known = system.tables.setdefault("times_of_runs", {})
    key = asked if integrator is None else (*asked, integrator.adaptive, integrator.explicit, integrator.extended)
    return remembered(known, key, lambda: _times(system, integrator, t_end, step, output_step)._replace(fixed=True))


def asked_of(system: System, t_end=None, step=None, output_step=None) -> tuple:
    """What is asked for, or what the model says, as it is written."""
    section = system.model.simulation
    return (
        section.t_end if t_end is None else t_end,
        section.step if step is None else step,
        section.output_step if output_step is None else output_step,
    )


def _times(system: System, integrator, t_end, step, output_step) -> Times:
    follows = times_that_follow(system, t_end=t_end, step=step, output_step=output_step)
    t_end, step = given_time(system, "t_end", t_end), given_time(system, "step", step)
    keeps_all = isinstance(output_step, Every)
    if output_step is not None or system.model.simulation.output_step is not None:
        output_step = given_time(system, "output_step", output_step)
    jumps, asked = jump_times(system, t_end, step), asked_times(system, t_end)
    if integrator is not None and integrator.adaptive:
        if output_step is not None and t_end / output_step > MOST_STATES:
            raise KinegradError(
                f"An output_step of {output_step:g} s over {t_end:g} s makes {t_end / output_step:.3g} states; with error "
                f"control at most {MOST_STATES:.0e} are allowed."
            )
        ends = [0.0, *stops_at(jumps, t_end, step, integrator, also=asked)]
        stride = 1 if keeps_all or output_step is None else 0
        return Times(t_end, step, output_step, ends, (), stride, follows, (*jumps, *asked))
    ts, hs, stride = steps_of(jumps, t_end, step, output_step, integrator, asked)
    if stride == 1 and len(hs) <= SHORT:
        ts, hs = ts[:], hs[:]
    return Times(t_end, step, output_step, ts, hs, stride, follows, (*jumps, *asked))


def given_time(system: System, name: str, value) -> float:
    """A time from the argument or the model, checked."""
    if value is None:
        value = getattr(system.model.simulation, name)
    if isinstance(value, Expression):
        value = system.parameters.evaluate(value, system.rho)
    if value is None:
        raise KinegradError(
            f"{name} is not given; give --{name.replace('_', '-')} ({name}=... in Python), or write it under simulation "
            "in the model."
        )
    value = float(value)
    if not (np.isfinite(value) and value > 0.0):
        raise KinegradError(f"{name} is {value:g}; it must be a finite number larger than zero.")
    return value


def times_that_follow(system: System, **given: float | None) -> dict[str, Expression]:
    """Those of the times t_end, step and output_step that are not given but follow from parameters, by the model."""
    section = {name: getattr(system.model.simulation, name) for name, value in given.items() if value is None}
    return {name: value for name, value in section.items() if isinstance(value, Expression)}


def steps_of(
    jumps: Sequence[float],
    t_end: float,
    step: float,
    output_step: float | None,
    integrator=None,
    also: Sequence[float] = (),
) -> tuple[Sequence[float], Sequence[float], int]:
    """Times and sizes of steps, and the number of steps between outputs; where there are jumps, or times in `also` between even
    steps, steps end, and all are kept."""
    hs, stride = time_grid(t_end, step, output_step)
    if not jumps and not beyond_steps(also, t_end, step):
        return EvenTimes(step, len(hs), t_end), hs, stride
    every = output_step if output_step is not None and output_step > step * (1.0 + 1e-9) else None
    ts = grid_through(stops_at(jumps, t_end, step, integrator, every, also), step)
    return ts, np.diff(ts), 1


def time_grid(t_end: float, step: float, output_step: float | None) -> tuple[EvenSteps, int]:
    """Step sizes that meet t_end, the last one shortened, and the number of steps between outputs."""
    if step > t_end * (1.0 + 1e-12):
        raise KinegradError(
            f"The step is {step:g} s and the span {t_end:g} s; choose a step that is not larger than t_end."
        )
    if t_end / step > MAX_STEPS:
        raise KinegradError(
            f"A step of {step:g} s over {t_end:g} s makes {t_end / step:.3g} steps; at most 1e9 are allowed."
        )
    hs = EvenSteps.that_meet(t_end, step)
    stride = 1
    if output_step is not None:
        ratio = output_step / step
        if ratio > 0.5 + len(hs):  # the end is kept anyway
            return hs, len(hs)
        stride = round(ratio)
        if stride < 1 or abs(stride * step - output_step) > 1e-9 * output_step:
            raise KinegradError(
                f"output_step is {output_step:g} s, which is not a whole number of steps of {step:g} s."
            )
    return hs, stride
