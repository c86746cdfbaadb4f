"""The gradient of the same run with smaller steps."""

from __future__ import annotations

from kinegrad.sensitivity.gradient import gradient as differentiate
from kinegrad.sensitivity.result import Gradient
from kinegrad.simulate import simulate


def with_steps(gradient: Gradient, factor: float) -> Gradient:
    """The gradient of the same run with steps, or with error control errors, of `factor` times theirs."""
    motion, options = gradient.motion, {}
    integrator, step = motion.integrator, motion.step * factor
    if motion.scheme.adaptive:
        tolerance = motion.scheme.integrator.options["tolerance"] * factor**5
        integrator = integrator.model_copy(update={"tolerance": tolerance})
    if motion.interval:
        options["output_step"] = motion.interval
    run = simulate(
        motion.system, motion.formulation, integrator, t_end=motion.t_end, step=step, s=motion.s, guess=motion.q[0],
        start=motion.start, solver=motion.system.solver, **options,
    )  # fmt: skip
    run.follows = motion.follows
    method = "direct" if gradient.method == "direct" else "discrete-adjoint"
    return differentiate(run, wrt=gradient.wrt, method=method)
