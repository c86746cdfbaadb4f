"""Size of the equations of every example in every coordinate set, and the time of a step.

``python benchmarks/sets.py [NAME ...]`` prints the table of docs/natural_coordinates.md: coordinates, rows written, how many of
these are redundant, and microseconds of a step (of the model's length) by ALI3-P with Newmark, the least of several runs of 100
steps, sets in turn. The machine and what else runs on it decide the last number; ratios within a line do less so.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import kinegrad as kg
from kinegrad.simulate import given_time

EXAMPLES = Path(__file__).parents[1] / "examples"
SETS = {"joint": kg.joint, "reference-point": kg.reference_point, "natural": kg.natural}
REPEATS = 3
STEPS = 100


def line(name: str) -> str:
    """The line of an example."""
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    systems = [make(model) for make in SETS.values()]
    step = given_time(systems[0], "step", 1e-3 if model.simulation.step is None else None)
    sizes = [kg.mobility(system) for system in systems]
    best = [float("inf")] * len(systems)
    for _ in range(REPEATS):
        for k, system in enumerate(systems):
            motion = kg.simulate(system, kg.ALI3P(), kg.Newmark(), t_end=STEPS * step, step=step)
            best[k] = min(best[k], motion.us_per_step)
    cells = [f"{x.n} / {x.rows} / {len(x.redundant)}, {us:.0f} µs" for x, us in zip(sizes, best, strict=True)]
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| example | " + " | ".join(SETS) + " |")
    print("|---|" + "---|" * len(SETS))
    for name in sys.argv[1:] or sorted(path.parent.name for path in EXAMPLES.glob("*/model.yaml")):
        print(line(name), flush=True)
