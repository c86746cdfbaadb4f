"""Ctrl-C at a good moment: between two pieces of work, so that what was done is not lost."""

from __future__ import annotations

import signal
import threading


class Interrupts:
    """A context in which the first Ctrl-C is noted in `came`; the second ends what is done at once.

    What takes no longer than a blink need not `listen`: an interrupt comes right after it.

    Only the main thread hears of it, and only if nobody else listens; elsewhere nothing changes.
    """

    def __init__(self, listen: bool = True):
        self.came, self._listen = False, listen
        self._before = None

    def __enter__(self) -> Interrupts:
        here = self._listen and threading.current_thread() is threading.main_thread()
        if here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, *_) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
