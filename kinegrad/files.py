"""Files that are complete or not there: written beside their place, and put into it in one step; and bounded reading.

So a disk that runs full, an interrupt or a fault leaves the older file as it was. Symbolic links are followed and stay
links. What must not be replaced is written through, from a complete file elsewhere: devices, pipes, files with further
names (hard links), and files in folders that take no new ones.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from errno import EACCES, EINVAL, ENXIO
from pathlib import Path

from kinegrad.errors import KinegradError

PATIENCE = 10.0  # seconds in which somebody has to read from a pipe
SILENCE = 30.0  # seconds in which something has to come through a pipe
NOBODY = 2.0  # seconds in which somebody has to write into it

#: Pipes that were found to have a reader, who would see the end of the file if they were closed: by path.
_open_pipes: dict[Path, int] = {}


def check_writable(path: str | Path) -> Path:
    """`path` without links; raises when a file cannot be written there."""
    path = Path(path)
    try:
        place, through = _place(path)
        if not through:
            _new_file(place.parent).unlink()
        elif place.is_fifo() and place not in _open_pipes:
            _open_pipes[place] = _open_pipe(place)
    except OSError as error:
        raise unwritable(path, error) from None
    return place


@contextlib.contextmanager
def complete(path: str | Path) -> Iterator[Path]:
    """A file to be written inside the block; what it holds at the end is then at `path`, and else nothing changes."""
    path = Path(path)
    part = None
    try:
        place, through = _place(path)
        part = _new_file(Path(tempfile.gettempdir()) if through else place.parent)
        yield part
        (_write_through if through else _replace)(part, place)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


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


def _new_file(folder: Path) -> Path:
    """An empty file with a name of its own; short, since a name that may just be written could be too long beside it."""
    while True:
        path = folder / f"kinegrad-{os.getpid()}-{os.urandom(4).hex()}.part"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666))
            return path


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
