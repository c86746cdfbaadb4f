"""simulate: a system through time, with a formulation and an integrator."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.schemes import formulation_of, integrator_of, solved
from kinegrad.errors import UnusedOptionWarning
from kinegrad.motion import Motion
from kinegrad.program import CALLER, Program, program_of
from kinegrad.quiet import without_warnings
from kinegrad.starts import Start, start_of


@without_warnings
def simulate(
    system: System,
    formulation=None,
    integrator=None,
    *,
    t_end: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    progress: Callable[[float], None] | None = None,
    throw: bool = True,
    solver: str | None = None,
    s: np.ndarray | None = None,
    guess: np.ndarray | None = None,
    start=None,
) -> Motion:
    """The motion of `system` from 0 to `t_end`.

    Parameters
    ----------
    formulation, integrator : objects such as ``kg.ALI3P(penalty=1e9)``, ``kg.Newmark()``, or their names, optional
        The model's simulation section says what they are when they are not given; likewise the times.
    step : float, optional
        Time step [s]; the last one is shortened to meet t_end.  With error control, the first one tried.
    output_step : float, optional
        Keep a state every so many seconds (a whole number of steps) instead of every step: memory then depends on what is
        kept, not on the number of steps.  With error control there is a step that ends at every multiple of this.
    progress : callable, optional
        Called with the fraction done.
    throw : bool
        Raise SimulationError when the run stops early (its `motion` holds what was done); or return that motion.  What a
        function in the model raised is raised as it is, with the motion as its attribute `motion`; so is the
        KeyboardInterrupt of Ctrl-C, which is heard after at most a moment.
    solver : str, optional
        "dense": full matrices; "fronts": only entries that exist, for many coordinates of which few meet; "auto": fronts where
        that pays.
    s : array, optional
        Values of all slots in place of those of the parameters.
    guess : array, optional
        Coordinates from which those of the start are found, in place of what the model says.
    start : "assembly", "equilibrium", Assembly, Equilibrium, Motion or State, optional
        Where it starts, in place of what the model says: from its degrees of freedom; at the position where all forces balance;
        from what another system has found of these; from the last state of a motion, or from any (`Motion.state`), which a
        gradient holds fixed.
    """
    program, system, start, guess = planned(
        system, formulation, integrator, t_end, step, output_step, solver, start, guess
    )
    return program.run(system, s=s, guess=guess, start=start, progress=progress, throw=throw)


def planned(
    system: System, formulation=None, integrator=None, t_end=None, step=None, output_step=None, solver=None, start=None,
    guess=None, caller: int = CALLER,
) -> tuple[Program, System, Start, np.ndarray | None]:  # fmt: skip
    """The program of a run, the system with its solver, and where it starts; the model says what is not given."""
    defaults = system.model.simulation
    formulation = formulation_of(defaults.formulation if formulation is None else formulation)
    integrator = integrator_of(defaults.integrator if integrator is None else integrator)
    system = solved(system, formulation, defaults.solver if solver is None else solver)
    program = program_of(system, formulation, integrator, t_end, step, output_step)
    if program.made.remark:
        warnings.warn(program.made.remark, UnusedOptionWarning, stacklevel=caller)
    return program, system, *start_of(system, start, guess)
