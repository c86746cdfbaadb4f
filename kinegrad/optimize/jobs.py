"""Many jobs of one study: one after the other, in threads, in processes, or on a Dask cluster; only recipes travel.

A job is a dict of plain numbers, and so is what it gives.  Each process reads a study once.  A process that dies takes its job
with it, which is done again by another.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

from kinegrad.errors import KinegradError

PATIENCE = 5  # seconds in which a scheduler has to answer
PATIENCE_WITH_WORKERS = 30  # seconds in which it has to have the first of them
MOST_DEATHS = 3  # processes that may die of one job


def do(study, job: dict) -> dict:
    """What one job gives: a search from a start, or designs that are looked at."""
    from kinegrad.optimize.multistart import one_start
    from kinegrad.optimize.sweep import some_points

    return {"start": one_start, "points": some_points}[job["kind"]](study, job)


def do_from_text(text: str, job: dict) -> dict:
    """The same in another process."""
    return do(_study(text), job)


@lru_cache(maxsize=4)
def _study(text: str):
    from kinegrad.optimize.study import Study

    return Study.from_dict(json.loads(text))


class Backend(ABC):
    """Where jobs are done."""

    name: ClassVar[str]

    def __init__(self, workers: int = 1, scheduler: str | None = None):
        self.workers, self.scheduler = workers, scheduler

    @abstractmethod
    def run(self, study, jobs: Sequence[dict]) -> Iterator[tuple[dict, dict]]:
        """Each job with what it gave, in the order in which they end."""


class Serial(Backend):
    name = "serial"

    def run(self, study, jobs):
        for job in jobs:
            yield job, do(study, job)


class Threads(Backend):
    """Compiled code lets other threads run meanwhile; Python around it does not."""

    name = "threads"

    def run(self, study, jobs):
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(self.workers) as pool:
            waiting = {pool.submit(do, study, job): job for job in jobs}
            try:
                for future in as_completed(waiting):
                    yield waiting[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class Processes(Backend):
    name = "processes"

    def run(self, study, jobs):
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        text, left = json.dumps(study.to_dict()), dict(enumerate(jobs))
        deaths = 0
        while left:
            pool = self._pool()
            waiting = {pool.submit(do_from_text, text, job): k for k, job in left.items()}
            try:
                while waiting:
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        k = waiting.pop(future)
                        found = future.result()
                        yield left.pop(k), found
            except BrokenProcessPool:
                deaths += 1
                if deaths > MOST_DEATHS:
                    raise KinegradError(
                        f"Processes died {deaths} times, with {len(left)} jobs left; run the study with backend: serial to see "
                        "why, or give them more memory. Finished jobs are in the log."
                    ) from None
            finally:
                _end(pool)

    def _pool(self):
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), initializer=_follow)


def _follow() -> None:
    """Leaves Ctrl-C and closed terminals to the process that has the log, and ends with it, however that ends."""
    import multiprocessing

    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _end(pool) -> None:
    """Ends the processes of a pool, whatever they do."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


class Dask(Backend):
    """A scheduler by its address, or a cluster of processes on this computer (`local`)."""

    name = "dask"

    def run(self, study, jobs):
        try:
            import distributed
        except ImportError:
            raise KinegradError(
                "The backend 'dask' needs distributed, which is not installed; run: pip install 'kinegrad[cluster]'."
            ) from None
        text, cluster = json.dumps(study.to_dict()), None
        if self.scheduler in (None, "local"):
            cluster = distributed.LocalCluster(
                n_workers=self.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=40
            )
        else:
            _greet(self.scheduler)
        client = distributed.Client(cluster or self.scheduler, set_as_default=False)
        try:
            self._wait(client)
            study_there = client.scatter(text, broadcast=True, hash=True) if len(text) > 10_000 else text
            waiting = {client.submit(do_from_text, study_there, job, pure=False): job for job in jobs}
            for future in distributed.as_completed(waiting, loop=client.loop):
                yield waiting[future], future.result()
        finally:
            client.close()
            if cluster is not None:
                cluster.close()

    def _wait(self, client) -> None:
        """Raises where a scheduler has no workers for long."""
        try:
            client.wait_for_workers(1, timeout=PATIENCE_WITH_WORKERS)
        except TimeoutError:
            raise KinegradError(
                f"The scheduler {self.scheduler!r} has had no workers for {PATIENCE_WITH_WORKERS} s; start some (dask worker "
                "ADDRESS)."
            ) from None


def _greet(address: str) -> None:
    """Raises where no Dask scheduler answers at an address; a client would wait for longer, and leave threads behind."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from distributed.comm import connect
    from distributed.security import Security

    async def greet():
        comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
        await comm.close()

    try:
        with ThreadPoolExecutor(1) as pool:  # a notebook has a loop running in this thread
            pool.submit(lambda: asyncio.run(asyncio.wait_for(greet(), 2 * PATIENCE))).result()
    except Exception as error:  # whatever what is there instead makes of the greeting
        raise KinegradError(
            f"The scheduler {address!r} does not answer as one ({type(error).__name__}); start it (dask scheduler), give its "
            "address as tcp://HOST:PORT, or give scheduler: local."
        ) from None


BACKENDS: dict[str, type[Backend]] = {kind.name: kind for kind in (Serial, Threads, Processes, Dask)}


def backend_of(name: str | None, workers: int, scheduler: str | None) -> Backend:
    """The backend that was asked for; processes where there are several workers, dask where there is a scheduler."""
    if name is None:
        name = "dask" if scheduler is not None else "processes" if workers > 1 else "serial"
    return BACKENDS[name](workers, scheduler)
