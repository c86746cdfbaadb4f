"""The versions of Numba that the compiler of kernels was tried with, and what to say of others."""

from __future__ import annotations

import re

from kinegrad.kernels import folders

TRIED = ("0.61.0", "0.61.2", "0.65.1", "0.68.1")
"""All tests, or a simulation with both gradients, gave the same numbers with each; the bounds of pyproject.toml follow."""


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def is_tried() -> bool:
    """Whether the Numba installed is of a release among those tried, or between them."""
    return release(TRIED[0]) <= release(folders.installed("numba")) <= release(TRIED[-1])


def remedy() -> str:
    """What to install."""
    first, last = release(TRIED[0]), release(TRIED[-1])
    return f"pip install 'numba>={first[0]}.{first[1]},<{last[0]}.{last[1] + 1}'"


def told() -> str:
    """Which Numba there is, and which were tried."""
    return f"Numba {folders.installed('numba')} (tried: {', '.join(TRIED)})"
