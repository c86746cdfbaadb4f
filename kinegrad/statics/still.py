"""What a position that was found has in common with a motion: signals, figures and files, as a motion of one state."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from pathlib import Path

from kinegrad.motion import Motion


class Still:
    """A position whose `motion` is one state: it is saved, shown and asked for signals as any motion."""

    @abstractmethod
    def _as_motion(self) -> Motion:
        """The state as a motion."""

    @cached_property
    def motion(self) -> Motion:
        """The position as a motion of one state."""
        return self._as_motion()

    def signals(self, *names: str) -> dict[str, float]:
        """Values of signals by name; of all by default."""
        found = self.motion.signals(*names)
        return dict(zip(found, found.values[0].tolist(), strict=True))

    def __getitem__(self, name: str):
        """The value of a signal; of a vector an array of three."""
        found = self.motion[name][0]
        return float(found) if found.ndim == 0 else found

    def to_html(self, path: str | Path, **options) -> Path:
        """Where the page of the position was written; options are those of `Motion.to_html`."""
        return self.motion.to_html(path, **options)
