"""Histories of thirty signals beside the simulation that they come from: ratios in one process, the best of some repeats.

python benchmarks/signals.py
"""

from __future__ import annotations

import time
from importlib.resources import files

import kinegrad as kg

REPEATS = 7
NAMES = (
    "kinetic_energy", "potential_energy", "momentum", "spring_1.force", "spring_1.length", "spring_1.power", "spring_2.force",
    "spring_2.length", "spring_2.power", "JA.angle", "J1.angle", "JB.angle", "JB.angle.velocity",
)  # fmt: skip


def thirty(model: kg.Model) -> list[str]:
    """Forces, energies, angles, and components of markers and of angular velocities."""
    found = [name for name in NAMES if name != "momentum"] + [f"momentum.{c}" for c in "xyz"]
    body = next(iter(model.bodies))
    found += [f"{body}.angular_velocity.{c}" for c in "xyz"] + [f"{body}.angular_acceleration.z"]
    rest = [name for name in model.signals if model.signals[name].group == "marker" and name not in found]
    return (found + rest)[:30]


def best(work) -> float:
    """Least seconds of some calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    model = kg.Model.from_yaml(str(files("kinegrad") / "data" / "five_bar.yaml"))
    for kind in ("joint", "reference-point", "natural"):
        system = kg.lower(model, kind)
        motion = kg.simulate(system, t_end=5.0, step=1e-3)
        names = thirty(model)
        assert len(names) == 30
        motion.signals(*names)
        simulation = best(lambda system=system: kg.simulate(system, t_end=5.0, step=1e-3))
        signals = best(lambda motion=motion, names=names: motion.signals(*names))
        start = time.process_time()
        fresh = kg.simulate(kg.lower(model, kind), t_end=5.0, step=1e-3)
        middle = time.process_time()
        fresh.signals(*names)
        first = time.process_time() - middle
        print(
            f"{kind:<16} simulation {1e3 * simulation:7.2f} ms, 30 signals {1e3 * signals:7.2f} ms: "
            f"{signals / simulation:.2f}; "
            f"of a new system {1e3 * (middle - start):.1f} and {1e3 * first:.1f} ms"
        )


if __name__ == "__main__":
    main()
