"""The folders of compiled code: one for each version of the sources, the compiler and the processor."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kinegrad.kernels import checks

SOURCES = Path(__file__).parent
_DAYS_KEPT = 90  # since a folder was last used
_BYTES_KEPT = 500_000_000  # in all folders together; one with everything compiled has about 3 million


def installed(distribution: str) -> str:
    """The version of a distribution; "none" where it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


@functools.cache
def fingerprint() -> str:
    """Sixteen hexadecimal digits that change with any source of this package, the compiler and the processor.

    A function's file alone does not tell whether its code is still right: an edit in a helper's file, or of a record type,
    changes callers too.
    """
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    versions = [installed(name) for name in ("numba", "llvmlite", "numpy")]
    machine = [platform.python_version(), platform.machine(), get_host_cpu_name(), get_host_cpu_features().flatten()]
    digest = hashlib.sha256(" ".join([*versions, *machine, f"checks {checks.ON}"]).encode())
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"\n{path.relative_to(SOURCES).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled code of this version of the sources is written; made, and marked as used now.

    It is the user's cache folder or, where that cannot be written, a temporary one.  None where neither can be.
    """
    folder = chosen_folder()
    return folder if folder is not None and _writable(folder) else _temporary_folder()


@functools.cache
def chosen_folder() -> Path | None:
    """Where compiled code is to be, whether it can be written or not; None for a user without a home."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / _folder_name()
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:
        return None
    return home / "kinegrad" / _folder_name()


def _folder_name() -> str:
    return f"kinegrad-{fingerprint()}"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return False
    return True


def _temporary_folder() -> Path | None:
    """A folder in the system's temporary one that only this user can write: compiled code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with contextlib.suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"kinegrad-{user}" / _folder_name()
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        found = folder.parent.lstat()
        private = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o022)
        if private and _writable(folder):
            return folder
    with contextlib.suppress(OSError):
        folder = Path(tempfile.mkdtemp(prefix="kinegrad-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    return None


def elsewhere() -> str:
    """A sentence when code is not kept where it was to be; empty when it is."""
    chosen, folder = chosen_folder(), cache_folder()
    if folder == chosen:
        return ""
    where = "no home folder" if chosen is None else f"{chosen.parent} cannot be written"
    then = "it will be compiled in every process" if folder is None else f"it goes to {folder.parent}"
    return f"{where} to keep compiled code, so {then}; set NUMBA_CACHE_DIR to a folder you can write"


@functools.cache
def remove_unused_folders() -> None:
    """Delete code that was not used for long, and the least recently used of more than a home should hold.

    Folders that are in use stay, however many they are: machines with other processors, and environments with other versions,
    share a home.
    """
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        siblings = [p for p in folder.parent.iterdir() if re.fullmatch("kinegrad-[0-9a-f]{16}", p.name) and p.is_dir()]
        used = {p: time.time() if p == folder else p.stat().st_mtime for p in siblings}
        total = 0
        for sibling in sorted(siblings, key=used.get, reverse=True):
            total += sum(file.stat().st_size for file in sibling.iterdir())
            if used[sibling] < used[folder] - _DAYS_KEPT * 86400 or (total > _BYTES_KEPT and sibling != folder):
                shutil.rmtree(sibling, ignore_errors=True)
