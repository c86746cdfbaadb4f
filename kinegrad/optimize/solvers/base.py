"""What a solver is: a search that sees scaled numbers and functions of them, and nothing else."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from kinegrad.errors import KinegradError

EQUAL = 1e-12  # limits that are nearer than this, beside their size, are an equation


class Task(Protocol):
    """What a solver is given: a function to make small, bounds, and constraints between limits."""

    n: int
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def constraint_limits(self) -> tuple[np.ndarray, np.ndarray]: ...

    def value(self, x: np.ndarray) -> float: ...

    def gradient(self, x: np.ndarray) -> np.ndarray: ...

    def constraints(self, x: np.ndarray) -> np.ndarray: ...

    def jacobian(self, x: np.ndarray) -> np.ndarray: ...

    def hessian_product(self, x: np.ndarray, v: np.ndarray, multipliers: np.ndarray | None) -> np.ndarray: ...


@dataclass(frozen=True)
class Ended:
    """How a search ended.

    Attributes
    ----------
    x : (n,) array
        Where.
    message : str
        What the solver says.
    limited : bool
        It ended because of a limit of iterations.
    """

    x: np.ndarray
    message: str
    limited: bool = False


class Solver(ABC):
    """One way to search; a new one is a file and its place in `SOLVERS`."""

    name: ClassVar[str]
    #: it takes nonlinear constraints
    constrained: ClassVar[bool] = False
    #: and one more variable that is to be small and above several goals; else it gets a smooth largest of these
    epigraph: ClassVar[bool] = True
    #: and equations among them
    equations: ClassVar[bool] = True
    #: it needs residuals instead of one number: `residuals(x)` and `residual_jacobian(x)` of the task
    squares: ClassVar[bool] = False
    #: it keeps within bounds
    bounded: ClassVar[bool] = True
    #: it can use products with second derivatives: "exact" in the place of approximations of its own
    second: ClassVar[bool] = False
    #: the module it needs, and the extra that installs it
    needs: ClassVar[tuple[str, str] | None] = None

    def __init__(self, exact: bool = False):
        self.exact = exact

    @abstractmethod
    def solve(self, task: Task, tolerance: float, max_evaluations: int) -> Ended:
        """The search from ``task.start``."""

    @classmethod
    def takes_epigraph(cls) -> bool:
        """Whether the largest of several goals is made small by one more variable above them all (OPT-7)."""
        return cls.constrained and cls.epigraph

    @classmethod
    def library(cls):
        """The module that the solver needs, if any; a sentence on how to install it where it is missing."""
        if cls.needs is None:
            return None
        module, extra = cls.needs
        try:
            return importlib.import_module(module)
        except ImportError:
            raise KinegradError(
                f"The solver {cls.name!r} needs {module}, which is not installed; run: pip install 'kinegrad[{extra}]'."
            ) from None


def split(task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which constraints are equations, and which have a lowest and a highest value."""
    low, high = task.constraint_limits
    both = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        equal = both & (high - low <= EQUAL * np.maximum(1.0, np.abs(low)))
    return equal, np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
