"""What a run leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Run(NamedTuple):
    """Times, sizes, iterations and flags of the steps done, and the rows kept with their times."""

    status: int
    ts: np.ndarray
    hs: np.ndarray
    iterations: np.ndarray
    flags: np.ndarray
    t: np.ndarray
    traj: np.ndarray
    cpu_s: float
