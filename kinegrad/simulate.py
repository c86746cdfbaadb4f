"""simulate: a system through time, with a formulation and an integrator."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.scheme import Run
from kinegrad.dynamics.schemes import formulation_of, integrator_of, scheme_for
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.expressions.syntax import Expression
from kinegrad.kernels.products import OBSERVE
from kinegrad.kernels.status import (
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    SINGULAR,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    WORDS,
    ZERO_LENGTH,
)
from kinegrad.kinematics.culprits import culprit
from kinegrad.kinematics.start import start
from kinegrad.motion import Motion

CHUNKS = 50  # pieces in which a long run reports its progress
SHORT = 2000  # steps below which a run is one piece
MAX_STEPS = 10**9


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
    s: np.ndarray | None = None,
) -> Motion:
    """The motion of `system` from 0 to `t_end`.

    Parameters
    ----------
    formulation, integrator : objects such as ``kg.ALI3P(penalty=1e9)``, ``kg.Newmark()``, or their names, optional
        The model's simulation section says what they are when they are not given; likewise the times.
    step : float, optional
        Time step [s]; the last one is shortened to meet t_end.  With error control, the first one tried.
    output_step : float, optional
        Keep a state every so many seconds (a whole number of steps) instead of every step.  With error control every
        step is kept, and there is a state at every multiple of this.
    progress : callable, optional
        Called with the fraction done.
    throw : bool
        Raise SimulationError when the run stops early (its `motion` holds what was done); or return that motion.
    s : array, optional
        Values of all slots in place of those of the parameters.
    """
    defaults = system.model.simulation
    formulation = formulation_of(defaults.formulation if formulation is None else formulation)
    integrator = integrator_of(defaults.integrator if integrator is None else integrator)
    t_end, step = _number(system, "t_end", t_end), _number(system, "step", step)
    if output_step is None and defaults.output_step is not None:
        output_step = _number(system, "output_step", None)
    scheme = scheme_for(system, formulation, integrator)
    hs, stride = (None, 1) if scheme.adaptive else time_grid(t_end, step, output_step)
    work = system.workspace(s=s)
    start(system, work, compliance=scheme.compliance)

    final = np.array([kind == "final" for kind in system.objectives.values()], np.bool_)
    number = work["q"].dtype
    psi, g_last = np.zeros(len(final), number), np.zeros(len(final), number)
    work.call(OBSERVE)
    g_last[:] = work["g"]
    psi[final] = g_last[final]
    begin = np.zeros(scheme.row_size, number)
    scheme.begin(work)
    scheme.keep(work, begin)
    fn = work.functions(*scheme.needs, OBSERVE)
    if scheme.adaptive:
        run = scheme.run_adaptive(work, fn, t_end, step, output_step, final, psi, g_last, begin, progress)
    else:
        ts = np.append(np.arange(len(hs)) * step, t_end)
        run = fixed_steps(scheme, work, fn, ts, hs, stride, final, psi, g_last, begin, progress)
    motion = Motion(
        system=system, formulation=formulation, integrator=integrator, scheme=scheme, t=run.t, traj=run.traj, ts=run.ts,
        hs=run.hs, stride=stride, iterations=run.iterations, flags=run.flags, cpu_s=run.cpu_s, status=int(run.status),
        objectives=dict(zip(system.objectives, psi, strict=True)), s=work["s"].copy(), step=step, t_end=t_end,
    )  # fmt: skip
    if run.status != OK and throw:
        who = culprit(system, work, run.status)
        raise SimulationError(explanation(run.status, run.ts[-1], step, formulation, who), motion=motion)
    broken = [name for name, value in motion.objectives.items() if not np.isfinite(value)]
    if broken and throw:
        what = f"The objective {broken[0]!r} is infinite or not a number"
        raise SimulationError(f"{what}; its expression is outside its domain at some time.", motion=motion)
    return motion


def fixed_steps(scheme, work, fn, ts, hs, stride, final, psi, g_last, begin, progress) -> Run:
    """The steps hs from row `begin`; a row every `stride` steps is kept, and the last one."""
    n_steps, observe = len(hs), len(final) > 0
    rows = n_steps // stride + 1 + (n_steps % stride > 0)
    traj = np.zeros((rows, scheme.row_size), begin.dtype)
    traj[0] = begin
    iterations, flags = np.zeros(n_steps, np.int64), np.zeros(n_steps, np.int64)
    scheme.advance(  # no steps: compiles, or loads, before the clock starts
        work, fn, ts[:1], hs[:0], observe, final, psi, g_last, stride, traj[:1], iterations[:0], flags[:0]
    )
    chunk = n_steps if n_steps <= SHORT or progress is None else -(-n_steps // CHUNKS // stride) * stride
    done, status, cpu = 0, OK, 0.0
    while done < n_steps:
        last = min(done + chunk, n_steps)
        piece = traj[done // stride : last // stride + 1]  # the last state is added below when it is off the grid
        clock = time.thread_time()
        status, count = scheme.advance(
            work, fn, ts[done : last + 1], hs[done:last], observe, final, psi, g_last, stride, piece, iterations[done:last],
            flags[done:last],
        )  # fmt: skip
        cpu += time.thread_time() - clock
        done += count
        if status != OK:
            break
        if progress is not None:
            progress(done / n_steps)
    kept = done // stride + 1
    times = ts[: done + 1 : stride]
    if status == OK and done % stride:
        scheme.keep(work, traj[kept])
        kept += 1
        times = np.append(times, ts[done])
    return Run(status, ts[: done + 1], hs[:done], iterations[:done], flags[:done], times, traj[:kept], cpu)


def explanation(status: int, t: float, h: float, formulation, who: str = "") -> str:
    """One sentence on why a run stopped: what, when and what to try; `who` names the element when it is known."""
    newton = {
        "matrix-r": "or other degrees_of_freedom, if these no longer determine the position there",
    }.get(formulation.type, "more max_iterations, or another penalty")
    what = {
        NOT_CONVERGED: "the Newton iterations did not converge",
        NOT_FINITE: f"the value of {who} is infinite or not a number"
        if who
        else "a number became infinite or not a number (an expression outside its domain, or a run that blew up)",
        SINGULAR: "the system of equations became singular",
        ZERO_LENGTH: f"{who or 'a spring'}, of a natural length above zero, reached length zero and lost its direction",
        STEP_TOO_SMALL: "the error of a step stays above the tolerance, however small the step",
    }.get(status, WORDS.get(status, f"status {status}"))
    tries = {
        NOT_CONVERGED: f"try a smaller step than {h:g} s, {newton}",
        NOT_FINITE: "check its expression just after that time"
        if who
        else f"check the expressions of forces near that time, or try a smaller step than {h:g} s",
        SINGULAR: "look for a singular position there, or for a body that moves without inertia",
        ZERO_LENGTH: "move its markers apart or set natural_length to 0",
        STEP_TOO_SMALL: "look for a force without bound there, or raise the integrator's tolerance",
        TOO_MANY_STEPS: "raise the integrator's tolerance, or simulate a shorter time",
    }.get(status, f"try a smaller step than {h:g} s")
    return f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: {what}; {tries}."


def _number(system: System, name: str, value) -> float:
    """A time from the argument or the model, checked."""
    if value is None:
        value = getattr(system.model.simulation, name)
    if isinstance(value, Expression):
        value = system.parameters.evaluate(value, system.rho)
    if value is None:
        raise KinegradError(f"{name} is not given; pass {name}=... or write it under simulation in the model.")
    value = float(value)
    if not (np.isfinite(value) and value > 0.0):
        raise KinegradError(f"{name} is {value:g}; it must be a finite number larger than zero.")
    return value


def time_grid(t_end: float, step: float, output_step: float | None) -> tuple[np.ndarray, int]:
    """Step sizes that meet t_end, the last one shortened, and the number of steps between outputs."""
    if step > t_end * (1.0 + 1e-12):
        raise KinegradError(
            f"The step is {step:g} s and the span {t_end:g} s; choose a step that is not larger than t_end."
        )
    if t_end / step > MAX_STEPS:
        raise KinegradError(
            f"A step of {step:g} s over {t_end:g} s makes {t_end / step:.3g} steps; at most 1e9 are allowed."
        )
    whole = int(np.floor(t_end / step * (1.0 + 1e-12)))
    rest = t_end - whole * step
    hs = np.full(whole, step)
    if rest > 1e-9 * step:
        hs = np.append(hs, rest)
    stride = 1
    if output_step is not None:
        stride = round(output_step / step)
        if stride < 1 or abs(stride * step - output_step) > 1e-9 * output_step:
            raise KinegradError(
                f"output_step is {output_step:g} s, which is not a whole number of steps of {step:g} s."
            )
    return hs, stride
