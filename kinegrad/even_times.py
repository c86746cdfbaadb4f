"""Times and sizes of even steps, without arrays of them."""

from __future__ import annotations

import numpy as np


class EvenSteps:
    """Sizes of steps that are all alike but the last: an array that takes no memory; slices of it are arrays."""

    def __init__(self, step: float, count: int, rest: float = 0.0):
        self.step, self.rest = step, rest
        self.count = count + (rest > 0.0)

    @classmethod
    def that_meet(cls, t_end: float, step: float) -> EvenSteps:
        """Steps from 0 to t_end, the last one shortened."""
        whole = int(np.floor(t_end / step * (1.0 + 1e-12)))
        rest = t_end - whole * step
        return cls(step, whole, rest if rest > 1e-9 * step else 0.0)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, key):
        k = range(self.count)[key]
        if not isinstance(k, range):
            return float(self._last() if k == self.count - 1 else self._usual(k))
        found = self._usual(np.arange(k.start, k.stop, k.step))
        if k and k[-1] == self.count - 1:
            found[-1] = self._last()
        elif k and k[0] == self.count - 1:
            found[0] = self._last()
        return found

    def _usual(self, k):
        """Entries k, as if none was the last."""
        return np.full(len(k), self.step) if isinstance(k, np.ndarray) else self.step

    def _last(self) -> float:
        """The last entry."""
        return self.rest if self.rest > 0.0 else self.step

    def __array__(self, dtype=None, copy=None):
        return self[:].astype(dtype or float)

    def until(self, count: int) -> EvenSteps:
        """The first `count` of them."""
        return self if count == self.count else EvenSteps(self.step, count)


class EvenTimes(EvenSteps):
    """The times between such steps, from 0 to the end."""

    def __init__(self, step: float, steps: int, end: float):
        super().__init__(step, steps + 1)
        self.end = end

    def _usual(self, k):
        return k * self.step

    def _last(self) -> float:
        return self.end

    def until(self, count: int) -> EvenTimes:
        """Those of the first `count` steps."""
        return self if count + 1 == self.count else EvenTimes(self.step, count, count * self.step)
