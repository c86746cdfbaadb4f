"""Compiled code on disk: object files, loaded by LLVM alone.

A process that finds all it needs here never imports Numba, which alone takes half a second and a second more until it is
ready to compile.  Files lie in the folders of `kinegrad.kernels.folders`; a checksum tells whether one is whole and in its
place.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from kinegrad.kernels import checks
from kinegrad.kernels.folders import cache_folder, chosen_folder, fingerprint

_LONGEST_WAIT = 120.0  # seconds for another process that compiles
_addresses: dict[str, int] = {}


# --- the files ---------------------------------------------------------------------------------------------------


def read(name: str) -> tuple[bytes, str] | None:
    """Object code and what it returns, as they were written; None where there is no whole file of that name."""
    for folder in dict.fromkeys((chosen_folder(), cache_folder())):  # one that cannot be written may still be read
        if folder is not None:
            found = _read(folder / f"{name}.o", name)
            if found is not None:
                return found
    return None


def _read(path: Path, name: str) -> tuple[bytes, str] | None:
    try:
        head, _, code = path.read_bytes().partition(b"\n")
        digest, _, returns = head.decode().partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    return (code, returns) if digest == _digest(name, code, returns) else None


def write(name: str, code: bytes, returns: str) -> None:
    """Keep object code; where that cannot be done, the next process compiles again."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)  # it may have been deleted meanwhile
        temporary = folder / f"{name}.{os.getpid()}-{os.urandom(4).hex()}"
        try:
            with temporary.open("xb") as file:  # as readable for others as this user's files are
                file.write(f"{_digest(name, code, returns)} {returns}\n".encode() + code)
            os.replace(temporary, folder / f"{name}.o")
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _digest(name: str, code: bytes, returns: str) -> str:
    """The checksum of a file, which also tells whether it is the one of this name and this folder."""
    return hashlib.sha256(f"{fingerprint()}\n{name}\n{returns}\n".encode() + code).hexdigest()


@contextlib.contextmanager
def turn(name: str, waiting: Callable[[], None]):
    """Inside the block no other process is inside one of the same name; `waiting` is called where one is.

    Processes that start together then compile each function once.  One that waits for longer than a compilation takes goes
    on, and so does one whose file system has no locks.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ImportError):
            folder = cache_folder()
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context((folder / "turns").open("ab"))  # closing it unlocks it
                _lock(file, int(hashlib.sha256(name.encode()).hexdigest()[:7], 16), waiting)
        yield


def _lock(file, place: int, waiting: Callable[[], None]) -> None:
    """Lock one byte of a file, or give up."""
    import fcntl

    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        try:
            return fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            waiting()
            time.sleep(0.02)


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
    """The address of a function of object code, which is loaded once."""
    from llvmlite.binding import ObjectFileRef

    if symbol not in _addresses:
        checks.prepare()
        engine = _engine()
        engine.add_object_file(ObjectFileRef.from_data(code))
        engine.finalize_object()
        _addresses[symbol] = engine.get_function_address(symbol)
    return _addresses[symbol]
