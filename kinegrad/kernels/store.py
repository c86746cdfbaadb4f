"""Compiled code on disk: object files, loaded by LLVM alone.

A process that finds all it needs here never imports Numba, which alone takes half a second and a second more until it is
ready to compile.  Files lie in a folder of their own for each version of the sources, the compiler and the processor.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

SOURCES = Path(__file__).parent
_FOLDERS_KEPT = 3


@functools.cache
def fingerprint() -> str:
    """Sixteen hexadecimal digits that change with any source of this package, the compiler and the processor.

    A function's file alone does not tell whether its code is still right: an edit in a helper's file, or of a record type,
    changes callers too.
    """
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    versions = [version(name) for name in ("numba", "llvmlite", "numpy")]
    machine = [platform.python_version(), platform.machine(), get_host_cpu_name(), get_host_cpu_features().flatten()]
    digest = hashlib.sha256(" ".join(versions + machine).encode())
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"\n{path.relative_to(SOURCES).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()[:16]


# --- the folder --------------------------------------------------------------------------------------------------


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled code of this version of the sources; made, and marked as used now."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    base = Path(chosen) if chosen else Path(home).expanduser() / "kinegrad"
    folder = base / f"kinegrad-{fingerprint()}"
    return folder if _writable(folder) else _temporary_folder()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return False
    return True


def _temporary_folder() -> Path:
    """A folder in the system's temporary one that only this user can write: compiled code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"kinegrad-{user}" / f"kinegrad-{fingerprint()}"
    with contextlib.suppress(OSError):
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        found = folder.parent.lstat()
        private = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o022)
        if private and _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="kinegrad-"))


@functools.cache
def remove_old_folders() -> None:
    """Delete the code of older sources, all but the folders used last."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        siblings = [p for p in folder.parent.iterdir() if re.fullmatch("kinegrad-[0-9a-f]{16}", p.name) and p.is_dir()]
        siblings.sort(key=lambda p: (p == folder, p.stat().st_mtime), reverse=True)
        for old in siblings[_FOLDERS_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)


# --- the files ---------------------------------------------------------------------------------------------------


def read(name: str) -> tuple[bytes, str] | None:
    """Object code and what it returns, as they were written; None where there is no whole file of that name."""
    try:
        head, _, code = _file(name).read_bytes().partition(b"\n")
        digest, _, returns = head.decode().partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    return (code, returns) if digest == _digest(code, returns) else None


def write(name: str, code: bytes, returns: str) -> None:
    """Keep object code; where that cannot be done, the next process compiles again."""
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=cache_folder())
        with os.fdopen(handle, "wb") as file:
            file.write(f"{_digest(code, returns)} {returns}\n".encode() + code)
        os.replace(temporary, _file(name))


def _file(name: str) -> Path:
    return cache_folder() / f"{name}.o"


def _digest(code: bytes, returns: str) -> str:
    return hashlib.sha256(returns.encode() + b"\n" + code).hexdigest()


# --- the code in this process ------------------------------------------------------------------------------------


@functools.cache
def _engine():
    from llvmlite import binding

    with contextlib.suppress(RuntimeError):  # newer versions do it by themselves and refuse to be asked
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


def load(code: bytes, symbol: str) -> int:
    """The address of a function of object code."""
    from llvmlite.binding import ObjectFileRef

    engine = _engine()
    engine.add_object_file(ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine.get_function_address(symbol)
