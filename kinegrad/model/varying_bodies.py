"""Bodies whose masses or inertias follow some parameters: values with which one has none that a body can have."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.expressions.graph import Graph, scalarise_number
from kinegrad.expressions.maps import GraphMap
from kinegrad.expressions.syntax import Expression
from kinegrad.model.bodies import Body
from kinegrad.model.check_values import find_in_bodies
from kinegrad.model.evaluation import Evaluation
from kinegrad.model.parameters import Parameters

if TYPE_CHECKING:
    from kinegrad.model.model import Model


class VaryingBodies:
    """Those that the parameters `labels` change.

    Attributes
    ----------
    names : list of str
    behind : list of str
        Labels of all parameters that their masses and inertias follow.
    """

    def __init__(self, model: Model, parameters: Parameters, labels: Iterable[str]):
        labels, behind = set(labels), set()
        self.model, self.parameters, self.names = model, parameters, []
        for name, body in model.bodies.items():
            own = set().union(*(parameters.behind(number) for number in _masses(body)))
            if own & labels:
                self.names.append(name)
                behind |= own
        self.behind = sorted(behind)
        self._evaluation: Evaluation | None = None
        self._lock = threading.Lock()  # of the values that it uses
        self._sizes = self._positive() if self.names else None

    def _positive(self) -> GraphMap | None:
        """Masses and principal moments that are expressions, as functions of all parameters: if they are positive all is well.
        None where a tensor has other entries, so that its moments are no single numbers."""
        bodies = [self.model.bodies[name] for name in self.names]
        if any(isinstance(body.inertia, tuple) and any(x != 0.0 for x in body.inertia[3:]) for body in bodies):
            return None
        graph = Graph()
        resolve = self.parameters.resolve(graph)
        numbers = [x for body in bodies for x in _masses(body, moments=3) if isinstance(x, Expression)]
        inputs = [graph.input(label) for label in self.parameters.independent]
        return GraphMap([scalarise_number(number, graph, resolve) for number in numbers], inputs)

    def refuse(self, rho: np.ndarray) -> None:
        """Raises where a body would have a mass or an inertia that no body has, with these values of all parameters."""
        if not self.names or (self._sizes is not None and (self._sizes(rho).real > 0.0).all()):
            return
        known = dict(zip(self.parameters.independent, rho.tolist(), strict=True))
        with self._lock:
            if self._evaluation is None:
                self._evaluation = Evaluation(self.model)
            self._evaluation.use({label: known[label] for label in self.behind})
            for _, sentence in find_in_bodies(self.model, self._evaluation, self.names):
                raise KinegradError(sentence)


def _masses(body: Body, moments: int = 6) -> Iterator[Any]:
    """Numbers of the masses and inertias of a body, of a tensor so many."""
    inertia = body.inertia
    yield body.mass
    yield from inertia[:moments] if isinstance(inertia, tuple) else (inertia.along, inertia.across)
    yield from (point.mass for point in body.point_masses.values())
