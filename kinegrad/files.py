"""Files that are complete or not there: written beside their place, and put into it in one step; and bounded reading.

So a disk that runs full, an interrupt or a fault leaves the older file as it was. Symbolic links are followed and stay
links. What must not be replaced is written through, from a complete file elsewhere: devices, pipes, files with further
names (hard links), and files in folders that take no new ones.

A process that is killed leaves the file that it was writing, `kinegrad-PID-HOST-RANDOM.part`. Who writes holds a lock on it, so
that the next one who writes into the folder removes what nobody holds.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import select
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Iterator
from errno import EACCES, EINVAL, ENXIO
from pathlib import Path

from kinegrad.errors import KinegradError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

PATIENCE = 10.0  # seconds in which somebody has to read from a pipe
SILENCE = 30.0  # seconds in which something has to come through a pipe
NOBODY = 2.0  # seconds in which somebody has to write into it

HOST = f"{zlib.crc32(platform.node().encode()):08x}"
PART = re.compile(r"kinegrad-([0-9]{1,18})-(?:([0-9a-f]{8})-)?[0-9a-f]{8}\.part")

#: Folders in which files that were left have been looked for.
_looked_at: set[Path] = set()

#: Pipes that were found to have a reader, who would see the end of the file if they were closed: by path.
_open_pipes: dict[Path, int] = {}


def check_writable(path: str | Path) -> Path:
    """`path` without links; raises when a file cannot be written there."""
    path = Path(path)
    try:
        place, through = _place(path)
        if not through:
            with _new_file(place.parent):
                pass
        elif place.is_fifo() and place not in _open_pipes:
            _open_pipes[place] = _open_pipe(place)
    except OSError as error:
        raise unwritable(path, error) from None
    return place


@contextlib.contextmanager
def complete(path: str | Path) -> Iterator[Path]:
    """A file to be written inside the block; what it holds at the end is then at `path`, and else nothing changes."""
    path = Path(path)
    try:
        place, through = _place(path)
        with _new_file(Path(tempfile.gettempdir()) if through else place.parent) as part:
            yield part
            (_write_through if through else _replace)(part, place)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: Exception) -> KinegradError:
    """The sentence for a file that cannot be written."""
    return KinegradError(f"{str(path)!r} cannot be written: {reason(error)}; name another file.")


def reason(error: BaseException) -> str:
    """What an error says, on one line and without full stop."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")


def _place(path: Path) -> tuple[Path, bool]:
    """Where a file goes, and whether it is written through what is there instead of replacing it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        place = path.resolve()  # of a link that leads nowhere: where it leads to
        if not place.parent.is_dir():
            raise KinegradError(
                f"{str(path)!r} cannot be written: there is no folder {str(place.parent)!r}; make it first."
            ) from None
        return place, False
    except ValueError as error:  # a null character
        raise OSError(EINVAL, str(error)) from None
    if stat.S_ISDIR(found.st_mode):
        raise KinegradError(f"{str(path)!r} cannot be written: it is not a file; name a file that may be replaced.")
    if not os.access(path, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    if not stat.S_ISREG(found.st_mode):
        return path, True  # the links of a pipe, as in /dev/stdout, do not resolve to a path
    place = path.resolve()
    return place, found.st_nlink > 1 or not os.access(place.parent, os.W_OK | os.X_OK)


@contextlib.contextmanager
def _new_file(folder: Path) -> Iterator[Path]:
    """An empty file with a name of its own, which is gone after the block unless it was given another name meanwhile.

    The name is short, since one that may just be written could be too long beside it.
    """
    _remove_left(folder)
    handle = None
    while handle is None:
        path = folder / f"kinegrad-{os.getpid()}-{HOST}-{os.urandom(4).hex()}.part"
        with contextlib.suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
            _lock(handle)
            if not os.fstat(handle).st_nlink:  # removed before it was locked
                os.close(handle)
                handle = None
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _remove_left(folder: Path) -> None:
    """Removes files that processes of this user and host left in a folder when they were killed."""
    if fcntl is None or folder in _looked_at:
        return
    _looked_at.add(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = PART.fullmatch(entry.name)
            if named and named[2] in (None, HOST) and not (named[2] is None and _lives(int(named[1]))):
                with contextlib.suppress(OSError):
                    _remove_unheld(entry.path)


def _remove_unheld(path: str) -> None:
    """Removes a file of this user on which nobody holds a lock."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and _lock(handle):
            os.unlink(path)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Whether this process holds the lock of a file now; closing the file lets go of it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (AttributeError, OSError):  # held by another, or a system without locks
        return False
    return True


def _lives(process: int) -> bool:
    """Whether there is a process of this number; asked of files without a host, whose writers held no lock."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _replace(part: Path, place: Path) -> None:
    """`part` in the place of a file, whose owner and rights it takes over."""
    if place.exists():
        shutil.copymode(place, part)
        with contextlib.suppress(OSError, AttributeError):  # only the owner of both, or root, may do that
            found = place.stat()
            os.chown(part, found.st_uid, found.st_gid)
    with part.open("rb") as file:
        os.fsync(file.fileno())  # some disks tell only now that they are full
    os.replace(part, place)


def _write_through(part: Path, place: Path) -> None:
    """The bytes of `part` written into what is at `place`; room in a file is made first, so that it is not half written."""
    if place.is_fifo():
        handle = _open_pipes.pop(place, None)
        handle = _open_pipe(place) if handle is None else handle
    else:
        handle = os.open(place, os.O_WRONLY)
    with open(handle, "wb") as out, part.open("rb") as file:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode):
            size = part.stat().st_size
            try:
                os.posix_fallocate(handle, 0, max(size, 1))
            except OSError:
                os.ftruncate(handle, found.st_size)
                raise
            os.ftruncate(handle, size)
        shutil.copyfileobj(file, out, 1 << 20)


def _open_pipe(path: Path) -> int:
    """A pipe opened for writing, once it has a reader."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != ENXIO:
                raise
            if time.monotonic() > end:
                raise OSError(ENXIO, "nobody reads from this pipe") from None
            time.sleep(0.05)
        else:
            os.set_blocking(handle, True)
            return handle


def read_bytes(path: Path, most: int) -> bytes:
    """What is in a file, or comes through a pipe until it is closed; OSError when it is more, or does not come."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # does not wait for somebody who writes
    with open(handle, "rb", buffering=0) as file:
        pipe, found, begin = stat.S_ISFIFO(os.fstat(handle).st_mode), bytearray(), time.monotonic()
        while len(found) <= most:
            part = file.read(min(1 << 20, most + 1 - len(found)))
            if part is None:  # somebody has the pipe open, and has not written yet
                if not select.select([handle], [], [], SILENCE)[0]:
                    raise OSError(f"nothing came through the pipe for {SILENCE:g} s")
            elif part:
                found += part
            elif found or not pipe:
                return bytes(found)
            elif time.monotonic() - begin > NOBODY:
                raise OSError("nobody writes into this pipe")
            else:
                time.sleep(0.02)
    raise OSError(f"it has more than {most} bytes")
