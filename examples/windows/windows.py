"""N four-bar windows through their singular positions, beside the pendulum that they are.

Mechanism: `model.yaml` with N windows instead of two (``python examples/windows/windows.py 40``). Question: does a run of 10 s
pass every position in which all rods lie on one line, and does it stay a row of parallelograms? Answer: the distance of
every top corner from its place in closed form, and the change of the total energy.
"""

from __future__ import annotations

import sys

import numpy as np

import kinegrad as kg
from kinegrad.bench.windows import angle, corner, windows


def run(n: int = 2, t_end: float = 10.0) -> dict[str, float]:
    """Largest error of the top corners [m], change of energy [J], passed singular positions, µs per step."""
    motion = kg.simulate(kg.joint(windows(n)), t_end=t_end)
    exact = corner(n, motion.t)
    off = [motion.marker(f"crank_{i}.B").position - exact - [i, 0.0, 0.0] for i in range(n + 1)]
    return {
        "error": float(np.abs(off).max()),
        "energy": motion.energies.drift,
        "passed": int(np.floor(angle(n, t_end) / np.pi + 0.5)),
        "us_per_step": motion.us_per_step,
    }


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    found = run(n)
    print(f"{n} windows passed {found['passed']} singular positions in 10 s, {found['us_per_step']:.1f} µs a step:")
    print(f"corners off by {found['error']:.1e} m, energy by {found['energy']:.1e} J")
