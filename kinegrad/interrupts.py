"""Ctrl-C at a good moment: between two pieces of work, so that what was done is not lost; and signals that end a process so."""

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


class Endings:
    """A context in which SIGTERM, as `timeout` and batch systems send it, and SIGHUP of a terminal that closes come as Ctrl-C.

    Signals that are ignored, as under `nohup`, or that somebody else listens to stay so. `came` is the number of the last one.
    """

    NAMES = ("SIGTERM", "SIGHUP")

    def __init__(self):
        self.came = 0
        self._before: dict = {}

    def __enter__(self) -> Endings:
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in self.NAMES if hasattr(signal, name)]
            self._before = {
                number: signal.signal(number, self._note)
                for number in numbers
                if signal.getsignal(number) is signal.SIG_DFL
            }
        return self

    def __exit__(self, *_) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, frame) -> None:
        self.came = number
        interrupted = signal.getsignal(signal.SIGINT)
        if callable(interrupted):
            interrupted(signal.SIGINT, frame)
        else:  # in the background of a shell, interrupts are ignored
            raise KeyboardInterrupt
