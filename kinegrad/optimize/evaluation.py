"""Evaluation: what is known of one design; and the few that are remembered."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REMEMBERED = 16
WITH_RESULTS = 2  # of these, that keep their motions: for a gradient that is asked for later


@dataclass(eq=False)
class Evaluation:
    """One design.

    Attributes
    ----------
    number : int
        Counts from 1 within a search.
    x : (n,) array
        What the solver sees of the variables.
    parameters : dict name -> value
    status : str
        "ok", or "failed".
    problem : str
        Why it failed.
    reached : float
        Of one that cannot be assembled: the part of the way from the nearest good design that can.
    objectives : dict name -> value
        Of the model, ``name@case`` where there are cases.
    goals : (g,) array
        What is minimised, then the constraints; in their own units.
    jacobian : (g, n) array or None
        Derivatives of the goals by the variables, in units of both; None until they are asked for.
    residuals, residual_jacobian : (r,) and (r, n) arrays or None
        Of a study with residuals: differences from the data over their deviations, and their derivatives.
    seconds : float
    """

    number: int
    x: np.ndarray
    values: np.ndarray
    parameters: dict
    status: str = "ok"
    problem: str = ""
    reached: float = 0.0
    objectives: dict[str, float] = field(default_factory=dict)
    goals: np.ndarray | None = None
    jacobian: np.ndarray | None = None
    residuals: np.ndarray | None = None
    residual_jacobian: np.ndarray | None = None
    seconds: float = 0.0
    positions: dict[str, np.ndarray] = field(default_factory=dict)
    found: dict | None = None
    margin: Any = None

    @property
    def ok(self) -> bool:
        """Whether the design works."""
        return self.status == "ok"


class Memory:
    """The last evaluations, by the bytes of x."""

    def __init__(self):
        self._known: OrderedDict[bytes, Evaluation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, x: np.ndarray) -> Evaluation | None:
        """The evaluation at just this x, if it is remembered."""
        key = x.tobytes()
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def put(self, evaluation: Evaluation) -> None:
        """Remember an evaluation, and forget the oldest."""
        self._known[evaluation.x.tobytes()] = evaluation
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        for old in list(self._known.values())[:-WITH_RESULTS]:
            old.found = old.margin = None

    def good(self) -> list[Evaluation]:
        """The remembered ones that worked, oldest first."""
        return [found for found in self._known.values() if found.status == "ok"]
