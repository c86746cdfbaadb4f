"""What a call of `simulate`, of `gradient` and a design of a study take beside their steps: the table of docs/benchmarks.md.

Every call has other values of the parameters.  A step is what 200 more of them take, by the least of many calls; the floor is
what is left of a call of two steps.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kinegrad as kg

EXAMPLES = Path(__file__).parents[1] / "examples"
MODEL, LINKAGE = EXAMPLES / "five_bar" / "model.yaml", EXAMPLES / "studies" / "four_bar_synthesis" / "linkage.yaml"
STEP, FEW, MANY = 1e-3, 2, 202
CHANGE = 1e-3  # of the parameters, at most


def least(call: Callable[[np.ndarray], object], n: int, repeats: int) -> float:
    """The least milliseconds of processor time that a call takes, each with n other numbers near 1."""
    rng, found = np.random.default_rng(1), np.inf
    for k in range(repeats + 5):
        change = 1.0 + CHANGE * rng.uniform(-1.0, 1.0, n)
        clock = time.thread_time()
        call(change)
        if k >= 5:  # the others load and compile
            found = min(found, time.thread_time() - clock)
    return 1e3 * found


def measured(model: kg.Model, signal: str, steps: int, **study) -> tuple[Callable, Callable, int]:
    """A design of a study with data at two instants, the same with its Jacobian, by changes of as many variables."""
    residuals = {"point": {"signal": signal, "t": [STEP, 2 * STEP], "values": [0.0, 0.0]}}
    model.simulation = model.simulation.model_copy(update={"t_end": steps * STEP, "step": STEP})
    problem = kg.Study(model, variables={name: {} for name in model.design}, residuals=residuals, **study).problem()
    start = np.where(problem.start == 0.0, 1.0, problem.start)
    values, slopes = (lambda change, g=g: problem.evaluate(start * change, gradient=g) for g in (False, True))
    return values, slopes, problem.n


def calls(steps: int) -> dict[str, tuple[Callable[[np.ndarray], object], int]]:
    """What is measured by name: functions of changes of parameters, and how many these are."""
    model = kg.Model.from_yaml(MODEL)
    model.simulation = model.simulation.model_copy(update={"t_end": steps * STEP, "step": STEP})
    system = kg.joint(model)

    def run(change):
        return kg.simulate(system.with_parameters(system.rho * change))

    def at_once(method):
        return lambda change: kg.gradient(system.with_parameters(system.rho * change), method=method)

    study = kg.Study(model, variables={name: {} for name in model.design}, minimise="psi1 + psi2 + psi3")
    problem = study.problem()
    start = np.where(problem.start == 0.0, 1.0, problem.start)
    linkage = kg.Model.from_yaml(LINKAGE)
    linkage.design = ["a", "b", "c", "px", "py"]
    *fit, n = measured(model.copy(), "bar_12.P2.x", steps)
    *path, k = measured(linkage, "coupler.P.x", steps, analysis="kinematics")
    return {
        "simulate": (run, len(system.rho)),
        "simulate + gradient, direct": (lambda change: kg.gradient(run(change), method="direct"), len(system.rho)),
        "simulate + gradient, adjoint": (lambda change: kg.gradient(run(change), method="adjoint"), len(system.rho)),
        "gradient of a system, direct": (at_once("direct"), len(system.rho)),
        "gradient of a system, adjoint": (at_once("adjoint"), len(system.rho)),
        "a design of a study": (lambda change: problem.evaluate(start * change), problem.n),
        "a design with its gradient": (lambda change: problem.evaluate(start * change, gradient=True), problem.n),
        "a design with residuals": (fit[0], n),
        "a design with their Jacobian": (fit[1], n),
        "the same by drivers": (path[0], k),
        "with their Jacobian by drivers": (path[1], k),
    }


def main(repeats: int = 200) -> None:
    few, many = calls(FEW), calls(MANY)
    print(f"{'milliseconds':30} {'2 steps':>8} {'a step':>8} {'floor':>8}")
    for name, (call, n) in few.items():
        short = least(call, n, repeats)
        step = (least(*many[name], max(repeats // 4, 5)) - short) / (MANY - FEW)
        print(f"{name:30} {short:8.3f} {step:8.4f} {short - FEW * step:8.3f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
