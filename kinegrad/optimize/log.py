"""The log of a study: a line of JSON for each evaluation and each finished job, written at once, read to go on.

A line that was torn by a crash is the last one, and is passed over.  What was finished is not done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.optimize.evaluation import Evaluation

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

FORMAT = 1


def fingerprint(document: dict) -> str:
    """A text that is the same for studies that ask the same."""
    plain = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


class Log:
    """A file of JSON lines that belongs to one study.

    Attributes
    ----------
    finished : dict (kind, job, stage) -> record
        What does not have to be done again.
    best : dict (job, stage) -> record
        The best design of each search.
    """

    def __init__(self, path: str | Path, study: str, title: str = "", fresh: bool = False):
        self.path, self.study = Path(path), study
        self.finished: dict[tuple, dict] = {}
        self.best: dict[tuple, dict] = {}
        self._written: set[tuple] = set()
        try:
            data = self.path.read_bytes() if self.path.exists() else b""
            if data:
                self._refuse(data, fresh)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            _hold(self._file, self.path)
            if fresh:
                os.truncate(self.path, 0)
                data = b""
            self._read(data)
        except OSError as error:
            raise KinegradError(
                f"The log {str(self.path)!r} cannot be written: {error.strerror or error}; name another by log (--log)."
            ) from None
        if not data:
            self.write({"kind": "study", "format": FORMAT, "study": study, "title": title})
        elif not data.endswith(b"\n"):
            os.write(self._file, b"\n")  # after a torn line

    def _refuse(self, data: bytes, fresh: bool) -> None:
        """Raises where a file is no log, which is not written over either, or where it is that of another study."""
        first = _record(data.partition(b"\n")[0])
        if first.get("kind") != "study":
            raise KinegradError(
                f"{str(self.path)!r} is there and is no log of a study; name another file by log (--log)."
            )
        if first.get("study") != self.study and not fresh:
            raise KinegradError(
                f"{str(self.path)!r} is the log of another study ({first.get('title') or 'without a title'!r}), or of "
                "this one before it was changed; name another file by log (--log), or begin anew with --fresh (fresh=True)."
            )

    def _read(self, data: bytes) -> None:
        """Takes in what is there."""
        for line in data.split(b"\n"):
            self._take(_record(line))

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
        """Append one record, by one call of the system."""
        line = (json.dumps(record, allow_nan=False, default=_plain) + "\n").encode()
        self._take(record)
        try:
            os.write(self._file, line)
        except OSError as error:
            raise KinegradError(
                f"The log {str(self.path)!r} cannot be written: {error.strerror or error}; what is in it stays good."
            ) from None

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
        if self._file is not None:
            os.close(self._file)
            self._file = None

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
        os.close(file)
        raise KinegradError(
            f"The log {str(path)!r} is being written by another search; wait for it, or name another file by log (--log)."
        ) from None
    except OSError:
        return  # a file system without locks


def _record(line: bytes) -> dict:
    """What a line says; nothing where it is torn."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


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
