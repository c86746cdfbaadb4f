"""What `run` and `gradient` do unless told otherwise: time, coordinate set, formulation, integrator.

Numbers may be expressions in parameters; they are not differentiated.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from kinegrad.model.element import Element, by_type
from kinegrad.model.values import NUMBER_SCHEMA, Number, show, to_number

MOST_ITERATIONS = 1_000_000


def _not_too_many(value: int) -> int:
    if value > MOST_ITERATIONS:
        raise ValueError(f"is {show(value)}; give at most {MOST_ITERATIONS}.")
    return value


def _projection(value: Any):
    if value == "every-step":
        return value
    if isinstance(value, str) and value.replace("_", "-").startswith("every"):
        raise ValueError(f"is {show(value)}; every-step or a threshold (a number) is needed.")
    return to_number(value)


Projection = Annotated[
    Any,
    PlainValidator(_projection),
    WithJsonSchema({"anyOf": [{"const": "every-step"}, *NUMBER_SCHEMA["anyOf"]]}),
]


class Formulation(Element):
    """What is solved in a step; the two options here are those of its Newton iterations."""

    tolerance: Number = Field(
        1e-10, description="Newton iterations end when the step, in sizes of the model, is smaller than this"
    )
    max_iterations: Annotated[int, Field(strict=True), AfterValidator(_not_too_many)] = Field(
        25, description="Newton iterations allowed in a step"
    )


class ALI3P(Formulation):
    """Augmented Lagrangian of index 3 with projections of velocities and accelerations."""

    type: Literal["ali3p"] = "ali3p"
    penalty: Number = Field(1e9, description="penalty factor of the constraints")
    projection_scale: Number = Field(1.0, description="factor of the weights in the projections")
    projection: Projection = Field(
        "every-step",
        description="every-step, or the constraint violation, in sizes of the model, above which projections run",
    )
    projection_method: Literal["penalty", "augmented-lagrangian"] = Field(
        "penalty", description="penalty: one solve, exact to 1/penalty; augmented-lagrangian: iterated to rounding"
    )


class MatrixR(Formulation):
    """Independent coordinates: at first the degrees of freedom of the model."""

    type: Literal["matrix-r"] = "matrix-r"
    reselect_below: Number = Field(
        0.3,
        description="quality of the independent coordinates, from 1 (best) to 0 (they lose the position), below which "
        "others are chosen; 0: never",
    )


class Stabilised(Formulation):
    """A formulation at acceleration level, whose drift is damped like an oscillator."""

    frequency: Number = Field(10.0, description="natural frequency of the drift [rad/s]")
    damping: Number = Field(1.0, description="damping ratio of the drift")


class Index1(Stabilised):
    """Lagrange multipliers at acceleration level with Baumgarte stabilisation."""

    type: Literal["index1"] = "index1"


class Penalty(Stabilised):
    """Penalties at acceleration level."""

    type: Literal["penalty"] = "penalty"
    penalty: Number = Field(1e9, description="penalty factor of the constraints")


class Recursive(Stabilised):
    """Recursions over the tree of joints; closure rows as in index1."""

    type: Literal["recursive"] = "recursive"


class UdwadiaKalaba(Stabilised):
    """Accelerations nearest to those without constraints, by Udwadia and Kalaba; nothing pulls drift back by default."""

    type: Literal["udwadia-kalaba"] = "udwadia-kalaba"
    frequency: Number = Field(0.0, description="natural frequency of the drift [rad/s]; 0: it grows with time")


class Integrator(Element):
    """How time advances."""

    @property
    def order(self) -> int:
        """The power of the step that the error falls with."""
        return 2


class Newmark(Integrator):
    """Newmark's method; the trapezoidal rule by default."""

    type: Literal["newmark"] = "newmark"
    beta: Number = Field(0.25, description="weight of the new acceleration in the position")
    gamma: Number = Field(0.5, description="weight of the new acceleration in the velocity")

    @property
    def order(self) -> int:
        return 2 if self.gamma == 0.5 else 1


class HHT(Integrator):
    """Hilber, Hughes and Taylor's method."""

    type: Literal["hht"] = "hht"
    alpha: Number = Field(-0.05, description="numerical damping, from -1/3 (most) to 0 (none)")


class GeneralizedAlpha(Integrator):
    """Chung and Hulbert's method."""

    type: Literal["generalized-alpha"] = "generalized-alpha"
    rho_inf: Number = Field(0.8, description="spectral radius at infinite frequency, from 0 (most damping) to 1 (none)")


class RungeKutta4(Integrator):
    """The classical explicit Runge-Kutta method of order 4."""

    type: Literal["rk4"] = "rk4"

    @property
    def order(self) -> int:
        return 4


class RungeKutta54(Integrator):
    """Explicit Runge-Kutta 5(4) with error control."""

    type: Literal["rk54"] = "rk54"
    tolerance: Number = Field(1e-8, description="error allowed in a step")

    @property
    def order(self) -> int:
        return 5


FORMULATIONS = {
    kind.model_fields["type"].default: kind for kind in (ALI3P, MatrixR, Index1, Penalty, Recursive, UdwadiaKalaba)
}
INTEGRATORS = {
    kind.model_fields["type"].default: kind for kind in (Newmark, HHT, GeneralizedAlpha, RungeKutta4, RungeKutta54)
}
BODY_POINTS = ("origin", "com")


class Coordinates(Element):
    """What positions are described by."""

    def options(self) -> dict[str, Any]:
        """The options of the set, by name."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "type"}


class JointCoordinates(Coordinates):
    """Relative coordinates of a tree of joints."""

    type: Literal["joint"] = "joint"
    body_point: Literal["origin", "com"] = Field(
        "origin", description="the point at which each body's motion is taken: the global origin, or its centre of mass"
    )


class ReferencePointCoordinates(Coordinates):
    """Centre of mass and Euler parameters of each body."""

    type: Literal["reference-point"] = "reference-point"


class NaturalCoordinates(Coordinates):
    """Points and unit vectors that bodies share at joints."""

    type: Literal["natural"] = "natural"
    merge: Annotated[bool, Field(strict=True)] = Field(
        True, description="whether parallel axes and coinciding points of a body are one where no parameter parts them"
    )
    planar: Literal["auto", "on", "off"] = Field(
        "auto", description="whether coordinates across a plane in which all moves are left out"
    )


COORDINATES = {
    kind.model_fields["type"].default: kind
    for kind in (JointCoordinates, ReferencePointCoordinates, NaturalCoordinates)
}


class Simulation(Element):
    """The defaults of `run` and `gradient`."""

    t_end: Number | None = Field(None, description="end of the simulation [s]; it starts at 0")
    step: Number = Field(1e-3, description="time step [s]; the last one is shortened to meet t_end")
    output_step: Number | None = Field(
        None, description="interval of the results that are kept [s]; each step when absent"
    )
    start: Literal["assembly", "equilibrium"] = Field(
        "assembly", description="where it starts: from degrees_of_freedom, or at the position where all forces balance"
    )
    coordinates: by_type(COORDINATES, short=True) = Field(
        default_factory=JointCoordinates, description="the coordinate set: its type, or {type, options}"
    )
    formulation: by_type(FORMULATIONS) = Field(
        default_factory=ALI3P, description="what is solved in a step: {type, options}"
    )
    integrator: by_type(INTEGRATORS) = Field(default_factory=Newmark, description="how time advances: {type, options}")
    solver: Literal["auto", "dense", "fronts"] = Field(
        "auto", description="how equations are solved: by full matrices, by fronts, or by fronts where that pays"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_body_point(cls, data: Any) -> Any:
        """`body_point` beside `coordinates` is an option of these."""
        if not isinstance(data, dict) or "body_point" not in data:
            return data
        rest = {key: value for key, value in data.items() if key != "body_point"}
        chosen = rest.get("coordinates", "joint")
        chosen = {"type": chosen} if isinstance(chosen, str) else chosen
        if not isinstance(chosen, dict) or "body_point" in chosen:
            return data
        return rest | {"coordinates": chosen | {"body_point": data["body_point"]}}
