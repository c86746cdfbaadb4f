"""Time to write the animated page of a motion, and its size: ``python benchmarks/page_file.py``.

A chain of 64 bars on hinges about three axes, 600 states, all shown. The simulation itself is not timed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import kinegrad as kg


def chain(bodies: int) -> kg.Model:
    """Bars on hinges one after another, each about another axis."""
    model = kg.Model(title=f"Chain of {bodies} bars", ground={"markers": {"O": (0, 0, 0)}})
    model.forces["gravity"] = kg.Gravity(acceleration=(0, 0, -9.81))
    before = "ground.O"
    for k in range(bodies):
        model.bodies[f"bar{k}"] = kg.Body(
            mass=1.1,
            com=(0.05, 0.01, 0.02),
            inertia=(0.01, 0.02, 0.015),
            markers={"A": (0, 0, 0), "B": (0.1, 0.02, 0.03)},
        )
        model.joints[f"hinge{k}"] = kg.Revolute(between=(before, f"bar{k}.A"), axis=np.eye(3)[k % 3])
        model.degrees_of_freedom[f"hinge{k}.angle"] = {"position": 0.1}
        before = f"bar{k}.B"
    return model.check()


def measure(bodies: int, states: int, repeats: int) -> tuple[float, float]:
    """Megabytes of the page, and the least seconds to write it."""
    motion = kg.simulate(kg.joint(chain(bodies)), t_end=(states - 1) * 1e-3, step=1e-3)
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            motion.__dict__.pop("_summary", None)
            begin = time.perf_counter()
            path = motion.to_html(Path(folder) / "chain.html")
            seconds.append(time.perf_counter() - begin)
        return path.stat().st_size / 1e6, min(seconds)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=64)
    parser.add_argument("--states", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    size, seconds = measure(given.bodies, given.states, given.repeats)
    print(f"{given.bodies} bodies, {given.states} states: {size:.2f} MB in {seconds:.2f} s")


if __name__ == "__main__":
    main()
