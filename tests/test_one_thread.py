"""Loops with full matrices of many unknowns take one thread of LAPACK, unless a user asked for others."""

import os
import subprocess
import sys

import pytest

SOURCE = """
import ctypes, pathlib, scipy, scipy.linalg
import kinegrad as kg
from kinegrad.bench.windows import windows
paths = sorted(pathlib.Path(scipy.__file__).parents[1].glob("scipy.libs/*openblas*"))
threads = ctypes.CDLL(str(paths[0])).scipy_openblas_get_num_threads if paths else None
before = threads() if threads else 0
kg.joint(windows(30)).workspace()
print(before, threads() if threads else 0)
"""


@pytest.mark.parametrize("asked", ["", "2"])
def test_threads_of_lapack(asked):
    environment = {
        key: value for key, value in os.environ.items() if key not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    }
    if asked:
        environment["OPENBLAS_NUM_THREADS"] = asked
    done = subprocess.run([sys.executable, "-c", SOURCE], capture_output=True, text=True, check=True, env=environment)
    before, after = map(int, done.stdout.split())
    if before == 0:
        pytest.skip("this SciPy carries no OpenBLAS of its own")
    assert after == (before if asked else 1)
