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

MODEL = Path(__file__).parents[1] / "examples" / "five_bar" / "model.yaml"
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


def calls(steps: int) -> dict[str, tuple[Callable[[np.ndarray], object], int]]:
    """What is measured by name: functions of changes of parameters, and how many these are."""
    model = kg.Model.from_yaml(MODEL)
    model.simulation = model.simulation.model_copy(update={"t_end": steps * STEP, "step": STEP})
    system = kg.joint(model)

    def run(change):
        return kg.simulate(system.with_parameters(system.rho * change))

    study = kg.Study(model, variables={name: {} for name in model.design}, minimise="psi1 + psi2 + psi3")
    problem = study.problem()
    start = np.where(problem.start == 0.0, 1.0, problem.start)
    return {
        "simulate": (run, len(system.rho)),
        "simulate + gradient, direct": (lambda change: kg.gradient(run(change), method="direct"), len(system.rho)),
        "simulate + gradient, adjoint": (lambda change: kg.gradient(run(change), method="adjoint"), len(system.rho)),
        "a design of a study": (lambda change: problem.evaluate(start * change), problem.n),
        "a design with its gradient": (lambda change: problem.evaluate(start * change, gradient=True), problem.n),
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
