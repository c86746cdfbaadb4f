"""The named numbers of a model: which are free, which follow, and their values."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.expressions.graph import Graph, Scalar, evaluate, scalarise_number
from kinegrad.expressions.syntax import FUNCTIONS, Expression

Number = float | Expression


class Parameters:
    """The parameters of a model, in the order of the file.

    A parameter whose value mentions no other is *independent*: it may be set, and gradients are taken by it. One that
    mentions another is *derived*: it follows. Each entry of a list is a parameter of its own, labelled `u[0]`.

    Parameters
    ----------
    definitions : dict of numbers, expressions or lists of these
        What is wrong in them is told by `problems`; all but the look-up of names raises it as a ModelError.

    Attributes
    ----------
    independent, derived : tuple of str
        Labels such as ``L`` and ``u[0]``. `values` follows the order of `independent`.
    """

    def __init__(self, definitions: Mapping[str, Number | Sequence[Number]]):
        self._entries: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, Number] = {}
        self._lists: set[str] = set()
        for name, value in definitions.items():
            numbers = {name: value}
            if _is_list(value):
                self._lists.add(name)
                numbers = {f"{name}[{i}]": entry for i, entry in enumerate(value)}
            self._entries[name] = tuple(numbers)
            self._numbers |= {k: v if isinstance(v, Expression) else float(v) for k, v in numbers.items()}
        self.independent = tuple(label for label, number in self._numbers.items() if not _references(number))
        self.derived = tuple(label for label, number in self._numbers.items() if _references(number))
        self._position = {label: i for i, label in enumerate(self.independent)}
        self._problems: list[Problem] = []
        self._order: list[str] = []  # of evaluation; labels with problems, and what depends on them, are not in it
        self._nominal: dict[str, float] = {}
        self._analyse()

    def __repr__(self) -> str:
        return f"<Parameters: {len(self.independent)} independent, {len(self.derived)} derived>"

    # --- names ---

    def expand(self, name: str) -> tuple[str, ...]:
        """The labels that `name` stands for: the entries of a list, else the label itself."""
        if name in self._entries:
            return self._entries[name]
        if name in self._numbers:
            return (name,)
        raise ModelError(Problem(self._unknown(name), "parameters"))

    def positions(self, labels: Iterable[str]) -> np.ndarray:
        """Where independent parameters stand in the vector of their values."""
        return np.array([self._position[label] for label in labels], np.int64)

    def _unknown(self, name: str) -> str:
        if not isinstance(name, str):
            return f"{name!r} is no name of a parameter; the parameters are: {', '.join(list(self._entries)[:20]) or 'none'}."
        near = difflib.get_close_matches(name, [*self._entries, *self._numbers], 1)
        base = name.partition("[")[0]
        if name in FUNCTIONS:
            remedy = f"{name!r} is a function when its arguments follow in parentheses."
        elif base in self._lists:
            remedy = f"{base!r} is a list of {len(self._entries[base])} numbers counted from 0."
        elif near:
            remedy = f"did you mean {near[0]!r}?"
        else:
            remedy = f"the parameters are: {', '.join(list(self._entries)[:20]) or 'none'}."
        return f"There is no parameter {name!r}; {remedy}"

    def _label(self, dotted: str, index: int | None) -> str:
        """The label that an expression means by a name; an ExpressionError when it means none."""
        if dotted == "t":
            raise ExpressionError("The time t is not a parameter; only parameters may be used here.")
        if "." in dotted:
            raise ExpressionError(f"{dotted!r} is not a parameter; only parameters may be used here.")
        if dotted not in self._entries:
            raise ExpressionError(self._unknown(dotted))
        entries = self._entries[dotted]
        if dotted not in self._lists:
            if index is not None:
                raise ExpressionError(f"{dotted!r} is a single number; write {dotted} instead of {dotted}[{index}].")
            return dotted
        if index is None:
            raise ExpressionError(
                f"{dotted!r} is a list of {len(entries)} numbers; name one of them, as in {dotted}[0]."
            )
        if index >= len(entries):
            raise ExpressionError(
                f"{dotted}[{index}] is beyond the end of {dotted!r}, which has {len(entries)} entries counted from 0."
            )
        return entries[index]

    # --- what is wrong ---

    def problems(self) -> list[Problem]:
        """What is wrong with the definitions: names, cycles, values that are not finite; empty when nothing is."""
        return list(self._problems)

    def check(self) -> None:
        """Raise a ModelError with all problems, if there are any."""
        if self._problems:
            raise ModelError(*self._problems)

    def _complain(self, label: str, sentence: str) -> None:
        self._problems.append(Problem(f"Parameter {label!r}: {sentence}", f"parameters.{label}"))

    def _analyse(self) -> None:
        """Find the order of evaluation, the values in the file, and the problems."""
        for name, entries in self._entries.items():
            if not entries:
                self._complain(name, "the list is empty; give it at least one number.")
        uses = {}
        for label, number in self._numbers.items():
            try:
                uses[label] = [self._label(*reference) for reference in _references(number)]
            except ExpressionError as error:
                self._complain(label, f"its value {str(number)!r} cannot be used. {error}")
        order = self._sort(uses)

        graph = Graph()
        scalars: dict[str, Scalar] = {}
        for label in order:
            try:
                scalars[label] = self._scalar(label, graph, scalars)
            except KeyError:
                continue  # uses one that has a problem of its own
            except ExpressionError as error:
                self._complain(label, str(error))
        values = evaluate(list(scalars.values()), {})
        for label, value in zip(scalars, values, strict=True):
            if math.isfinite(value):
                self._nominal[label] = value
            elif all(used in self._nominal for used in uses[label]):
                self._complain(label, f"its value {str(self._numbers[label])!r} is {value}; give it a finite one.")
        self._order = [label for label in order if label in self._nominal]

    def _sort(self, uses: dict[str, list[str]]) -> list[str]:
        """The labels such that each stands behind those it uses; cycles become problems."""
        waiting = {label: {u for u in used if u in uses} for label, used in uses.items()}
        users: dict[str, list[str]] = {label: [] for label in uses}
        for label, used in waiting.items():
            for u in used:
                users[u].append(label)
        order = [label for label, used in waiting.items() if not used]
        for label in order:  # grows while it is walked
            for user in users[label]:
                waiting[user].discard(label)
                if not waiting[user]:
                    order.append(user)
        left = {label: used for label, used in waiting.items() if used}
        seen: set[str] = set()
        for start in left:
            path: dict[str, None] = {}
            label = start
            while label not in seen and label not in path:
                path[label] = None
                label = next(u for u in uses[label] if u in left)
            if label in path:
                members = list(path)
                cycle = members[members.index(label) :]
                arrows = " -> ".join([*cycle, label])
                self._complain(label, f"it depends on itself ({arrows}); give one of them a number.")
            seen |= path.keys()
        return order

    # --- values ---

    def values(self, overrides: Mapping[str, float | Expression | Sequence] | None = None) -> np.ndarray:
        """The values rho of the independent parameters, those of the file unless `overrides` gives others.

        Parameters
        ----------
        overrides : dict, optional
            A number for a parameter or an entry ``u[1]``, or as many numbers as the list has for a whole list.
        """
        self.check()
        rho = self._nominal_rho.copy()
        problems = []
        for name, value in (overrides or {}).items():
            plain = self._plain_list(name, value)
            if plain is not None:
                rho[self._list_positions[name]] = plain
                continue
            try:
                for label, number in self._assignments(name, value):
                    rho[self._position[label]] = number
            except ModelError as error:
                problems.extend(error.problems)
        if problems:
            raise ModelError(*problems)
        return rho

    @cached_property
    def _nominal_rho(self) -> np.ndarray:
        return np.array([self._nominal[label] for label in self.independent], np.float64)

    @cached_property
    def _list_positions(self) -> dict[str, np.ndarray]:
        """Where the lists stand whose every entry is independent."""
        known = {name: self._entries[name] for name in self._lists}
        return {
            name: self.positions(labels) for name, labels in known.items() if all(x in self._position for x in labels)
        }

    def _plain_list(self, name: str, value) -> np.ndarray | None:
        """The finite numbers for a whole list, if nothing else is given and nothing is wrong with them."""
        if name not in self._list_positions or not _is_list(value):
            return None
        try:
            numbers = np.asarray(value)
        except ValueError:
            return None
        fits = numbers.shape == self._list_positions[name].shape and numbers.dtype.kind in "fiu"
        return numbers if fits and np.isfinite(numbers).all() else None

    def _assignments(self, name: str, value) -> Iterable[tuple[str, float]]:
        labels = self.expand(name)
        where = f"parameters.{name}"
        if name in self._lists:
            if not _is_list(value) or len(value) != len(labels):
                found = f"{len(value)}" if _is_list(value) else f"the single value {value}"
                raise ModelError(
                    Problem(f"Parameter {name!r} is a list of {len(labels)} numbers, found {found}; give all.", where)
                )
            numbers = list(value)
        else:
            numbers = [value]
        for label, number in zip(labels, numbers, strict=True):
            if label not in self._position:
                used = ", ".join(sorted({self._label(*r) for r in _references(self._numbers[label])}))
                raise ModelError(
                    Problem(
                        f"Parameter {label!r} is derived ({self._numbers[label]}) and follows {used}; "
                        "set these instead, or make it a number in the model.",
                        where,
                    )
                )
            yield label, self._plain(label, number, where)

    def _plain(self, label: str, number, where: str) -> float:
        """The float that an override means."""
        try:
            value = float(self.evaluate(number)) if not _references(number) else math.nan
        except (TypeError, ValueError, ExpressionError):
            value = math.nan
        if not math.isfinite(value):
            raise ModelError(Problem(f"Parameter {label!r} cannot be set to {number}; give a number.", where))
        return value

    def evaluate(self, number: Number, rho: np.ndarray | None = None) -> float:
        """The value of a number or an expression in parameters, at the values of the file unless `rho` gives others."""
        return self.evaluate_all([number], rho)[0]

    def evaluate_all(self, numbers: Iterable[Number], rho: np.ndarray | None = None) -> list[float]:
        """The value of each of several numbers or expressions in parameters, as `evaluate` gives it."""
        numbers = list(numbers)
        expressions = [number for number in numbers if isinstance(number, Expression)]
        if not expressions:
            return [float(number) for number in numbers]
        graph = Graph()
        resolve = self.resolve(graph)
        scalars = [scalarise_number(number, graph, resolve) for number in expressions]
        rho = self.values() if rho is None else rho
        found = iter(evaluate(scalars, dict(zip(self.independent, rho, strict=True))))
        return [next(found) if isinstance(number, Expression) else float(number) for number in numbers]

    def behind(self, number: Number) -> set[str]:
        """Labels of the independent parameters that a number or an expression depends on."""
        if not isinstance(number, Expression):
            return set()
        graph = Graph()
        used = graph.inputs_of(scalarise_number(number, graph, self.resolve(graph)))
        return {graph.payload[x.index] for x in used}

    # --- expressions in parameters ---

    def resolve(self, graph: Graph) -> Callable[[str, int | None], Scalar]:
        """A resolver for `scalarise`: independent parameters are inputs of `graph`, derived ones are expanded."""
        self.check()
        scalars: dict[str, Scalar] = {}
        for label in self._order:
            independent = label in self._position
            scalars[label] = graph.input(label) if independent else self._scalar(label, graph, scalars)
        return lambda dotted, index: scalars[self._label(dotted, index)]

    def _scalar(self, label: str, graph: Graph, scalars: dict[str, Scalar]) -> Scalar:
        """The scalar of a definition, with `scalars` for the parameters it uses."""
        number = self._numbers[label]
        if not isinstance(number, Expression):
            return graph.constant(number)
        return scalarise_number(number, graph, lambda dotted, index: scalars[self._label(dotted, index)])


def _is_list(value) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _references(number: Number) -> tuple[tuple[str, int | None], ...]:
    return number.references if isinstance(number, Expression) else ()
