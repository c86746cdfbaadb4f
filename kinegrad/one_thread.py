"""LAPACK with one thread: the matrices of a time loop are small, and threads that share them wait for each other."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

#: Where a user says how many threads there are to be.
ASKED = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


@functools.cache
def take_one_thread() -> bool:
    """Whether SciPy's OpenBLAS, whose LAPACK compiled loops call, was told to take one thread; NumPy's is another one."""
    import scipy

    if any(os.environ.get(name) for name in ASKED):
        return False
    for path in sorted(Path(scipy.__file__).parents[1].glob("scipy.libs/*openblas*")):
        try:
            set_threads = ctypes.CDLL(str(path)).scipy_openblas_set_num_threads
        except (OSError, AttributeError):
            continue
        set_threads(1)
        return True
    return False
