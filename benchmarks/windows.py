"""Rows of four-bar windows (A02) for 10 s: energy error, angle, iterations and cost of a step, in all sets and integrators.

The energy error and the angle of every crank are those against the equivalent pendulum in closed form; `bars` is how far a
bar is from its direction. Asked are 0.1 J, 1e-3 rad and 3 iterations a step in the mean.
"""

import argparse

import numpy as np

import kinegrad as kg
from kinegrad.bench.machine import machine
from kinegrad.bench.windows import angle, inertia, stiffness, windows

SETS = ("joint", "reference_point", "natural")
INTEGRATORS = ("newmark", "hht", "generalized-alpha")


def errors(motion, n):
    """Of the energy [J], of the angles of cranks [rad], and of the directions of bars."""
    ends = [motion.marker(f"crank_{i}.B").position - [i, 0, 0] for i in range(n + 1)]
    angles = np.unwrap([np.arctan2(x[:, 0], x[:, 1]) for x in ends], axis=1)
    bars = [motion.marker(f"bar_{i}.right").position - motion.marker(f"bar_{i}.left").position for i in range(1, n + 1)]
    energies = motion.energies
    energy = np.abs(energies.kinetic + energies.potential - (0.5 * inertia(n) + stiffness(n))).max()
    return energy, np.abs(angles - angle(n, motion.t)).max(), np.abs(np.array(bars) - [1, 0, 0]).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 5, 40], help="numbers of windows (2 5 40)")
    parser.add_argument("--step", type=float, default=1e-3, help="step [s] (1e-3)")
    parser.add_argument("--t-end", type=float, default=10.0, help="end [s] (10)")
    options = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    print("| windows | set | integrator | energy [J] | angle [rad] | bars | iterations | most | µs/step |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n in options.windows:
        for which in SETS:
            system = getattr(kg, which)(windows(n))
            for integrator in INTEGRATORS:
                motion = kg.simulate(system, "ali3p", integrator, step=options.step, t_end=options.t_end)
                energy, cranks, bars = errors(motion, n)
                cost = 1e6 * motion.cpu_s / len(motion.hs)
                print(
                    f"| {n} | {which} | {integrator} | {energy:.1e} | {cranks:.1e} | {bars:.0e} | "
                    f"{motion.iterations.mean():.2f} | {motion.iterations.max()} | {cost:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
