"""What the compiler of kernels is worth: first uses on the five-bar linkage, and its steps, beside Numba as it comes.

Each way runs in a process of its own with an empty cache.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).parents[1] / "examples" / "five_bar" / "model.yaml"
WAYS = {"kinegrad's": "", "Numba's own": "plain"}


def measure(repeats: int) -> None:
    """Print processor seconds of the first simulation, direct gradient and adjoint, and microseconds a step."""
    import kinegrad as kg

    def run(t_end=0.01):
        return kg.simulate(kg.joint(kg.Model.from_yaml(MODEL)), t_end=t_end)

    seconds = []
    for use in (
        run,
        lambda: kg.gradient(run(), method="direct"),
        lambda: kg.gradient(run(), method="discrete-adjoint"),
    ):
        start = time.process_time()
        use()
        seconds.append(time.process_time() - start)
    system = run().system
    steps = []
    for _ in range(repeats):
        start = time.thread_time()
        motion = kg.simulate(system, t_end=5.0)
        steps.append((time.thread_time() - start) / (len(motion.t) - 1))
    print("".join(f"{s:12.1f}" for s in seconds) + f"{1e6 * min(steps):12.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="simulations, of which the fastest counts (20)")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.here:
        measure(options.repeats)
        return
    print(f"{'compiler':<12}{'simulate, s':>12}{'direct, s':>12}{'adjoint, s':>12}{'step, us':>12}")
    for name, asked in WAYS.items():
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "KINEGRAD_COMPILER": asked, "KINEGRAD_QUIET": "1", "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, __file__, "--here", "--repeats", str(options.repeats)]
            print(f"{name:<12}", end="", flush=True)
            subprocess.run(command, env=env, check=True)


if __name__ == "__main__":
    main()
