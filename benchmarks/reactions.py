"""Reactions of whole motions beside the simulations that gave them: microseconds of processor time a state."""

import argparse
import time
from pathlib import Path

import kinegrad as kg
from kinegrad.bench.chain import chain_model
from kinegrad.bench.machine import machine
from kinegrad.bench.windows import windows
from kinegrad.reactions.solve import Balance, reactions

EXAMPLES = Path(__file__).parents[1] / "examples"
STEP = 1e-3


def cases(large: bool):
    """Name, system, formulation, integrator and steps of each case."""
    for name in ("five_bar", "slider_crank"):
        yield name, kg.joint(kg.Model.from_yaml(EXAMPLES / name / "model.yaml")), "ali3p", "newmark", 5000
    for n in (40, 80, 160) if large else (40,):
        yield f"windows {n}", kg.joint(windows(n)), "ali3p", "newmark", 8000 // n
    for n in (64, 128, 256, 512) if large else (64,):
        yield f"chain {n}", kg.joint(chain_model(n)), "recursive", "rk4", 32000 // n


def seconds(function, *arguments, **options):
    """Processor time of a call, and what it returns."""
    start = time.process_time()
    found = function(*arguments, **options)
    return time.process_time() - start, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns, the best of which counts (5)")
    parser.add_argument("--large", action="store_true", help="also windows and chains up to 160 and 512")
    options = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    print(f"{'':14} states  simulation  reactions [us a state]  ratio  tables [ms]  fronts  residual")
    for name, system, formulation, integrator, steps in cases(options.large):
        simulations, found = [], []
        for _ in range(options.repeats):
            taken, motion = seconds(kg.simulate, system, formulation, integrator, t_end=steps * STEP, step=STEP)
            simulations.append(taken)
            states = motion.t, motion.q, motion.qd, motion.qdd
            taken, told = seconds(reactions, system, *states, s=motion.s)
            found.append(taken)
        tables, balance = min((seconds(Balance, system) for _ in range(3)), key=lambda pair: pair[0])
        a, b = (1e6 * min(x) / (steps + 1) for x in (simulations, found))
        fronts = "yes" if balance.large is not None else "no"
        print(
            f"{name:14} {steps + 1:6d}  {a:10.2f}  {b:10.2f}  {b / a:17.2f}  {1e3 * tables:11.1f}  {fronts:>6}"
            f"  {told.residual.max():.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
