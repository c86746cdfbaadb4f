"""The kinds of value a model holds: numbers, vectors, pairs, references to markers, tables.

A *number* is a float or an `Expression`. Whatever may be written in a file may be given in Python in the same shape,
and becomes the same value here. A validator refuses a value by a fragment of a sentence, such as ``is true, which is
not a number; ...``; the name of the place is put before it where the error is reported.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, PlainValidator, Tag, WithJsonSchema, WrapValidator

from kinegrad.errors import ExpressionError
from kinegrad.expressions.syntax import Expression
from kinegrad.laws import Law

PLAIN_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
MOST_TITLE = 500
MOST_NAME = 200
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
PARAMETER = re.compile(rf"{IDENTIFIER.pattern}(\[[0-9]{{1,9}}\])?", re.ASCII)
MARKER = re.compile(rf"{IDENTIFIER.pattern}\.{IDENTIFIER.pattern}", re.ASCII)
MEASURE = re.compile(rf"{IDENTIFIER.pattern}(\.{IDENTIFIER.pattern}){{0,2}}", re.ASCII)


NO_LAW_HERE = (
    "a function, which is allowed only as the value of a force or torque or of a constraint of type position or velocity (all "
    "of it, as law(...)) and in objectives; give a number or an expression here."
)


def show(value: Any) -> str:
    """Short text of `value` as it would stand in a file, for the sentences of errors."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        text = (
            "a mapping with the keys " + ", ".join(printable(str(key)) for key in list(value)[:8])
            if value
            else "an empty mapping"
        )
    elif isinstance(value, str | Expression):
        text = repr(str(value))
    else:
        try:
            text = repr(value)
        except Exception:  # a foreign object may fail to print itself; the sentence still has to come out
            text = f"a {type(value).__name__}"
    return clipped(text)


def clipped(text: str) -> str:
    """The beginning of a text that is too long for a sentence."""
    return text if len(text) <= 70 else text[:67] + "..."


def printable(text: str) -> str:
    """`text` on one line, with escapes for what does not print."""
    return text if text.isprintable() else repr(text)[1:-1]


def to_number(value: Any) -> float | Expression:
    """`value` as a float, or as an Expression when it is a text that is more than a plain number."""
    if isinstance(value, Law) or callable(value):
        raise ValueError(f"is {show(value)}, {NO_LAW_HERE}")
    if isinstance(value, str) and not PLAIN_NUMBER.fullmatch(value):
        value = _parse(value)
    if isinstance(value, Expression):
        if not PLAIN_NUMBER.fullmatch(str(value)):
            return value
        value = str(value)  # such as -(2), which is a plain number written with a bracket
    if isinstance(value, str):
        number = float(value)
    elif isinstance(value, bool | list | tuple | dict) or not hasattr(value, "__float__"):
        raise ValueError(f"is {show(value)}, which is not a number; give a number or an expression.")
    else:
        try:
            number = float(value)
        except (OverflowError, TypeError, ValueError):
            raise ValueError(f"is {show(value)}, which is no number of double precision; give a smaller one.") from None
    if not math.isfinite(number):
        raise ValueError(f"is {show(value)}; give a finite number.")
    return number


def _parse(text: str) -> Expression:
    try:
        return Expression.parse(text)
    except ExpressionError as error:
        raise ValueError(f"is {show(text)}, which is not an expression: {error.problems[0].sentence}") from None


def to_constant(value: Any) -> float | Expression:
    """A number that mentions no parameter, nor anything else that may change."""
    number = to_number(value)
    if isinstance(number, Expression) and number.names:
        names = ", ".join(sorted(number.names))
        raise ValueError(f"is {show(number)}, which mentions {names}; only constants such as sqrt(2)/2 may stand here.")
    return number


def to_expression(value: Any) -> Expression:
    """An expression that is more than a plain number."""
    number = to_number(value)
    if isinstance(number, float):
        raise ValueError(f"is {show(value)}, which never changes; give an expression in markers or joint coordinates.")
    return number


def list_of(length: int | None, what: str):
    """Validator of a list of `length` entries (of any length when None); `what` completes "... is needed"."""

    def check(value: Any) -> list | tuple:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if not isinstance(value, list | tuple):
            raise ValueError(f"is {show(value)}; {what} is needed.")
        if length is not None and len(value) != length:
            raise ValueError(f"has {len(value)} entries ({show(value)}); {what} is needed.")
        return value

    return BeforeValidator(check)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def is_pair_of_lists(value: Any) -> bool:
    """Whether `value` is written as lists in a list, so that it can only be meant as a pair of vectors."""
    return _is_list(value) and len(value) > 0 and all(_is_list(entry) for entry in value)


def _text(pattern: re.Pattern, what: str):
    def check(value: Any) -> str:
        if isinstance(value, Expression):
            value = str(value)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"is {show(value)}; {what} is needed.")
        return value

    return check


def _title(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"is {show(value)}; one line of text is needed (put it in quotes).")
    if len(value) > MOST_TITLE:
        raise ValueError(f"has {len(value)} characters; a title has at most {MOST_TITLE}.")
    return value


class FrozenDict(dict):
    """A dict that does not change, so that the element which holds it does not change either."""

    def _refuse(self, *args, **kwargs):
        raise TypeError("this table does not change; make a new element with element.with_(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return (type(self), (dict(self),))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _table(value: Any) -> dict:
    if not isinstance(value, dict):
        raise ValueError(f"is {show(value)}; a mapping from names to values is needed.")
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f"has the key {show(key)}; a name is needed there.")
    return value


def identifier_problem(name: Any) -> str | None:
    """Fragment that says why `name` is not a name, or None when it is one."""
    if isinstance(name, str) and IDENTIFIER.fullmatch(name):
        return None if len(name) <= MOST_NAME else f"has {len(name)} characters; a name has at most {MOST_NAME}."
    return "is not a name: letters, digits and _ are allowed, and the first is not a digit."


NOTHING = {"not": {}}  # the JSON Schema of what is always refused
NUMBER_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string", "description": "an expression"}]}

# The values are float or Expression; Any keeps pydantic from looking into the class Expression.
Number = Annotated[Any, PlainValidator(to_number), WithJsonSchema(NUMBER_SCHEMA)]
Constant = Annotated[Any, PlainValidator(to_constant), WithJsonSchema(NUMBER_SCHEMA)]
Moving = Annotated[Any, PlainValidator(to_expression), WithJsonSchema({"type": "string"})]

Vector3 = Annotated[tuple[Number, Number, Number], list_of(3, "a list of three numbers [x, y, z]")]
ConstantVector3 = Annotated[tuple[Constant, Constant, Constant], list_of(3, "a list of three numbers [x, y, z]")]
Vector4 = Annotated[tuple[Number, Number, Number, Number], list_of(4, "a list of four numbers")]
Vector6 = Annotated[
    tuple[Number, Number, Number, Number, Number, Number],
    list_of(6, "a list of six numbers [xx, yy, zz, xy, xz, yz] or of three [xx, yy, zz]"),
]
VectorPair = Annotated[tuple[Vector3, Vector3], list_of(2, "a pair of vectors [[x, y, z], [x, y, z]]")]
Numbers = Annotated[tuple[Number, ...], list_of(None, "a list of numbers")]
Constants = Annotated[tuple[Constant, ...], list_of(None, "a list of numbers")]

#: One vector (the same components in both bodies), or a pair with one for each body. Tags in <> do not count in paths.
Axis = Annotated[
    Annotated[Vector3, Tag("<one>")] | Annotated[VectorPair, Tag("<pair>")],
    Discriminator(lambda value: "<pair>" if is_pair_of_lists(value) else "<one>"),
]
NumberOrVector3 = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[Vector3, Tag("<vector>")],
    Discriminator(lambda value: "<vector>" if _is_list(value) else "<number>"),
]
NumberOrNumbers = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[Numbers, Tag("<list>")],
    Discriminator(lambda value: "<list>" if _is_list(value) else "<number>"),
]

ConstantOrConstants = Annotated[
    Annotated[Constant, Tag("<number>")]
    | Annotated[tuple[Constant, ...], list_of(None, "a list of numbers"), Tag("<list>")],
    Discriminator(lambda value: "<list>" if _is_list(value) else "<number>"),
]

#: In Python a law of functions may stand here too; a file cannot hold one.
OR_LAW = WrapValidator(lambda value, handler: value if isinstance(value, Law) else handler(value))

MarkerName = Annotated[
    str,
    PlainValidator(_text(MARKER, "a marker written body.marker (the ground is a body too)")),
    WithJsonSchema({"type": "string", "pattern": f"^{MARKER.pattern}$"}),
]
MarkerPair = Annotated[
    tuple[MarkerName, MarkerName], list_of(2, "a pair [first, second] of markers written body.marker")
]
MeasureName = Annotated[
    str,
    PlainValidator(_text(MEASURE, "a measure (joint.angle, body.marker.x or a name from measures)")),
    WithJsonSchema({"type": "string", "pattern": f"^{MEASURE.pattern}$"}),
]
ParameterName = Annotated[
    str,
    PlainValidator(_text(IDENTIFIER, "a list of numbers or the name of a list parameter")),
    WithJsonSchema({"type": "string", "pattern": f"^{IDENTIFIER.pattern}$"}),
]
ParameterNames = Annotated[
    list[
        Annotated[
            str,
            PlainValidator(_text(PARAMETER, "the name of a parameter")),
            WithJsonSchema({"type": "string", "pattern": f"^{PARAMETER.pattern}$"}),
        ]
    ],
    list_of(None, "a list of parameter names"),
]
EntityNames = Annotated[
    tuple[
        Annotated[
            str,
            PlainValidator(_text(IDENTIFIER, "the name of a point or vector")),
            WithJsonSchema({"type": "string", "pattern": f"^{IDENTIFIER.pattern}$"}),
        ],
        ...,
    ],
    list_of(None, "a list of names"),
]
Title = Annotated[str, PlainValidator(_title), WithJsonSchema({"type": "string"})]
TABLE = BeforeValidator(_table)
