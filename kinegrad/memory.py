"""How much memory there is, and sentences before it runs out: what is asked for later ends the process without a word."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

from kinegrad.errors import KinegradError

RESERVE = 64e6  # bytes left to everything else
LITTLE = 1e6  # bytes that are always there
LARGE = 256e6  # bytes that are not looked for below: asking the system takes longer than a small run


def require(size: float, what: str, remedy: str | Callable[[float], str]) -> None:
    """Raises when `size` bytes are more than there is: ``{what} takes about 80 GB of memory, and 12 GB are free; {remedy}.``

    A remedy may be a function of the bytes that are free.
    """
    if size < LARGE and (size < LITTLE or not _limited()):
        return
    found = available()
    if found is not None and size > max(found - RESERVE, 0.5 * found):
        remedy = remedy if isinstance(remedy, str) else remedy(found)
        raise KinegradError(f"{what} takes about {shown(size)} of memory, and {shown(found)} are free; {remedy}.")


def available() -> float | None:
    """Bytes that this process may still take, by the machine, its group and its own limits; None when nobody tells."""
    found = [x for x in (_of_machine(), _of_group(), _of_process()) if x is not None]
    return max(0.0, min(found)) if found else None


def half_of_free(size: float) -> float:
    """Bytes that may be taken by what would take `size` and can do with less; infinite where that is little."""
    found = None if size < LARGE and (size < LITTLE or not _limited()) else available()
    return math.inf if found is None else 0.5 * found


def shown(size: float) -> str:
    """A number of bytes as text: ``12 GB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= 10.0 * factor:
            return f"{size / factor:.0f} {unit}"
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"


def _of_machine() -> float | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def _of_group() -> float | None:
    """What a container leaves (control groups, version 2 and 1)."""
    for folder, most, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, taken = ("".join(_lines(f"{folder}/{name}")).strip() for name in (most, used))
        if limit.isdigit() and taken.isdigit():
            kept = [line.split() for line in _lines(f"{folder}/memory.stat")]
            files = sum(int(line[1]) for line in kept if line[0] in ("inactive_file", "active_file"))  # given back
            return float(limit) - float(taken) + files
    return None


def _limits() -> list[tuple[int, str]]:
    """Limits of the process that are set, and the line of its status that they hold for."""
    try:
        import resource
    except ImportError:  # not on this system
        return []
    kinds = ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:"))
    soft = [(resource.getrlimit(kind)[0], line) for kind, line in kinds]
    return [(limit, line) for limit, line in soft if limit != resource.RLIM_INFINITY]


def _limited() -> bool:
    return bool(_limits())


def _of_process() -> float | None:
    found = []
    for limit, name in _limits():
        used = [1024.0 * int(line.split()[1]) for line in _lines("/proc/self/status") if line.startswith(name)]
        found += [limit - x for x in used or [0.0]]
    return min(found) if found else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
