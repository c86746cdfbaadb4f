"""The motion that a served page shows: its scene, further signals of it, and what takes its place when parameters change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kinegrad.errors import KinegradError
from kinegrad.page.curves import listed, refuse_unknown, series_of
from kinegrad.page.replay import chosen_rows
from kinegrad.page.scene import FRAMES, scene
from kinegrad.page.server import sliders


class LiveMotion:
    """A motion with a number, so that signals of another one are not taken for its own.

    Parameters
    ----------
    again : callable
        ``again(values, progress)`` gives the motion of other values of parameters.
    beside : Motion, sequence of them, or mapping of labels to them
        Motions that stay beside it.
    """

    def __init__(self, motion, again: Callable, *, folder: Path, signals: str | Sequence[str] = (), beside=()):
        self.motion, self.again = motion, again
        self.folder, self.asked, self.beside = folder, signals, beside
        self.number = 0

    def document(self) -> dict:
        """The scene of the page as it is served."""
        live = {"parameters": sliders(self.motion.system), "motion": self.number}
        return self._scene(beside=self.beside) | {"live": live}

    def simulate(self, values: dict[str, float], progress) -> dict:
        """The scene of other values of parameters."""
        self.motion = self.again(values, progress)
        self.number += 1
        return self._scene()

    def signals(self, names: Sequence[str], number: int) -> list[dict]:
        """Series of the motion with that number, which has to be the one at hand."""
        if number != self.number:
            raise KinegradError("another page has simulated since; move a slider, and choose the signal again.")
        names = refuse_unknown(self.motion, names)
        return series_of(self.motion, names, chosen_rows(self.motion.t, FRAMES))

    def _scene(self, **options) -> dict:
        found = scene(self.motion, folder=self.folder, signals=self.asked, **options)
        return found | {"offered": listed(self.motion), "motion": self.number}
