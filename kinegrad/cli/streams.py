"""Standard output and standard error of a command, whatever they are: a pipe whose reader left, a full disk, closed.

What fails on standard output is an error of its own, which no library takes for something else; what fails on standard
error is dropped, as there is nobody left to tell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kinegrad.errors import KinegradError

STREAMS = {"stdin": (0, os.O_RDONLY), "stdout": (1, os.O_WRONLY), "stderr": (2, os.O_WRONLY)}


class ReaderLeft(Exception):
    """The other end of the pipe has seen enough, as in ``kinegrad schema | head``."""


class OutputError(KinegradError):
    """Standard output cannot be written."""


def keep_numbers() -> None:
    """Fill streams that are closed, so that no file gets their numbers and, with them, what is meant for the stream."""
    for name, (number, mode) in STREAMS.items():
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, mode)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            if name == "stdin":
                continue
            setattr(sys, name, Closed())


@contextmanager
def guarded() -> Iterator[None]:
    """Standard output and standard error are guarded inside the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Output(sys.stdout), Notes(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class Closed:
    """A stream that was closed before the program began."""

    encoding, errors, closed = "utf-8", "strict", False

    def write(self, text: str) -> int:
        raise OSError("it is closed")

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("it is closed")


class Guard:
    """A stream, whose writes may fail."""

    def __init__(self, stream):
        self.stream = stream
        self.error: OSError | None = None

    def __getattr__(self, name: str):
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self._try(self.stream.write, text)
        return len(text)

    def writelines(self, lines) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._try(self.stream.flush)

    def _try(self, do, *arguments) -> None:
        if self.error is None:
            try:
                do(*arguments)
            except OSError as error:
                self.error = error
                self._drop()
        if self.error is not None:  # also later: a library may have caught it the first time
            self._failed(self.error)

    def _drop(self) -> None:
        """Let go of what could not be written, which would fail once more when the process ends."""
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.stream.fileno())
            os.close(null)
        except (OSError, ValueError):  # no stream of the system
            pass

    def _failed(self, error: OSError) -> None:
        raise NotImplementedError


class Output(Guard):
    """Standard output."""

    def _failed(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise ReaderLeft from None
        raise OutputError(
            f"Standard output cannot be written: {error.strerror or error}; redirect it to another file, or to /dev/null."
        ) from None


class Notes(Guard):
    """Standard error."""

    def _failed(self, error: OSError) -> None:
        pass
