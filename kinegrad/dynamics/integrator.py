"""What an integrator offers to a scheme: its method in compiled code, what it keeps beside the state, how it sums integrals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from kinegrad.kernels.formulations.arguments import Rule
from kinegrad.kernels.formulations.runge_kutta import NONE, Tableau

#: values (k,) at the times (k,) and states q, qd, qdd, lam by name
Integrand = Callable[[np.ndarray, dict[str, np.ndarray]], np.ndarray]


def trapezoidal(hs: np.ndarray, g: np.ndarray) -> np.ndarray:
    """(steps,) integrals over steps hs from the values at their ends."""
    return 0.5 * hs * (g[1:] + g[:-1])


class Integrator(ABC):
    """One integrator with its options, and what it carries through a run."""

    #: it needs no equations solved at the end of a step
    explicit: bool
    #: it chooses its steps
    adaptive = False
    #: what makes a run with it more accurate
    finer = "smaller steps"
    #: stages of a step, the state before it included, and their coefficients; implicit ones have none
    tableau: Tableau = NONE
    #: constants of the Newmark family; explicit ones have none
    family = np.zeros(5)
    #: it has accelerations of its own beside those of the state, the last part of rows and variations
    extended = False

    def __init__(self, options: dict):
        self.options = options

    @property
    def rule(self) -> Rule:
        """The integrator for compiled derivatives."""
        return Rule(self.explicit, self.tableau, self.family)

    @abstractmethod
    def method(self, allowed: int, coordinates: int, psi: np.ndarray, control: np.ndarray):
        """The integrator for compiled steps: `Implicit`, with so many iterations allowed, or `Explicit`."""

    @abstractmethod
    def start_weight(self, hs: np.ndarray) -> float:
        """Weight of the start in an integral over the steps hs, as far as the sweeps do not count it."""

    @abstractmethod
    def integrals(self, ts, hs, rows, size: int, values: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """(steps,) integrals over the steps hs between rows with stages of a size, of `values(times, rows)`, by the rule that
        objectives are summed with."""

    # --- what it carries; nothing, if it is not said otherwise ---

    def begin(self, acceleration: np.ndarray) -> None:  # noqa: B027
        """Make ready for the first step, from these accelerations."""

    def keep(self, row: np.ndarray) -> None:  # noqa: B027
        """Fill the end of a row."""

    def resume(self, row: np.ndarray, acceleration: np.ndarray) -> None:  # noqa: B027
        """Take up what a row with these accelerations holds."""

    def restart(self, acceleration: np.ndarray) -> None:  # noqa: B027
        """Other coordinates are integrated from here on."""

    def shift(self, change: np.ndarray) -> None:  # noqa: B027
        """The accelerations have jumped."""

    def memory(self) -> list[np.ndarray]:
        """Arrays in which a step leaves something to the next one."""
        return []
