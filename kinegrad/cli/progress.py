"""A bar on standard error for work that takes longer than a moment."""

from __future__ import annotations

import os
import time

PATIENCE = 2.0  # seconds before the bar appears


class Progress:
    """A context whose value is called with the fraction done; it stays silent while the work is short, and always where
    KINEGRAD_QUIET is set.

    The clock starts with the first call, so that compilation before it does not count as work.
    """

    def __init__(self, what: str, patience: float = PATIENCE):
        self.what = what
        self.patience = patience
        self.quiet = os.environ.get("KINEGRAD_QUIET", "0") not in ("", "0")
        self._bar = None
        self._begin = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if self._begin is None:
            self._begin = now
        if self._bar is None and fraction < 1.0 and now - self._begin > self.patience and not self.quiet:
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=1.0)
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction, description=self.what)

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar():
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
