"""The log of a study: a line of JSON for each evaluation and each finished job, written at once, read to go on.

A line that was torn by a crash is passed over, and what was finished is not done again.  Each line ends with a checksum of
what stands before, so that one that was changed is refused instead of believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import sys
import zlib
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.model.values import show
from kinegrad.optimize.evaluation import Evaluation

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

FORMAT = 2  # in 1, lines have no checksum
BEGIN = b'{"kind": "'  # of every line, so of one that was torn
SUM = re.compile(rb', "sum": "([0-9a-f]{8})"}\Z')
LONGEST = 1 << 26  # bytes of a line
MAX = sys.float_info.max
KINDS = ("study", "evaluation", "gradient", "result", "point")


def fingerprint(document: dict) -> str:
    """A text that is the same for studies that ask the same."""
    plain = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


class Log:
    """A file of JSON lines that belongs to one study.

    Attributes
    ----------
    finished : dict (kind, job, stage) -> record
        What does not have to be done again; those that were read have their ``line``.
    best : dict (job, stage) -> record
        The best design of each search.
    """

    def __init__(self, path: str | Path, study: str, title: str = "", fresh: bool = False):
        self.path, self.study = Path(path), study
        self.finished: dict[tuple, dict] = {}
        self.best: dict[tuple, dict] = {}
        self._written: set[tuple] = set()
        self._file: int | None = None
        try:
            self._refuse(fresh)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            _hold(self._file, self.path)
            if fresh and self._size():
                os.ftruncate(self._file, 0)
            torn = self._read()
        except OSError as error:
            self.close()
            raise self._unwritable(error, "name another by log (--log)") from None
        except BaseException:
            self.close()
            raise
        if torn is None:
            self.write({"kind": "study", "format": FORMAT, "study": study, "title": title})
        elif torn:
            self._append(b"\n")

    def _size(self) -> int:
        """Bytes that are there; none of what is no file."""
        found = os.fstat(self._file) if self._file is not None else self.path.stat()
        return found.st_size if stat.S_ISREG(found.st_mode) else 0

    def _refuse(self, fresh: bool) -> None:
        """Raises where a file is no log, which is not written over either, or where it is that of another study."""
        if not self.path.exists() or not self._size():
            return
        with self.path.open("rb") as file:
            first = _parsed(file.readline(LONGEST))
        if not isinstance(first, dict) or first.get("kind") != "study":
            raise KinegradError(
                f"{str(self.path)!r} is there and is no log of a study; name another file by log (--log)."
            )
        if first.get("study") != self.study and not fresh:
            raise KinegradError(
                f"{str(self.path)!r} is the log of another study ({first.get('title') or 'without a title'!r}), or of "
                "this one before it was changed; name another file by log (--log), or begin anew with --fresh (fresh=True)."
            )

    def _read(self) -> bool | None:
        """Takes in what is there; whether its last line was torn, or None where there is nothing."""
        if not self._size():
            return None
        summed, last, number = False, b"", 0
        with self.path.open("rb") as file:
            while line := file.readline(LONGEST):
                number += 1
                record = self._record(line.rstrip(b"\n"), number, summed)
                if number == 1:
                    summed = "sum" in record
                elif record:
                    self._take(record)
                last = line
        return not last.endswith(b"\n")

    def _record(self, line: bytes, number: int, summed: bool) -> dict:
        """What a line says; nothing where it is torn; raises where it is no line of a log, or was changed."""
        record, end = _parsed(line), SUM.search(line)
        if record is None:
            if not end and (line.startswith(BEGIN) or BEGIN.startswith(line)):
                return {}
            raise self.refused({"line": number}, f"is {_short(line)}, which is no record of a study")
        if end and zlib.crc32(line[: end.start()] + b"}") != int(end[1], 16):
            raise self.refused({"line": number}, "was changed since it was written: its checksum does not fit")
        if summed and not end:
            raise self.refused({"line": number}, "has no checksum, and the log has them")
        wrong = _wrong(record)
        if wrong:
            raise self.refused({"line": number}, wrong)
        return record | {"line": number}

    def refused(self, record: dict, why: str) -> KinegradError:
        """The error for a line that does not hold."""
        return KinegradError(
            f"Line {record.get('line')} of the log {str(self.path)!r} {why}; remove the line, so that its work is done again, "
            "or begin anew with --fresh (fresh=True)."
        )

    def _unwritable(self, error: OSError, remedy: str) -> KinegradError:
        return KinegradError(f"The log {str(self.path)!r} cannot be written: {error.strerror or error}; {remedy}.")

    def _take(self, record: dict) -> None:
        key = job, stage = record.get("job", 0), record.get("stage", 0)
        if record.get("kind") == "result":  # later stages began at what this one found before
            for known in (self.finished, self.best):
                for later in [one for one in known if one[-2] == job and one[-1] > stage]:
                    del known[later]
        if record.get("kind") in ("result", "point"):
            self.finished[(record["kind"], *key)] = record
        elif record.get("merit") is not None:
            known = self.best.setdefault(key, record)
            self.best[key] = min(known, record, key=lambda one: one["merit"])

    def write(self, record: dict) -> None:
        """Append one record, and its checksum."""
        body = json.dumps(record, allow_nan=False, default=_plain).encode()
        self._take(record)
        self._append(body[:-1] + b', "sum": "%08x"}\n' % zlib.crc32(body))

    def _append(self, data: bytes) -> None:
        """Writes all of it, or nothing."""
        before = self._size()
        try:
            while data:  # a disk that fills may take a part
                data = data[os.write(self._file, data) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                if self._size() > before:
                    os.ftruncate(self._file, before)
            raise self._unwritable(error, "what is in it stays good") from None

    def evaluation(self, found: Evaluation, stage: int, merit: tuple | None) -> None:
        """Append an evaluation; its derivatives are a record of their own when they come later."""
        key = (stage, found.number)
        about = {"stage": stage, "number": found.number}
        if key in self._written:
            self.write({"kind": "gradient", **about, "jacobian": found.jacobian})
            return
        self._written.add(key)
        record = {"kind": "evaluation", **about, "values": found.values, "status": found.status}
        if found.ok:
            record |= {"objectives": found.objectives, "goals": found.goals, "merit": merit}
        else:
            record |= {"problem": found.problem}
        if found.jacobian is not None:
            record["jacobian"] = found.jacobian
        self.write(record | {"seconds": round(found.seconds, 6)})

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _hold(file: int, path: Path) -> None:
    """Raises where another search writes to the same log: each would do what the other does."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise KinegradError(
            f"The log {str(path)!r} is being written by another search; wait for it, or name another file by log (--log)."
        ) from None
    except OSError:
        return  # a file system without locks


def _parsed(line: bytes) -> dict | None:
    """The object that a line spells; None where it spells none."""
    try:
        found = json.loads(line, parse_constant=_no_number) if len(line) < LONGEST else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_number(name: str) -> None:
    raise ValueError(name)


def _wrong(record: dict) -> str:
    """What is wrong with what every record has."""
    if record.get("kind") not in KINDS:
        return f"is of the kind {show(record.get('kind'))}, which no record of a study has"
    for key in ("job", "stage", "number"):
        value = record.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            return f"has {key} = {show(value)}, and a whole number is needed"
    merit = record.get("merit")
    if merit is not None and not (_are_numbers(merit) and len(merit) == 2):
        return f"has merit = {show(merit)}, and two numbers are needed"
    for key in ("values", "goals") if merit is not None else ():
        if not _are_numbers(record.get(key)):
            return f"has {key} = {show(record.get(key))}, and a list of numbers is needed"
    return ""


def _are_numbers(value) -> bool:
    """Whether something is a list of finite numbers."""
    return isinstance(value, list) and all(type(one) in (int, float) and abs(one) <= MAX for one in value)


def _short(line: bytes) -> str:
    """The begin of a line, for a sentence."""
    return show(line[:40].decode(errors="replace") + ("..." if len(line) > 40 else ""))


def without_nan(value):
    """The same with None in the place of numbers that JSON has not."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


class NoLog:
    """The place of a log where none is kept."""

    path = None
    finished: dict = {}  # noqa: RUF012
    best: dict = {}  # noqa: RUF012

    def write(self, record: dict) -> None:
        """Nothing."""

    def evaluation(self, found: Evaluation, stage: int, merit: tuple | None) -> None:
        """Nothing."""

    def __enter__(self) -> NoLog:
        return self

    def __exit__(self, *_) -> None: ...
