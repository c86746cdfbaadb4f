"""Expressions in objectives and parameters: what a study minimises and limits, with derivatives (OPT-1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegrad.errors import ExpressionError
from kinegrad.expressions.graph import Graph, Scalar, scalarise_number
from kinegrad.expressions.maps import GraphMap
from kinegrad.expressions.syntax import MAX_LENGTH, Expression
from kinegrad.model.element import closest
from kinegrad.model.parameters import Parameters

WORD = r"[A-Za-z_][A-Za-z0-9_]*"
OF_CASE = re.compile(rf"\b({WORD})@({WORD})", re.ASCII)
DOTTED = re.compile(rf"\b{WORD}(?:\.{WORD})+", re.ASCII)


@dataclass(frozen=True)
class Goal:
    """An expression with its text; an objective of one case is written ``name@case``, and ``name.case`` in the tree."""

    text: str
    expression: Expression

    def __str__(self) -> str:
        return self.text


def parse_goal(value) -> Goal:
    """The goal that a text, a number or an expression spells; an ExpressionError when it spells none."""
    if isinstance(value, Goal):
        return value
    if isinstance(value, bool) or not isinstance(value, str | Expression | int | float):
        raise ExpressionError("Write an objective, or an expression in objectives and parameters.")
    text = str(value)
    if len(text) > MAX_LENGTH:
        Expression.parse(text)  # which refuses it
    found = DOTTED.search(text)
    if found:
        raise ExpressionError(
            f"{found.group()!r} is no objective and no parameter; make it an objective of the model, as in "
            f"objectives: {{name: {{final: {found.group()}}}}}, and use its name."
        )
    return Goal(text, Expression.parse(OF_CASE.sub(r"\1.\2", text)))


class Names:
    """What names in goals stand for: objectives of cases, and parameters of the model."""

    def __init__(
        self, objectives: Sequence[str], parameters: Parameters, cases: Mapping[str, float], varied: Mapping[str, str]
    ):
        """`cases` have weights and are empty when there is one simulation only; `varied` are the labels of parameters that
        have another value in a case, with the name of one."""
        self.objectives, self.parameters, self.cases, self.varied = tuple(objectives), parameters, dict(cases), varied
        labels = (*parameters.independent, *parameters.derived)
        self._parameters = dict.fromkeys(label.partition("[")[0] for label in labels)

    def resolver(self, graph: Graph):
        """What `scalarise_number` asks; inputs of the graph are ``objective@case``, or ``objective``, and parameters."""
        of_parameters = self.parameters.resolve(graph)

        def resolve(dotted: str, index: int | None) -> Scalar:
            name, _, case = dotted.partition(".")
            if name in self.objectives and index is None:
                return self._objective(graph, name, case)
            if case:
                what = "a parameter, which has no cases" if self._is_parameter(name) else "no objective"
                raise ExpressionError(f"{name!r} in {name}@{case} is {what}{closest(name, self.objectives)}.")
            if not self._is_parameter(name):
                known = ", ".join(self.objectives) or "none"
                near = closest(name, [*self.objectives, *self._parameters])
                raise ExpressionError(f"{name!r} is no objective and no parameter{near}; objectives: {known}.")
            found = of_parameters(name, index)
            for x in graph.inputs_of(found):
                label = graph.payload[x.index]
                if label in self.varied:
                    raise ExpressionError(
                        f"the parameter {label!r} has another value in case {self.varied[label]!r}, so {name!r} is not one "
                        "number; use an objective of a case."
                    )
            return found

        return resolve

    def _is_parameter(self, name: str) -> bool:
        return name in self._parameters

    def _objective(self, graph: Graph, name: str, case: str) -> Scalar:
        if case:
            if case not in self.cases:
                known = ", ".join(self.cases) or "none"
                raise ExpressionError(f"there is no case {case!r}{closest(case, self.cases)}; cases: {known}.")
            return graph.input(f"{name}@{case}")
        if not self.cases:
            return graph.input(name)
        terms = [weight * graph.input(f"{name}@{one}") for one, weight in self.cases.items()]
        return sum(terms[1:], terms[0])


class GoalMap:
    """Several goals as a function of objectives and of the independent parameters.

    `objectives` and `parameters` are the names of those that goals use.
    """

    def __init__(self, goals: Sequence[Goal], names: Names):
        graph = Graph()
        resolve = names.resolver(graph)
        outputs = [scalarise_number(goal.expression, graph, resolve) for goal in goals]
        parameters = list(names.parameters.independent)
        used = [graph.payload[x.index] for x in graph.inputs_of(*outputs)] if outputs else []
        known = set(parameters)
        self.objectives = [name for name in used if name not in known]
        self.parameters = [name for name in used if name in known]
        inputs = [graph.input(name) for name in (*self.objectives, *parameters)]
        self._map = GraphMap(outputs, inputs)
        self._partials = self._map.partials()
        self._shape = (len(outputs), len(inputs))

    def values(self, objectives: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """(g,) the goals; not finite where an expression is outside its domain."""
        with np.errstate(all="ignore"):
            return self._map(np.concatenate([objectives, rho]))

    def jacobians(self, objectives: np.ndarray, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(g, o) and (g, r) the derivatives by objectives and by parameters; not to be changed."""
        out = self._constant
        if out is None:
            out = self._matrix(np.concatenate([objectives, rho]))
        return out[:, : len(objectives)], out[:, len(objectives) :]

    def _matrix(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros(self._shape)
        with np.errstate(all="ignore"):
            out[self._partials.rows, self._partials.columns] = self._partials.values(x)
        return out

    @cached_property
    def _constant(self) -> np.ndarray | None:
        """The derivatives where goals are linear."""
        return None if len(self._partials.needed) else self._matrix(np.zeros(self._shape[1]))
