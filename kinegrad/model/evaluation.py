"""The numbers of a model at the parameter values of the file, or of a variant."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from kinegrad.errors import ExpressionError, ModelError
from kinegrad.expressions.graph import Graph, evaluate, scalarise_number
from kinegrad.expressions.syntax import Expression
from kinegrad.model.parameters import Parameters

if TYPE_CHECKING:
    from kinegrad.model.model import Model


class Evaluation:
    """Values of numbers, also when some parameters have problems: what depends on these has no value.

    Attributes
    ----------
    parameters : Parameters
        Those without problems.
    unknown : set of str
        Those with problems, or in `hidden`.
    """

    def __init__(self, model: Model, hidden: Collection[str] = ()):
        definitions = dict(model.parameters)
        self.unknown = set(hidden)
        while problems := (parameters := Parameters(definitions)).problems():
            bad = {problem.where.removeprefix("parameters.").split("[")[0] for problem in problems}
            self.unknown |= bad
            definitions = {name: value for name, value in definitions.items() if name not in bad}
        self.parameters = parameters
        self._graph = Graph()
        self._resolve = parameters.resolve(self._graph)
        self._scalars: dict[Expression, Any] = {}
        self.use({})

    def use(self, values: Mapping[str, Any]) -> None:
        """Take these values of parameters (those that can be set) from now on."""
        rho = self.parameters.values({name: value for name, value in values.items() if self._can_set(name, value)})
        self._inputs = dict(zip(self.parameters.independent, rho, strict=True))

    def _can_set(self, name: str, value: Any) -> bool:
        try:
            self.parameters.values({name: value})
        except ModelError:
            return False
        return True

    def check_index(self, name: str, index: int | None) -> None:
        """Raise an ExpressionError when parameter `name` has no entry `index`, or needs one and has none."""
        if name not in self.unknown:
            self._resolve(name, index)

    def value(self, number: float | Expression) -> float:
        """Value of a number; nan when it has none, be it for want of a parameter or because it is infinite."""
        if not isinstance(number, Expression):
            return number
        if number not in self._scalars:
            try:
                self._scalars[number] = scalarise_number(number, self._graph, self._resolve)
            except ExpressionError:
                self._scalars[number] = None
        scalar = self._scalars[number]
        if scalar is None:
            return math.nan
        used = {x: self._inputs[self._graph.payload[x.index]] for x in self._graph.inputs_of(scalar)}
        value = evaluate([scalar], used)[0]
        return value if math.isfinite(value) else math.nan

    def vector(self, numbers: tuple) -> list[float]:
        """Values of several numbers."""
        return [self.value(number) for number in numbers]

    def knows(self, number: float | Expression) -> bool:
        """Whether all that `number` mentions is known, so that it should have a value."""
        self.value(number)
        return self._scalars.get(number, True) is not None
