"""A loop of steps from Python beside a simulation: what `kg.Stepper` adds to each step of the five-bar, in microseconds."""

import argparse
import time
from pathlib import Path

import kinegrad as kg
from kinegrad.bench.machine import machine

MODEL = Path(__file__).parents[1] / "examples" / "five_bar" / "model.yaml"
PAIRS = [("ali3p", "newmark"), ("index1", "rk4"), ("matrix-r", "newmark"), ("matrix-r", "rk4"), ("recursive", "rk4")]
STEP = 1e-3


def least(times: int, count: int, use) -> float:
    """Microseconds of processor time of one of `count` uses, the least of some turns."""
    found = []
    for _ in range(times):
        each = use()
        clock = time.thread_time()
        for _ in range(count):
            each()
        found.append(1e6 * (time.thread_time() - clock) / count)
    return min(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="steps of a loop (10000)")
    parser.add_argument("--repeats", type=int, default=5, help="turns, the best of which counts (5)")
    options = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    system = kg.joint(kg.Model.from_yaml(MODEL))
    print(f"{'':24} in simulate  advance()  beyond it")
    for pair in PAIRS:
        runs = [kg.simulate(system, *pair, step=STEP, t_end=options.steps * STEP) for _ in range(options.repeats)]
        inside = min(motion.us_per_step for motion in runs)
        loop = least(
            options.repeats, options.steps, lambda pair=pair: kg.Stepper(system, *pair, step=STEP).advance().advance
        )
        print(f"{' with '.join(pair):24} {inside:11.2f} {loop:10.2f} {loop - inside:10.2f}")
    stepper = kg.Stepper(system, step=STEP).advance()
    uses = {
        "q": lambda: stepper.q,
        "coordinate(name)": lambda: stepper.coordinate(system.coordinates[0]),
        "state": lambda: stepper.state,
        "set(m_A1=2.0)": lambda: stepper.set(m_A1=2.0),
        "set(m_A1=2.0, settle=False)": lambda: stepper.set(m_A1=2.0, settle=False),
    }
    print()
    for name, use in uses.items():
        use()
        print(f"{name:28} {least(options.repeats, 1000, lambda use=use: use):7.2f}")


if __name__ == "__main__":
    main()
