"""Bodies and what is fixed in them: mass, inertia, markers, point masses, and where they stand at first."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from kinegrad.model.element import Element
from kinegrad.model.shapes import ShapeOrShapes
from kinegrad.model.values import (
    NOTHING,
    TABLE,
    ConstantVector3,
    EntityNames,
    FrozenDict,
    Number,
    Vector3,
    Vector6,
    show,
)

POINTS = "names of points of the model that are fixed in it; bodies that share some have a joint"
VECTORS = "names of vectors of the model that are fixed in it"
SHAPE = "what it looks like in the animated page: {type, ...}, or a list of these"


class PointMarker(Element):
    """A point fixed in a body; in a file a list ``[x, y, z]``."""

    position: Vector3 = Field(description="the point in the frame of its body [m]")

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, data: Any) -> Any:
        return data if isinstance(data, dict | Element) else {"position": data}

    def to_plain(self) -> list:
        return super().to_plain()["position"]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema, handler):
        schema = handler.resolve_ref_schema(handler(core_schema))
        return {**schema["properties"]["position"], "title": "PointMarker"}


class VectorMarker(Element):
    """A direction fixed in a body; any length but zero, it is made a unit vector."""

    vector: Vector3 = Field(description="the direction in the frame of its body")


class FrameMarker(Element):
    """A frame fixed in a body: its origin, x axis and z axis, made orthonormal."""

    origin: Vector3 = Field(description="the origin in the frame of the body [m]")
    x_axis: Vector3 = Field((1.0, 0.0, 0.0), description="direction of the x axis")
    z_axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction of the z axis, made perpendicular to the x axis")


def _marker_kind(value: Any) -> str:
    if isinstance(value, PointMarker | VectorMarker | FrameMarker):
        return {PointMarker: "<point>", VectorMarker: "<vector>", FrameMarker: "<frame>"}[type(value)]
    if not isinstance(value, dict):
        return "<point>"
    if "vector" in value:
        return "<vector>"
    return "<frame>" if any(key in value for key in FrameMarker.model_fields) else "<unknown>"


def _no_marker(value: Any):
    raise ValueError(f"is {show(value)}; a marker is [x, y, z], {{vector: [x, y, z]}} or {{origin, x_axis, z_axis}}.")


Marker = Annotated[
    Annotated[PointMarker, Tag("<point>")]
    | Annotated[VectorMarker, Tag("<vector>")]
    | Annotated[FrameMarker, Tag("<frame>")]
    | Annotated[Any, PlainValidator(_no_marker), Tag("<unknown>"), WithJsonSchema(NOTHING)],
    Discriminator(_marker_kind),
]
Markers = Annotated[dict[str, Marker], TABLE, AfterValidator(FrozenDict)]


class AxisInertia(Element):
    """The inertia of a body of revolution: ``along·uuᵀ + across·(I − uuᵀ)`` with the unit vector u of the axis."""

    axis: Vector3 = Field(description="the axis of revolution in the frame of the body")
    along: Number = Field(description="moment of inertia about the axis [kg m2]")
    across: Number = Field(description="moment of inertia about axes across it, through the centre of mass [kg m2]")


class PointMass(Element):
    """A mass at a point, added to the mass, centre of mass and inertia of its body."""

    mass: Number = Field(description="mass [kg]")
    at: Vector3 = Field(description="where it is in the frame of the body [m]")


class Pose(Element):
    """Where a body's frame stands in the reference configuration: the first guess of the assembly, all constants."""

    origin: ConstantVector3 = Field((0.0, 0.0, 0.0), description="the origin in the global frame [m]")
    x_axis: ConstantVector3 | None = Field(None, description="direction of the x axis; [1, 0, 0] when absent")
    z_axis: ConstantVector3 | None = Field(None, description="direction of the z axis; [0, 0, 1] when absent")


def _inertia_kind(value: Any) -> str:
    if isinstance(value, AxisInertia | dict):
        return "<axis>"
    return "<six>" if hasattr(value, "__len__") and len(value) > 3 and not isinstance(value, str) else "<three>"


Inertia = Annotated[
    Annotated[Vector3, Tag("<three>")] | Annotated[Vector6, Tag("<six>")] | Annotated[AxisInertia, Tag("<axis>")],
    Discriminator(_inertia_kind),
]


def _global(value: Any) -> str:
    if value != "global":
        raise ValueError(f"is {show(value)}; global or a mapping with the keys origin, x_axis, z_axis is needed.")
    return value


PoseOrGlobal = Annotated[
    Annotated[Pose, Tag("<pose>")]
    | Annotated[Literal["global"], PlainValidator(_global), WithJsonSchema({"const": "global"}), Tag("<global>")],
    Discriminator(lambda value: "<pose>" if isinstance(value, Pose | dict) else "<global>"),
]


class Body(Element):
    """A rigid body; all its numbers are given in its own frame."""

    mass: Number = Field(description="mass [kg], larger than zero")
    com: Vector3 = Field((0.0, 0.0, 0.0), description="centre of mass [m]")
    inertia: Inertia = Field(
        (0.0, 0.0, 0.0),
        description="inertia about the centre of mass [kg m2]: [xx, yy, zz], [xx, yy, zz, xy, xz, yz] of the tensor, "
        "or {axis, along, across}",
    )
    markers: Markers = Field(FrozenDict(), description="points, vectors and frames fixed in the body")
    pose: PoseOrGlobal | None = Field(
        None, description="where the frame stands at first: global, or {origin, x_axis, z_axis}"
    )
    point_masses: Annotated[dict[str, PointMass], TABLE, AfterValidator(FrozenDict)] = Field(
        FrozenDict(), description="masses at points, added to the body"
    )
    shape: ShapeOrShapes | None = Field(None, description=SHAPE)
    points: EntityNames = Field((), description=POINTS)
    vectors: EntityNames = Field((), description=VECTORS)


class Ground(Element):
    """The body that does not move; its frame is the global frame."""

    markers: Markers = Field(FrozenDict(), description="points, vectors and frames fixed in the ground")
    shape: ShapeOrShapes | None = Field(None, description=SHAPE)
    points: EntityNames = Field((), description=POINTS)
    vectors: EntityNames = Field((), description=VECTORS)
