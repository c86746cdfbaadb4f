"""What a study file says: frozen elements, as those of a model, without knowledge of the model it is about."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from kinegrad.errors import ExpressionError
from kinegrad.expressions.graph import Graph, evaluate, scalarise_number
from kinegrad.expressions.syntax import Expression
from kinegrad.model.element import Element, closest
from kinegrad.model.simulation import Simulation
from kinegrad.model.tables import read_columns
from kinegrad.model.values import (
    TABLE,
    ConstantOrConstants,
    FrozenDict,
    Title,
    list_of,
    show,
    to_constant,
)
from kinegrad.optimize.goals import parse_goal

MOST = 10**6  # starts, points, evaluations
LOOSEST = 0.1  # tolerance of a solver


def to_float(value: Any) -> float:
    """A number, or a text that spells a constant, as a float."""
    number = to_constant(value)
    if not isinstance(number, Expression):
        return number
    graph = Graph()
    return float(evaluate([scalarise_number(number, graph, None)], {})[0])


def _listed(value: Any) -> Any:
    """Arrays of numpy as lists, its numbers as those of Python; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def _limit(value: Any) -> float | tuple[float | None, ...] | None:
    """One side of bounds: a number, nothing, or a list of these."""
    value = _listed(value)
    if isinstance(value, list | tuple):
        return tuple(None if entry is None else to_float(entry) for entry in value)
    return None if value is None else to_float(value)


def _bounds(value: Any) -> tuple:
    value = _listed(value)
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"is {show(value)}; a pair [lowest, highest] is needed (null where there is none).")
    return tuple(_limit(side) for side in value)


def _start(value: Any) -> float | tuple[float, ...]:
    value = _listed(value)
    return tuple(map(to_float, value)) if isinstance(value, list | tuple) else to_float(value)


def _scale(value: Any) -> float | tuple[float, ...] | str:
    if isinstance(value, str) and value == "log":
        return value
    if isinstance(value, str) and value.strip().isalpha():
        raise ValueError(f"is {show(value)}; a number, a list of numbers or log is needed.")
    found = _start(value)
    for entry in found if isinstance(found, tuple) else (found,):
        if not entry > 0.0:
            raise ValueError(f"is {show(value)}; a scale is larger than zero.")
    return found


def _positive(value: Any) -> float:
    found = to_float(value)
    if not found > 0.0:
        raise ValueError(f"is {show(value)}; a number larger than zero is needed.")
    return found


def _tolerance(value: Any) -> float:
    found = _positive(value)
    if found > LOOSEST:
        raise ValueError(f"is {show(value)}, with which nearly every design is an optimum; give at most {LOOSEST:g}.")
    return found


def _file(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(f"is {show(value)}; the name of a file is needed (put it in quotes).")
    return value


def _count(value: Any) -> int:
    value = _listed(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise ValueError(f"is {show(value)}; a whole number from 1 to {MOST} is needed.")
    return value


def _seed(value: Any) -> int:
    value = _listed(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"is {show(value)}; a whole number from 0 is needed.")
    return value


def _goal(value: Any):
    try:
        return parse_goal(value)
    except ExpressionError as error:
        raise ValueError(f"is {show(value)}, which is not an expression: {error.problems[0].sentence}") from None


Float = Annotated[float, PlainValidator(to_float)]
Positive = Annotated[float, PlainValidator(_positive)]
Loose = Annotated[float, PlainValidator(_tolerance)]
File = Annotated[str, PlainValidator(_file)]
Count = Annotated[int, PlainValidator(_count)]
Seed = Annotated[int, PlainValidator(_seed)]
Goal = Annotated[Any, PlainValidator(_goal)]
Goals = Annotated[tuple[Goal, ...], list_of(None, "a list of objectives or expressions")]
Values = Annotated[dict[str, ConstantOrConstants], TABLE, AfterValidator(FrozenDict)]


def _changes(value: Any) -> FrozenDict:
    if not isinstance(value, dict):
        raise ValueError(f"is {show(value)}; a mapping with keys of the simulation section is needed.")
    known = [*Simulation.key_names(), "body_point"]
    for key in value:
        if key not in known:
            raise ValueError(f"has the unknown key {show(key)}{closest(key, known)}. Keys here: {', '.join(known)}.")
    return FrozenDict(value)


SimulationChanges = Annotated[Any, PlainValidator(_changes)]


def _ordinates(value: Any) -> int | tuple[float, ...]:
    return tuple(map(to_float, value)) if isinstance(value, list | tuple) else _count(value)


Ordinates = Annotated[Any, PlainValidator(_ordinates)]


class Variable(Element):
    """A parameter of the model that a study may change."""

    bounds: Annotated[tuple, PlainValidator(_bounds)] = Field(
        (None, None), description="the lowest and the highest value, null for none; each may be a list for a list"
    )
    start: Annotated[Any, PlainValidator(_start)] = Field(
        None, description="the value the search starts from; that of the model by default"
    )
    scale: Annotated[Any, PlainValidator(_scale)] = Field(
        None, description="a usual change, by which the solver's number is divided; or log"
    )


class Constraint(Element):
    """An expression that has to keep within limits."""

    value: Goal = Field(description="an expression in objectives and parameters")
    at_least: Float | None = Field(None, description="the lowest value allowed")
    at_most: Float | None = Field(None, description="the highest value allowed")
    equals: Float | None = Field(None, description="the value it must have")
    scale: Positive | None = Field(None, description="what it is divided by for the solver")

    @model_validator(mode="after")
    def _limits(self):
        given = [key for key in ("at_least", "at_most", "equals") if getattr(self, key) is not None]
        if not given:
            raise ValueError("has no limit; give at_least, at_most or equals.")
        if "equals" in given and len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; equals stands alone.")
        if len(given) == 2 and self.at_least > self.at_most:
            raise ValueError(f"is at least {self.at_least:g} and at most {self.at_most:g}; exchange the two.")
        return self

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value; infinite where there is none."""
        if self.equals is not None:
            return self.equals, self.equals
        low, high = self.at_least, self.at_most
        return (float("-inf") if low is None else low), (float("inf") if high is None else high)


class Minimise(Element):
    """What shall be small: an expression, or the largest of several."""

    value: Goal | None = Field(None, description="an objective, or an expression in objectives and parameters")
    largest_of: Goals | None = Field(None, description="expressions of which the largest counts")
    scale: Positive | None = Field(None, description="what it is divided by for the solver")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.value is None) == (self.largest_of is None):
            raise ValueError("needs either value or largest_of.")
        if self.largest_of is not None and len(self.largest_of) < 2:
            raise ValueError(f"has {len(self.largest_of)} entries in largest_of; give at least two.")
        return self


class SolverChoice(Element):
    """How the search is done."""

    type: str = Field("slsqp", description="the solver")
    tolerance: Loose = Field(1e-8, description="where the search ends, in scaled units")
    max_evaluations: Count = Field(500, description="designs that are tried at most")
    gradient: Literal["auto", "direct", "discrete-adjoint", "adjoint"] = Field(
        "auto", description="how objectives are differentiated; auto takes the cheaper"
    )
    hessian: Literal["approximate", "exact"] = Field(
        "approximate", description="exact: products with second derivatives, for solvers that take them"
    )


class Case(Element):
    """One of several simulations of the model."""

    variant: str | None = Field(None, description="a variant of the model")
    set: Values = Field(default_factory=FrozenDict, description="values of parameters")
    simulation: SimulationChanges = Field(default_factory=FrozenDict, description="keys of the simulation section")
    weight: Positive = Field(1.0, description="its share where an objective is named without a case")


class Stage(Element):
    """One of several searches, each from the optimum of the one before."""

    simulation: SimulationChanges = Field(default_factory=FrozenDict, description="keys of the simulation section")
    set: Values = Field(default_factory=FrozenDict, description="values of parameters")
    ordinates: Annotated[dict[str, Ordinates], TABLE] = Field(
        default_factory=dict,
        description="entries of lists that make splines or tables: how many, evenly spaced, or their abscissas",
    )
    solver: Annotated[dict[str, Any], TABLE] = Field(
        default_factory=dict, description="keys of the solver that take other values"
    )


class Many(Element):
    """What is done many times: how it is drawn, and where it runs."""

    seed: Seed = Field(1, description="the seed of the draw")
    workers: Count = Field(1, description="processes that work at the same time")
    backend: Literal["processes", "threads", "serial", "dask"] | None = Field(
        None, description="where they run; processes when there are several workers, dask with a scheduler"
    )
    scheduler: str | None = Field(None, description="address of a Dask scheduler, or local")

    @model_validator(mode="after")
    def _one_place(self):
        if self.scheduler is not None and self.backend not in (None, "dask"):
            raise ValueError(f"has a scheduler and backend: {self.backend}; a scheduler goes with dask: leave one out.")
        return self


class Multistart(Many):
    """Searches from many designs."""

    starts: Count = Field(description="how many")
    sampler: Literal["sobol"] = Field("sobol", description="how they are drawn inside the bounds")
    keep: Count = Field(5, description="optima that are reported")


class Sweep(Many):
    """Designs that are only looked at."""

    type: Literal["grid", "sobol", "monte-carlo"] = Field(description="grid, sobol or monte-carlo")
    points: Count = Field(description="designs in all; of a grid, along each variable")

    @model_validator(mode="after")
    def _several(self):
        if self.points < 2:
            raise ValueError("has points: 1; give at least two.")
        return self


class AssemblyMargin(Element):
    """How far designs keep off those that cannot be assembled."""

    at_least: Positive = Field(description="the smallest singular value allowed, of scaled closing equations")


class Front(Element):
    """Designs of which none is better in every goal than another."""

    goals: Goals = Field(description="objectives or expressions that all shall be small")
    points: Count = Field(12, description="designs that are looked for")
    method: Literal["limits", "nsga2"] | None = Field(
        None,
        description="limits on the second goal, with gradients; or nsga2, a population without; by the number of goals",
    )
    seed: Seed = Field(1, description="the seed of a population")

    @model_validator(mode="after")
    def _several(self):
        if len(self.goals) < 2:
            raise ValueError(f"has {'one goal' if self.goals else 'no goals'}; give at least two.")
        if self.method == "limits" and len(self.goals) > 2:
            raise ValueError(f"has {len(self.goals)} goals, and method limits takes two; leave one out, or take nsga2.")
        if self.points < 2:
            raise ValueError("has points: 1; give at least two.")
        return self

    @property
    def how(self) -> str:
        """The method, chosen by the number of goals where none is given."""
        return self.method or ("limits" if len(self.goals) == 2 else "nsga2")


class Tolerance(Element):
    """How far a parameter of a finished part may be off."""

    sigma: Positive | None = Field(None, description="standard deviation of a normal distribution")
    half_width: Positive | None = Field(None, description="half the width of a uniform distribution")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.sigma is None) == (self.half_width is None):
            raise ValueError("needs either sigma or half_width.")
        return self

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return self.sigma if self.sigma is not None else self.half_width / 3.0**0.5


def _numbers_or_column(value: Any) -> tuple[float, ...] | str:
    if isinstance(value, str):
        return value
    value = _listed(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"is {show(value)}; a list of numbers is needed, or with data the name of a column.")
    return tuple(map(to_float, value))


def _sigma(value: Any) -> float | tuple[float, ...] | str:
    value = _listed(value)
    found = _numbers_or_column(value) if isinstance(value, list | tuple) else value
    if isinstance(found, str):
        return found
    found = found if isinstance(found, tuple) else to_float(found)
    for entry in found if isinstance(found, tuple) else (found,):
        if not entry > 0.0:
            raise ValueError(f"is {show(value)}; a standard deviation is larger than zero.")
    return found


class Residual(Element):
    """A signal that was measured, which the model shall follow."""

    signal: str = Field(description="the signal, as `kinegrad signals` lists it, or a measure")
    data: str | None = Field(None, description="a CSV file with a line of names first, its path seen from the study")
    t: Annotated[Any, PlainValidator(_numbers_or_column)] = Field(
        None, description="times [s]; with data, the name of their column (t by default)"
    )
    values: Annotated[Any, PlainValidator(_numbers_or_column)] = Field(
        None, description="measured values; with data, the name of their column (that of the signal by default)"
    )
    sigma: Annotated[Any, PlainValidator(_sigma)] = Field(
        None, description="their standard deviation: one number, one for each, or with data the name of a column"
    )
    missing: Literal["refuse", "skip"] = Field(
        "refuse",
        description="with data, lines without a number in one of these columns: refuse them, or leave them out",
    )
    case: str | None = Field(None, description="the case in which it was measured")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        """The columns of the file in the place of their names: the study then holds all numbers itself."""
        if not isinstance(data, dict):
            return data
        if data.get("data") is None:
            if data.get("missing") == "skip":
                raise ValueError("has missing: skip and no data; it is for files, leave it out.")
            return data
        if not isinstance(data["data"], str):
            raise ValueError(f"has data: {show(data['data'])}; name a CSV file, or give lists t and values instead.")
        columns = {"t": data.get("t", "t"), "values": data.get("values", data.get("signal"))}
        if isinstance(data.get("sigma"), str):
            columns["sigma"] = data["sigma"]
        for key, column in columns.items():
            if not isinstance(column, str):
                raise ValueError(f"has data and {key}: {show(column)}; name the column there, or leave data out.")
        missing = data.get("missing", "refuse")
        if missing not in ("refuse", "skip"):
            raise ValueError(f"has missing: {show(missing)}; choose refuse or skip.")
        skip = missing == "skip"
        remedy = "fill it, remove the line, or add missing: skip"
        found = read_columns(data["data"], list(columns.values()), "study", skip=skip, remedy=remedy)
        read = ("data", "missing") if skip else ("data",)
        return {key: value for key, value in data.items() if key not in read} | dict(zip(columns, found, strict=True))

    @model_validator(mode="after")
    def _points(self):
        for key in ("t", "values"):
            given = getattr(self, key)
            if given is None or isinstance(given, str):
                raise ValueError(f"has no numbers for {key}; give data: FILE.csv, or lists t and values.")
        if isinstance(self.sigma, str):
            raise ValueError(f"has sigma: {show(self.sigma)}, the name of a column, and no data; give a number.")
        count = len(self.t)
        if not count:
            raise ValueError("has no data; give at least one time with its value.")
        if len(self.values) != count:
            raise ValueError(f"has {count} times and {len(self.values)} values; give as many of both.")
        if isinstance(self.sigma, tuple) and len(self.sigma) != count:
            raise ValueError(f"has {count} times and {len(self.sigma)} entries of sigma; give as many, or one for all.")
        for k in range(1, count):
            if not self.t[k] > self.t[k - 1]:
                raise ValueError(
                    f"has the time {self.t[k]:g} after {self.t[k - 1]:g}; times have to increase, sort them."
                )
        return self


class Description(Element):
    """A study without its model."""

    title: Title = Field("", description="title of the study")
    analysis: Literal["dynamics", "kinematics", "equilibrium"] = Field("dynamics", description="what is computed")
    variant: str | None = Field(None, description="a variant of the model")
    set: Values = Field(default_factory=FrozenDict, description="values of parameters")
    simulation: SimulationChanges = Field(default_factory=FrozenDict, description="keys of the simulation section")
    cases: Annotated[dict[str, Case], TABLE] = Field(default_factory=dict, description="several simulations by name")
    variables: Annotated[dict[str, Variable], TABLE] = Field(description="parameters that may change")
    minimise: Minimise | None = Field(None, description="what shall be small")
    residuals: Annotated[dict[str, Residual], TABLE] = Field(
        default_factory=dict, description="measured signals by name, whose squared residuals shall be small"
    )
    constraints: Annotated[dict[str, Constraint], TABLE] = Field(default_factory=dict, description="limits by name")
    assembly: AssemblyMargin | None = Field(None, description="a limit that keeps off designs that cannot be assembled")
    solver: SolverChoice = Field(default_factory=SolverChoice, description="how the search is done")
    stages: Annotated[tuple[Stage, ...], list_of(None, "a list of stages")] = Field(
        (), description="searches one after the other"
    )
    multistart: Multistart | None = Field(None, description="searches from many designs")
    sweep: Sweep | None = Field(None, description="designs that are only looked at")
    front: Front | None = Field(None, description="goals of which none is made better without another getting worse")
    tolerances: Annotated[dict[str, Tolerance], TABLE] = Field(default_factory=dict, description="spread of parameters")
    log: File | None = Field(None, description="the file that records every evaluation")

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        """A text is enough for what is minimised and for a solver; an empty section is none."""
        if not isinstance(data, dict):
            return data
        data = {key: value for key, value in data.items() if value is not None}
        if isinstance(data.get("minimise"), str | Expression | float | int):
            data["minimise"] = {"value": data["minimise"]}
        if isinstance(data.get("front"), list | tuple):
            data["front"] = {"goals": data["front"]}
        if isinstance(data.get("solver"), str):
            data["solver"] = {"type": data["solver"]}
        limits = data.get("constraints") or data.get("assembly")
        if data.get("residuals") and not limits and isinstance(data.get("solver", {}), dict):
            data["solver"] = {"type": "least-squares"} | data.get("solver", {})
        for key in ("cases", "variables"):
            if isinstance(data.get(key), dict):
                data[key] = {name: {} if entry is None else entry for name, entry in data[key].items()}
        return data

    @model_validator(mode="after")
    def _aim(self):
        aims = [key for key in ("minimise", "residuals", "front") if getattr(self, key)]
        if not aims:
            raise ValueError("has nothing that shall be small; add minimise: EXPRESSION, residuals, or front.")
        if len(aims) > 1:
            raise ValueError(f"has {' and '.join(aims)}; keep one of them: each says what shall be small.")
        return self
