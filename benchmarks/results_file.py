"""Size of a result file, and the time to write and to read it: ``python benchmarks/results_file.py``.

A chain of 64 bars with a marker at each end of a bar, 50,000 steps, all kept. The simulation itself is not timed. How long
writing takes depends on the disk; beside it stands the time of writing as many bytes and nothing else. `--folder /dev/shm`
leaves the disk out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import kinegrad as kg


def chain(bodies: int) -> kg.Model:
    """Bars on hinges one after another, hanging, the first with a small push."""
    model = kg.Model(title=f"Chain of {bodies} bars", ground={"markers": {"O": (0, 0, 0)}})
    model.forces["gravity"] = kg.Gravity(acceleration=(0, -9.81, 0))
    before = "ground.O"
    for k in range(bodies):
        model.bodies[f"bar{k}"] = kg.Body(
            mass=1.0, com=(0, -0.5, 0), inertia=(0.1, 0.01, 0.1), markers={"A": (0, 0, 0), "B": (0, -1, 0)}
        )
        model.joints[f"hinge{k}"] = kg.Revolute(between=(before, f"bar{k}.A"), axis=(0, 0, 1))
        model.degrees_of_freedom[f"hinge{k}.angle"] = {"position": 0, "velocity": 0.1 if k == 0 else 0}
        before = f"bar{k}.B"
    return model.check()


def measure(bodies: int, steps: int, step: float, folder: str | None) -> tuple[float, dict[str, tuple[float, float]]]:
    """Megabytes of the file; processor and elapsed seconds of each way to use it."""
    motion = kg.simulate(kg.joint(chain(bodies)), t_end=steps * step, step=step)
    assert len(motion.t) == steps + 1
    seconds = {}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "motion.nc"
        seconds["markers, energies and violations of all states"] = _timed(motion.marker_array)
        motion.energies  # noqa: B018 (kept, so that writing does not compute it)
        seconds["write"] = min(_timed(lambda: motion.save(path)) for _ in range(3))
        size = path.stat().st_size
        seconds["the same number of bytes, nothing but written"] = min(
            _timed(lambda: _fill(path, size)) for _ in range(3)
        )
        motion.save(path)
        seconds["kg.load"] = _timed(lambda: kg.load(path))
        seconds["xarray, positions of all markers"] = _timed(lambda: _read(path))
    return size / 1e6, seconds


def _fill(path: Path, size: int) -> None:
    part = memoryview(bytes(2**20))
    with path.with_name("bytes").open("wb") as file:
        for start in range(0, size, 2**20):
            file.write(part[: size - start])


def _read(path: Path):
    import xarray

    with xarray.open_dataset(path, engine="h5netcdf") as data:
        return data.marker_position.values


def _timed(function) -> tuple[float, float]:
    """Processor time and elapsed time of a call."""
    start = time.process_time(), time.perf_counter()
    function()
    return time.process_time() - start[0], time.perf_counter() - start[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--step", type=float, default=1e-4)
    parser.add_argument("--folder", help="where the file is written; a temporary folder by default")
    chosen = parser.parse_args()
    megabytes, seconds = measure(chosen.bodies, chosen.steps, chosen.step, chosen.folder)
    print(f"{chosen.steps} steps, {chosen.bodies} bodies: {megabytes:.0f} MB")
    for what, (processor, elapsed) in seconds.items():
        print(f"{what:50s} {processor:8.2f} s of processor time, {elapsed:8.2f} s elapsed")
