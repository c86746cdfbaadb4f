"""Compilation of everything at once: for container images, classrooms and notebooks that should not wait later."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def _linear_algebra():
    from kinegrad.kernels import linalg

    A = np.eye(2)
    linalg.least_squares(A, A, 1e-9)
    linalg.independent_rows(A, 1e-9)


def _expressions():
    from kinegrad.kernels import tape

    tape.run_tape_entry(np.zeros((0, 4), np.int64), 0, np.zeros(1))


FEATURES: dict[str, Callable[[], None]] = {
    "expressions": _expressions,
    "linear algebra": _linear_algebra,
}
"""Each feature by name, with a function that uses all its compiled entries on a tiny input."""


def precompile(progress: Callable[[str, float], None] | None = None) -> dict[str, float]:
    """Seconds taken by each feature to compile, or to load when it was compiled before.

    Parameters
    ----------
    progress : callable, optional
        Called with the name and the seconds of each feature as it is done; by default they are printed.
    """
    seconds = {}
    for name, use in FEATURES.items():
        start = time.perf_counter()
        use()
        seconds[name] = time.perf_counter() - start
        (progress or _print)(name, seconds[name])
    return seconds


def _print(name: str, seconds: float) -> None:
    print(f"{name:<30} {seconds:8.1f} s", flush=True)
