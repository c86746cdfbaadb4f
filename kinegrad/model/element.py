"""The base of everything a model is described with: frozen, without unknown keys, and refusing in sentences."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from kinegrad.errors import ModelError, Problem
from kinegrad.expressions.syntax import Expression
from kinegrad.model.values import printable, show

TRANSLATED = "kinegrad"


class Element(BaseModel):
    """A frozen description with named fields; a wrong value raises ModelError with one sentence per problem."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)
    #: keys that say something where they are given, also with their default value
    stated: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **data: Any):
        try:
            super().__init__(**data)
        except ValidationError as error:
            name = type(self).__name__
            raise ModelError(*(Problem(s, dotted(path)) for path, s in sentences(error, (name,)))) from None

    __init__.__pydantic_base_init__ = True  # nested elements are then validated together and report together

    def with_(self, **changes: Any) -> Element:
        """Copy with other values in the named fields, validated like a new one."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)

    @classmethod
    def key_names(cls) -> list[str]:
        """The keys that may stand in a file."""
        return list(cls.model_fields)

    def to_plain(self) -> Any:
        """What stands in a file: dicts, lists, texts and numbers, without keys with their default value but `stated` ones."""
        plain = {"type": self.type} if "type" in type(self).model_fields else {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            stated = name in self.stated and name in self.model_fields_set
            if stated or field.is_required() or value != field.get_default(call_default_factory=True):
                plain[name] = to_plain(value)
        return plain

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_sentences(cls, data: Any, handler) -> Element:
        try:
            return handler(data)
        except ValidationError as error:
            details = [_translated(cls, data, entry) for entry in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(cls.__name__, details)


def to_plain(value: Any) -> Any:
    """`value` of an element in dicts, lists, texts and numbers."""
    if isinstance(value, Element):
        return value.to_plain()
    if isinstance(value, dict):
        return {key: to_plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(entry) for entry in value]
    return str(value) if isinstance(value, Expression) else value


def _translated(cls: type[Element], data: Any, entry: dict) -> InitErrorDetails:
    """One error of pydantic with our words in it; those of nested elements have them already."""
    kind, loc, value, context = entry["type"], entry["loc"], entry["input"], entry.get("ctx", {})
    keys = ", ".join(cls.key_names())
    if kind == TRANSLATED:
        text = entry["msg"]
    elif kind == "missing":
        field = cls.model_fields[str(loc[-1])]
        text = f"is missing; add it ({field.description})."
    elif kind == "extra_forbidden":
        text = f"is an unknown key{closest(str(loc[-1]), cls.key_names())}. Keys here: {keys}."
    elif kind in ("model_type", "model_attributes_type", "dict_type"):
        text = f"is {show(value)}; a mapping with the keys {keys} is needed."
    elif kind == "literal_error":
        text = f"is {show(value)}{closest(value, _literals(context))}; {context['expected']} is needed."
    elif kind == "string_type":
        text = f"is {show(value)}; a text is needed (put it in quotes)."
    elif kind == "bool_type":
        text = f"is {show(value)}; true or false is needed."
    elif kind == "value_error":
        text = str(context["error"])
    else:
        text = f"is {show(value)}: {entry['msg']}."
    return InitErrorDetails(type=PydanticCustomError(TRANSLATED, "{text}", {"text": text}), loc=loc, input=value)


def _literals(context: dict) -> list[str]:
    return [word.strip(" '") for word in context["expected"].replace(" or ", ",").split(",")]


def closest(name: Any, known) -> str:
    """ ", did you mean 'x'?" for the known name nearest to `name`, or an empty text."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def sentences(error: ValidationError, start: tuple = ()) -> list[tuple[tuple, str]]:
    """Path and sentence of each problem in `error`; paths begin with `start`."""
    found = []
    for entry in error.errors(include_url=False, include_input=False):
        path = start + tuple(part for part in entry["loc"] if not str(part).startswith("<"))
        text = str(entry["ctx"]["error"]) if entry["type"] == "value_error" else entry["msg"]
        found.append((path, f"{dotted(path)} {text}"))
    return found


def dotted(path: tuple) -> str:
    """Path as users read it: ``bodies.crank.com[0]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{printable(str(part))}" if text else printable(str(part))
    return text


def by_type(kinds: dict[str, type[Element]], short: bool = False) -> Any:
    """Annotation of an element of one of `kinds`, chosen by its key ``type``; only kinds in use are ever built.

    With `short` the type alone may stand for the element.
    """

    def validate(value: Any) -> Element:
        value = {"type": value} if short and isinstance(value, str) else value
        kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        if not isinstance(kind, str) or kind not in kinds:
            raise ValueError(_unknown_type(kinds, value))
        return kinds[kind].model_validate(value)

    return Annotated[Any, PlainValidator(validate), _OneOf(kinds, short)]


def _unknown_type(kinds: dict[str, type[Element]], value: Any) -> str:
    names = ", ".join(kinds)
    if not isinstance(value, dict):
        return f"is {show(value)}; a mapping with the key type ({names}) is needed."
    if "type" not in value:
        return f"has no type; add type: one of {names}."
    found = value["type"]
    return f"has the unknown type {show(found)}{closest(found, kinds)}; types here: {names}."


class _OneOf:
    """The JSON Schema of an element of one of several kinds."""

    def __init__(self, kinds: dict[str, type[Element]], short: bool):
        self.kinds, self.short = kinds, short

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict:
        for kind in self.kinds.values():
            kind.model_rebuild()
        short = [{"enum": list(self.kinds)}] if self.short else []
        return {"oneOf": [*short, *(handler(kind.__pydantic_core_schema__) for kind in self.kinds.values())]}
