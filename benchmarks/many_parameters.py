"""Time and memory of gradients by many parameters: ``python benchmarks/many_parameters.py``.

Two arms, the first driven by a torque that is a spline in time; its ordinates are the parameters. Each number of ordinates is
measured in a process of its own: lowering, setting all ordinates, a simulation, the first and a later gradient by the discrete
adjoint (least of the repeats), a round of all three, what NumPy and Python held at most (in a second process, since watching
takes time), and the peak of the process as a whole. Below stands the floor: a pendulum with ten steps, where what surrounds the
kernels counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time


def arms(ordinates: int, t_end: float):
    """Two bars on hinges, the first with a spline torque through so many ordinates."""
    import numpy as np

    import kinegrad as kg

    times = np.linspace(0.0, t_end, ordinates)
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    return kg.Model(
        title="Two arms",
        parameters={"u": (0.5 * np.sin(5.0 * times)).tolist()},
        design=["u"],
        ground={"markers": {"O": (0, 0, 0)}},
        bodies={name: kg.Body(**bar, markers={"A": (0, 0, 0), "B": (1, 0, 0)}) for name in ("upper", "lower")},
        joints={
            "shoulder": kg.Revolute(between=("ground.O", "upper.A"), axis=(0, 0, 1)),
            "elbow": kg.Revolute(between=("upper.B", "lower.A"), axis=(0, 0, 1)),
        },
        forces={
            "gravity": kg.Gravity(acceleration=(0, -9.81, 0)),
            "motor": kg.Spline(acts_on="shoulder.angle", times=times.tolist(), values="u"),
        },
        degrees_of_freedom={f"{joint}.angle": {"position": 0.3, "velocity": 0} for joint in ("shoulder", "elbow")},
        objectives={"reach": {"integral": "norm2(lower.B.velocity)"}, "height": {"final": "lower.B.y"}},
    ).check()


def pendulum():
    """One bar on a hinge, with its mass and length as parameters."""
    import kinegrad as kg

    return kg.Model(
        title="Pendulum",
        parameters={"m": 2.0, "L": 0.5},
        design=["m", "L"],
        ground={"markers": {"O": (0, 0, 0)}},
        bodies={
            "arm": kg.Body(
                mass="m", com=("L/2", 0, 0), inertia=(0, 0.1, 0.1), markers={"O": (0, 0, 0), "tip": ("L", 0, 0)}
            )
        },
        joints={"hinge": kg.Revolute(between=("ground.O", "arm.O"), axis=(0, 0, 1))},
        forces={"gravity": kg.Gravity(acceleration=(0, -9.81, 0))},
        degrees_of_freedom={"hinge.angle": {"position": 0.3, "velocity": 0}},
        objectives={"travel": {"integral": "norm2(arm.tip.velocity)"}},
    ).check()


def least(repeats: int, function) -> float:
    """The least processor time of so many calls."""
    best = float("inf")
    for _ in range(repeats):
        clock = time.process_time()
        function()
        best = min(best, time.process_time() - clock)
    return best


def measure(ordinates: int, steps: int, repeats: int, watch: bool) -> dict[str, float]:
    """Seconds of lowering, of a simulation, and of the gradient beside it; or, with `watch`, megabytes."""
    import resource
    import tracemalloc

    import kinegrad as kg

    t_end = 1.0
    settings = {"t_end": t_end, "step": t_end / steps}
    few = kg.simulate(kg.joint(arms(4, t_end)), kg.ALI3P(tolerance=1e-16, max_iterations=100), **settings)
    kg.gradient(few, method="discrete-adjoint")  # loads compiled code
    if watch:
        tracemalloc.start()
    clock = time.process_time()
    system = kg.joint(arms(ordinates, t_end))
    lowering = time.process_time() - clock
    motion = kg.simulate(system, kg.ALI3P(tolerance=1e-16, max_iterations=100), **settings)
    clock = time.process_time()
    kg.gradient(motion, method="discrete-adjoint")
    first = time.process_time() - clock
    if watch:
        return {"MB": tracemalloc.get_traced_memory()[1] / 1e6}
    return {
        "lowering": lowering,
        "first": first,
        "simulate": least(repeats, lambda: kg.simulate(system, motion.formulation, **settings)),
        "adjoint": least(repeats, lambda: kg.gradient(motion, method="discrete-adjoint")),
        "set": least(3, lambda: system.with_parameters({"u": system.rho.tolist()})),
        "round": least(repeats, lambda: once_more(system, motion.formulation, settings)),
        "RSS": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def once_more(system, formulation, settings) -> None:
    """What an optimiser does: other ordinates, a simulation, a gradient."""
    import kinegrad as kg

    motion = kg.simulate(system.with_parameters({"u": system.rho}), formulation, **settings)
    kg.gradient(motion, method="discrete-adjoint")


def floor(repeats: int) -> dict[str, float]:
    """Seconds of a simulation of ten steps, and of the gradients after it."""
    import kinegrad as kg

    system, settings = kg.joint(pendulum()), {"t_end": 0.01, "step": 0.001}
    loose, tight = kg.ALI3P(), kg.ALI3P(tolerance=1e-16, max_iterations=100)
    motion = kg.simulate(system, tight, **settings)
    calls = {
        "simulate": lambda: kg.simulate(system, loose, **settings),
        "gradient, direct": lambda: kg.gradient(motion),
        "gradient, discrete adjoint": lambda: kg.gradient(motion, method="discrete-adjoint"),
        "simulate + gradient, direct": lambda: kg.gradient(kg.simulate(system, tight, **settings)),
        "simulate + gradient, discrete adjoint": lambda: kg.gradient(
            kg.simulate(system, tight, **settings), method="discrete-adjoint"
        ),
        "new parameters + simulate + gradient, discrete adjoint": lambda: kg.gradient(
            kg.simulate(system.with_parameters({"m": 2.5}), tight, **settings), method="discrete-adjoint"
        ),
    }
    return {name: (call(), least(10 * repeats, call))[1] for name, call in calls.items()}


def _apart(*arguments) -> dict[str, float]:
    """What this script measures in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(counts: list[int], steps: int, repeats: int) -> None:
    print(f"{steps} steps of ali3p with newmark; processor time, least of {repeats}")
    heads = ("lowering", "set them", "simulate", "first", "adjoint", "round", "adjoint /", "held", "process")
    print(f"{'ordinates':>9s}", *(f"{head:>10s}" for head in heads))
    base = None
    for count in counts:
        row = _apart("--one", count, "--steps", steps, "--repeats", repeats)
        held = _apart("--one", count, "--steps", steps, "--watch")["MB"]
        base = base or row["adjoint"]
        times = (row[name] for name in ("lowering", "set", "simulate", "first", "adjoint", "round"))
        cells = [
            *(f"{1e3 * x:.2f} ms" for x in times),
            f"{row['adjoint'] / base:.2f}",
            f"{held:.1f} MB",
            f"{row['RSS']:.0f} MB",
        ]
        print(f"{count:9d}", *(f"{cell:>10s}" for cell in cells))
    print("\nPendulum, 10 steps")
    for name, seconds in _apart("--floor", "--repeats", repeats).items():
        print(f"{name:55s} {1e3 * seconds:7.3f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ordinates", type=int, nargs="+", default=[32, 1000, 4000])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--one", type=int, help="measure this number of ordinates here, and print JSON")
    parser.add_argument("--watch", action="store_true", help="with --one: memory in place of times")
    parser.add_argument("--floor", action="store_true", help="measure the floor here, and print JSON")
    chosen = parser.parse_args()
    if chosen.one is not None:
        print(json.dumps(measure(chosen.one, chosen.steps, chosen.repeats, chosen.watch)))
    elif chosen.floor:
        print(json.dumps(floor(chosen.repeats)))
    else:
        main(chosen.ordinates, chosen.steps, chosen.repeats)
