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
    """

    def __init__(self, path: str | Path, study: str, title: str = "", fresh: bool = False):
        self.path, self.study = Path(path), study
        self.finished: dict[tuple, dict] = {}
        self.best: dict[tuple, dict] = {}
        self._written: set[tuple] = set()
        try:
            if fresh:
                self.path.unlink(missing_ok=True)
            torn = self._read() if self.path.exists() else None
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise KinegradError(
                f"The log {str(self.path)!r} cannot be written: {error.strerror or error}; name another by log (--log)."
            ) from None
        if torn:
            os.write(self._file, b"\n")
        if torn is None:
            self.write({"kind": "study", "format": FORMAT, "study": study, "title": title})

    def _read(self) -> bool | None:
        """Takes in what is there; whether the last line is torn, None for an empty file."""
        data = self.path.read_bytes()
        if not data:
            return None
        for k, line in enumerate(data.split(b"\n")):
            try:
                record = json.loads(line) if line.strip() else None
            except ValueError:
                record = None
            if k == 0 and (not isinstance(record, dict) or record.get("kind") != "study"):
                raise KinegradError(
                    f"{str(self.path)!r} is there and is no log of a study; name another file by log (--log)."
                )
            if k == 0 and record.get("study") != self.study:
                raise KinegradError(
                    f"{str(self.path)!r} is the log of another study ({record.get('title') or 'without a title'!r}), or of "
                    "this one before it was changed; name another file by log (--log), or begin anew with --fresh (fresh=True)."
                )
            if isinstance(record, dict):
                self._take(record)
        return not data.endswith(b"\n")

    def _take(self, record: dict) -> None:
        key = (record.get("job", 0), record.get("stage", 0))
        if record.get("kind") in ("result", "point"):
            self.finished[(record["kind"], *key)] = record
        elif record.get("merit") is not None:
            known = self.best.setdefault(key, record)
            self.best[key] = min(known, record, key=lambda one: one["merit"])

    def write(self, record: dict) -> None:
        """Append one record, by one call of the system."""
        line = (json.dumps(record, allow_nan=False, default=_plain) + "\n").encode()
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
