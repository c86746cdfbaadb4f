"""What a body looks like in the animated page: boxes, cylinders, rods, spheres and meshes, one class a type.

A shape changes no equation. Its numbers may be expressions in parameters, so that a bar grows with its length; they are
given in the frame of the body, and its markers are named without the body: ``between: [A, B]``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from kinegrad.model.element import Element, by_type
from kinegrad.model.forces import both_or_none
from kinegrad.model.values import IDENTIFIER, Number, Vector3, list_of, show

AT = "where its middle is in the frame of the body [m]; the centre of mass when absent"
BETWEEN = "two point markers of the body, named without the body"
COLOUR = re.compile("#[0-9a-fA-F]{6}")
MESH_FILES = (".obj", ".stl")


def _own_marker(value: Any) -> str:
    if not isinstance(value, str) or not IDENTIFIER.fullmatch(value):
        raise ValueError(f"is {show(value)}; the name of a marker of this body is needed, without the body.")
    return value


def _colour(value: Any) -> str:
    if not isinstance(value, str) or not COLOUR.fullmatch(value):
        raise ValueError(f"is {show(value)}; a colour such as '#3366cc' is needed, in quotes.")
    return value


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"is {show(value)}; the number of a vertex is needed, from 0.")
    return value


def _mesh_file(value: Any) -> str:
    if not isinstance(value, str) or not value.lower().endswith(MESH_FILES):
        raise ValueError(f"is {show(value)}; the path of an .obj or .stl file is needed, seen from the model file.")
    return value


OwnMarker = Annotated[str, PlainValidator(_own_marker), WithJsonSchema({"type": "string"})]
OwnMarkers = Annotated[tuple[OwnMarker, OwnMarker], list_of(2, "a pair [first, second] of markers of this body")]
Colour = Annotated[str, PlainValidator(_colour), WithJsonSchema({"type": "string", "pattern": f"^{COLOUR.pattern}$"})]
Index = Annotated[int, PlainValidator(_index), WithJsonSchema({"type": "integer"})]
Face = Annotated[tuple[Index, ...], list_of(None, "a list of vertex numbers")]


class Shape(Element):
    """What all shapes have."""

    colour: Colour | None = Field(None, description="colour '#rrggbb'; that of the body when absent")


class Box(Shape):
    """A box."""

    type: Literal["box"] = "box"
    size: Vector3 = Field(description="edges along its x, y and z axes [m], larger than zero")
    at: Vector3 | None = Field(None, description=AT)
    x_axis: Vector3 = Field((1.0, 0.0, 0.0), description="direction of its x axis in the body")
    z_axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction of its z axis, made perpendicular to the x axis")


class Cylinder(Shape):
    """A cylinder: about an axis, or from one marker to another."""

    type: Literal["cylinder"] = "cylinder"
    radius: Number = Field(description="radius [m], larger than zero")
    length: Number | None = Field(None, description="length [m], larger than zero; without between")
    axis: Vector3 = Field((0.0, 0.0, 1.0), description="direction of its axis in the body; without between")
    at: Vector3 | None = Field(None, description=AT + "; without between")
    between: OwnMarkers | None = Field(None, description=BETWEEN)

    @model_validator(mode="after")
    def _one_form(self):
        if (self.between is None) == (self.length is None):
            raise ValueError(f"has {both_or_none(self, 'between', 'length')}; give one of them.")
        if self.between is not None:
            for key in ("axis", "at"):
                if key in self.model_fields_set:
                    raise ValueError(f"lies between two markers and has {key}; leave {key} out.")
        return self


class Rod(Shape):
    """A rod with round ends from one marker to another."""

    type: Literal["rod"] = "rod"
    between: OwnMarkers = Field(description=BETWEEN)
    radius: Number | None = Field(
        None, description="radius [m], larger than zero; to the size of the model when absent"
    )


class Sphere(Shape):
    """A ball."""

    type: Literal["sphere"] = "sphere"
    radius: Number = Field(description="radius [m], larger than zero")
    at: Vector3 | None = Field(None, description=AT)


class Mesh(Shape):
    """A surface of flat faces, written here or in a file."""

    type: Literal["mesh"] = "mesh"
    vertices: Annotated[tuple[Vector3, ...], list_of(None, "a list of points [x, y, z]")] | None = Field(
        None, description="points in the frame of the body [m]"
    )
    faces: Annotated[tuple[Face, ...], list_of(None, "a list of faces [i, j, k]")] | None = Field(
        None, description="for each face the numbers of its vertices, three or more, from 0"
    )
    file: Annotated[str, PlainValidator(_mesh_file), WithJsonSchema({"type": "string"})] | None = Field(
        None, description="path of an .obj or .stl file, seen from the model file"
    )
    scale: Number = Field(1.0, description="factor from the numbers of the mesh to metres, larger than zero")
    at: Vector3 = Field((0.0, 0.0, 0.0), description="where the origin of the mesh is in the frame of the body [m]")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.vertices is None) == (self.file is None):
            raise ValueError(f"has {both_or_none(self, 'vertices', 'file')}; give one of them.")
        if (self.vertices is None) != (self.faces is None):
            raise ValueError("needs vertices and faces together, or a file alone.")
        for i, face in enumerate(self.faces or ()):
            if len(face) < 3:
                raise ValueError(f"has the face {i} with {len(face)} vertices; a face has three or more.")
            if max(face) >= len(self.vertices):
                raise ValueError(
                    f"has the face {i} with the vertex {max(face)}; there are {len(self.vertices)}, numbered from 0."
                )
        return self


SHAPES = {shape.model_fields["type"].default: shape for shape in (Box, Cylinder, Rod, Sphere, Mesh)}

#: One shape, or a list of them.
ShapeOrShapes = Annotated[
    Annotated[by_type(SHAPES), Tag("<one>")]
    | Annotated[tuple[by_type(SHAPES), ...], list_of(None, "a shape or a list of shapes"), Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list | tuple) else "<one>"),
]


def shapes_of(body) -> tuple[Shape, ...]:
    """The shapes of a body or of the ground; none when it has no key `shape`."""
    if body.shape is None:
        return ()
    return body.shape if isinstance(body.shape, tuple) else (body.shape,)
