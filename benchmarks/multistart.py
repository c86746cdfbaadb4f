"""Multistart of 64 searches with 1 and 2 workers, in processes and on a local Dask cluster: throughput, and the same optima.

    python benchmarks/multistart.py [STARTS]

One process is killed in the middle of each run with two workers.  Times are of the whole run, compilation and start of the
workers included, so they are those of a user; take them on a quiet machine.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import kinegrad as kg

EXAMPLES = Path(__file__).parents[1] / "examples"


def kill_a_child(after: float) -> None:
    """Kills the youngest process that this one has started, some seconds later."""

    def kill():
        time.sleep(after)
        children = [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
        for pid in sorted(children, reverse=True):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                return

    threading.Thread(target=kill, daemon=True).start()


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    study = kg.Study.from_yaml(EXAMPLES / "studies" / "four_bar_synthesis" / "study.yaml")
    known = None
    for backend, scheduler in (("serial", None), ("processes", None), ("dask", "local")):
        for workers in (1, 2) if backend != "serial" else (1,):
            if workers == 2:
                kill_a_child(5.0)
            clock = time.perf_counter()
            found = study.multistart(starts, seed=1, workers=workers, backend=backend, scheduler=scheduler)
            seconds = time.perf_counter() - clock
            optima = sorted((one.count, round(one.result.values["minimise"], 9)) for one in found.optima)
            known = known or optima
            print(
                f"{backend:10} {workers} workers: {seconds:6.1f} s, {starts / seconds:5.2f} searches/s, "
                f"{len(found.optima)} optima, {found.others} elsewhere, {found.failed} failed, same: {optima == known}",
                flush=True,
            )


if __name__ == "__main__":
    main()
