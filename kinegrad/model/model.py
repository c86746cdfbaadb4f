"""The description of a mechanism: named elements in sections, the same in Python and in a file."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationError

from kinegrad.errors import ModelError, ModelWarning, Problem
from kinegrad.expressions.syntax import Expression
from kinegrad.laws import Law
from kinegrad.model import names
from kinegrad.model.bodies import Body, Ground
from kinegrad.model.constraints import CONSTRAINTS, OBJECTIVES, Driver, Linear, Objective, Start
from kinegrad.model.element import Element, by_type, closest, dotted, sentences, to_plain
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS
from kinegrad.model.points import FoundJoint, Origin, draw
from kinegrad.model.simulation import Simulation
from kinegrad.model.tables import Table
from kinegrad.model.values import (
    TABLE,
    ConstantOrConstants,
    FrozenDict,
    Moving,
    NumberOrNumbers,
    ParameterNames,
    Title,
    Vector3,
    show,
)

if TYPE_CHECKING:
    from kinegrad.model.signals import Catalogue

VERSION = 1

#: What the entries of each section are.
ENTRIES: dict[str, Any] = {
    "parameters": NumberOrNumbers,
    "variants": Annotated[dict[str, ConstantOrConstants], TABLE, AfterValidator(FrozenDict)],
    "points": Vector3,
    "vectors": Vector3,
    "tables": Table,
    "bodies": Body,
    "joints": by_type(JOINTS),
    "forces": by_type(FORCES),
    "constraints": by_type(CONSTRAINTS),
    "measures": Moving,
    "drivers": Driver,
    "degrees_of_freedom": Start,
    "objectives": Objective,
}
#: The keys that hold one value each, with what is there when they are absent.
SINGLE: dict[str, tuple[Any, Any]] = {
    "title": (Title, ""),
    "design": (ParameterNames, ()),
    "ground": (Ground, {}),
    "simulation": (Simulation, {}),
}
#: What is read as markers and joints (`points`), and not kept.
DRAWN = ("points", "vectors")
#: All keys of a model in the order in which they are written.
KEYS = (
    *("title", "parameters", "design", "variants", "tables", "ground", "bodies", "joints", "forces", "constraints"),
    *("measures", "drivers", "degrees_of_freedom", "objectives", "simulation"),
)
#: All keys that may be read.
READ = (*KEYS[: KEYS.index("ground")], *DRAWN, *KEYS[KEYS.index("ground") :])

Finding = tuple[tuple, str]  # path of the place, and the sentence


@cache
def _adapter(key: str) -> TypeAdapter:
    """What validates the entries of a section, or the value of a single key."""
    return TypeAdapter(ENTRIES[key] if key in ENTRIES else SINGLE[key][0])


class Section(dict):
    """The elements of one section by name; what is put in is validated, and may have the shape it has in a file."""

    def __init__(self, key: str, entries: Mapping = FrozenDict()):
        super().__init__()
        self.key = key
        self.update(entries)

    def __setitem__(self, name: str, value: Any):
        super().__setitem__(name, _validated((self.key, name), value))

    def update(self, *args, **kwargs):
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None):
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self) -> Section:
        return Section(self.key, self)

    def __reduce__(self):
        return (Section, (self.key, dict(self)))


class Model:
    """A mechanism as its user describes it; every section is a dict of elements by name.

    Elements are validated when they are put in. What concerns several of them (unknown names, masses after evaluation
    of parameters, perpendicular axes) is found by `problems`, or raised all at once by `check`.

    Attributes
    ----------
    title : str
    parameters : Section of float, Expression, or tuples of them
    design : list of str
        Parameters that a gradient is taken by unless others are named.
    variants : Section of {parameter: value}
    tables : Section of Table
    ground : Ground
    bodies : Section of Body
        The others are alike: `joints`, `forces`, `constraints`, `measures`, `drivers`, `degrees_of_freedom`,
        `objectives`.
    simulation : Simulation

    `points` and `vectors`, given when it is made or read, become markers of the bodies that list them, and joints:
    `found_joints`.
    """

    title: str
    parameters: dict
    design: list[str]
    variants: dict
    tables: dict
    ground: Ground
    bodies: dict
    joints: dict
    forces: dict
    constraints: dict
    measures: dict
    drivers: dict
    degrees_of_freedom: dict
    objectives: dict
    simulation: Simulation
    _origin: Origin | None
    watched: tuple[str, ...] = ()  # signals that a system computes along; no part of the description

    def __init__(self, **sections: Any):
        findings, _ = self._fill(sections)
        _raise(findings)

    def _fill(self, sections: Mapping) -> tuple[list[Finding], Broken]:
        """Take in what can be taken in; returns what is wrong with the rest, and its names."""
        findings: list[Finding] = []
        broken = Broken()
        for key in sections:
            if key not in READ:
                text = f"{show(key)} is an unknown section{closest(key, READ)}. Sections: kinegrad, {', '.join(READ)}."
                findings.append(((key,), text))
        for key in KEYS:
            try:
                object.__setattr__(self, key, _converted(key, sections.get(key), findings, broken))
            except ModelError as error:
                findings += [((key,), problem.sentence) for problem in error.problems]
        drawn = {key: _converted(key, sections.get(key), findings, broken) for key in DRAWN}
        self.__dict__["_origin"], more = draw(self, **drawn, broken=broken)
        return findings + more, broken

    def __setattr__(self, key: str, value: Any):
        if key not in KEYS:
            raise AttributeError(f"a Model has no section {key!r}{closest(key, KEYS)}")
        findings: list[Finding] = []
        value = _converted(key, value, findings, Broken())
        _raise(findings)
        object.__setattr__(self, key, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in KEYS)

    __hash__ = None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(getattr(self, key))} {key}" for key in ("bodies", "joints", "forces", "parameters"))
        return f"<Model {self.title!r}: {counts}>"

    def _repr_html_(self) -> str:
        """A summary for notebooks, with a picture."""
        from kinegrad.model.display import model_html

        return model_html(self)

    # --- files ---

    @classmethod
    def from_yaml(cls, path: str | Path) -> Model:
        """The model in a file; ModelError lists all its problems with their lines."""
        from kinegrad.model.reading import read_file

        return read_file(path)

    @classmethod
    def from_yaml_text(cls, text: str) -> Model:
        """The model in a text of YAML; ModelError lists all its problems with their lines."""
        from kinegrad.model.reading import read_text

        return read_text(text)

    @classmethod
    def from_dict(cls, document: Mapping) -> Model:
        """The model in a document such as a file holds; ModelError lists all its problems."""
        from kinegrad.model.reading import read_document

        return read_document(document)

    def to_dict(self) -> dict:
        """The document that describes the model: dicts, lists, texts and numbers."""
        _refuse_functions(self)
        document: dict[str, Any] = {"kinegrad": VERSION}
        for key in KEYS:
            plain = to_plain(getattr(self, key))
            if plain:
                document[key] = plain
        return document

    def to_yaml(self, path: str | Path | None = None) -> str:
        """The text of the model file, also written to `path` when one is given."""
        from kinegrad.model.writing import to_text

        text = to_text(self.to_dict())
        if path is not None:
            from kinegrad.files import complete

            with complete(path) as part:
                part.write_text(text, encoding="utf-8")
        return text

    # --- checks ---

    def problems(self) -> list[Problem]:
        """What is wrong with the model as a whole; empty when it may be used."""
        from kinegrad.model.checks import find

        if self._is_as("_sound"):
            return []
        problems = [Problem(sentence, dotted(path)) for path, sentence in find(self, Broken())]
        if not problems:
            self._keep("_sound")
        return problems

    def doubts(self) -> list[Problem]:
        """What looks wrong and can be used all the same, such as moments of inertia that no body has."""
        from kinegrad.model.check_values import find_doubtful_values

        return [Problem(sentence, dotted(path)) for path, sentence in find_doubtful_values(self)]

    def check(self) -> Model:
        """The model itself; raises ModelError with all its problems when there are some, and warns of doubts once."""
        if self._is_as("_checked"):
            return self
        problems = self.problems()
        if problems:
            raise ModelError(*problems)
        self._keep("_checked")
        told = self.__dict__.setdefault("_told", set())
        for doubt in self.doubts():
            if doubt.sentence not in told:
                told.add(doubt.sentence)
                warnings.warn(doubt.sentence, ModelWarning, stacklevel=2)
        return self

    def _contents(self) -> list:
        """All elements, which are frozen, and their names: the model is unchanged while these are the same objects."""
        found = []
        for value in (getattr(self, key) for key in KEYS):
            if isinstance(value, dict):
                found += [*value, *value.values()]
            else:
                found += value if isinstance(value, list | tuple) else [value]
            found.append(None)  # where a section ends
        return found

    def _keep(self, name: str) -> None:
        """Note what the model holds now."""
        self.__dict__[name] = self._contents()

    def _is_as(self, name: str) -> bool:
        """Whether the model holds what it held when that was noted."""
        known, now = self.__dict__.get(name), self._contents()
        return known is not None and len(known) == len(now) and all(map(operator.is_, known, now))

    # --- copies with other numbers ---

    def copy(self) -> Model:
        """A model of its own with the same elements."""
        copy = Model(**{key: getattr(self, key) for key in KEYS})
        copy.__dict__["_origin"] = self._origin
        return copy

    def watching(self, signals: Iterable[str]) -> Model:
        """The same model for a system that computes these signals along."""
        copy = object.__new__(Model)
        copy.__dict__.update(self.__dict__, watched=tuple(signals))
        return copy

    def with_variant(self, name: str) -> Model:
        """Copy with the parameter values of a variant."""
        if name not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise ModelError(
                Problem(
                    f"variant {show(name)} does not exist{closest(name, self.variants)}; variants: {known}.", "variants"
                )
            )
        return self.with_values(**self.variants[name])

    def with_values(self, /, **values: Any) -> Model:
        """Copy with other values of independent parameters; ModelError names those that cannot be set.

        A list takes as many numbers as it has; ``with_values(**{"u[2]": 1.0})`` changes one of them.
        """
        from kinegrad.model.checks import find_in_values

        findings: list[Finding] = []
        changed = {}
        for name, value in values.items():
            try:
                changed[name] = _validated(("variants", "values"), {name: value})[name]
            except ModelError as error:
                text = error.problems[0].sentence.removeprefix("variants.values.")
                findings.append((("parameters", name), f"parameter {text}"))
        findings += find_in_values(self, changed, lambda name: ("parameters", name))
        _raise(findings)
        copy = self.copy()
        for name, value in changed.items():
            if name in copy.parameters:
                copy.parameters[name] = value
            else:  # one entry of a list, written u[2]
                whole, _, index = name.removesuffix("]").partition("[")
                entries = list(copy.parameters[whole])
                entries[int(index)] = value
                copy.parameters[whole] = entries
        return copy

    # --- look-up ---

    @property
    def found_joints(self) -> tuple[FoundJoint, ...]:
        """The joints that were found from points and vectors that bodies share, and why."""
        found = self._origin.joints.items() if self._origin else ()
        joints = [(name, self.joints[name], choice.why) for name, choice in found if name in self.joints]
        return tuple(FoundJoint(name, joint.type, joint.between, why) for name, joint, why in joints)

    @property
    def bodies_in_order(self) -> tuple[str, ...]:
        """Names of the moving bodies in the order of the file."""
        return tuple(self.bodies)

    def marker(self, name: str) -> tuple[str, Element]:
        """Body name and marker of ``body.marker``, such as ``("ground", PointMarker(...))``."""
        try:
            return names.find_marker(self, name)
        except ModelError as error:
            raise ModelError(f"{name!r} {error.problems[0].sentence}") from None

    def resolve(self, name: str) -> names.Reference:
        """What a dotted name in an expression, or the name of a measure, stands for."""
        try:
            return names.resolve(self, name)
        except ModelError as error:
            raise ModelError(f"{name!r} {error.problems[0].sentence}") from None

    @property
    def signals(self) -> Catalogue:
        """All named scalars of the model, each with unit, owner and meaning: what plots, tables, files and objectives name."""
        from kinegrad.model.signals import Catalogue

        return Catalogue(self)

    @property
    def used_joints(self) -> frozenset[str]:
        """Joints whose coordinate, or whose start, something in the model refers to; what they exert is none."""
        used = {name.partition(".")[::2] for name in self._used_names()}
        return frozenset({name for name, part in used if not part.startswith("reaction.")} & set(self.joints))

    def _used_names(self) -> set[str]:
        found = set(self.degrees_of_freedom)
        sections = (self.forces, self.constraints, self.drivers, self.objectives)
        for element in (element for section in sections for element in section.values()):
            found |= {getattr(element, key) for key in ("acts_on", "measure") if getattr(element, key, None)}
            if isinstance(element, Linear):
                found |= set(element.terms)
            for key in ("value", *OBJECTIVES, "stiffness", "damping"):
                found |= _names_in(getattr(element, key, None))
        for expression in self.measures.values():
            found |= expression.names
        return found


class Broken:
    """Names of elements that could not be read, so that what refers to them is not reported as well."""

    def __init__(self):
        self.names: set[str] = set()
        self.sections: set[str] = set()  # sections in which something could not be read
        self.lost: set[str] = set()  # sections that could not be read at all

    def add(self, section: str, name: str) -> None:
        """Note an element that could not be read."""
        self.sections.add(section)
        self.names.add(name)

    def lose(self, section: str) -> None:
        """Note a section that could not be read at all."""
        self.sections.add(section)
        self.lost.add(section)

    def hides(self, name: str) -> bool:
        """Whether `name` may belong to an element that was not read."""
        return name in self.names or not self.lost.isdisjoint(("parameters", "bodies", "joints", "measures"))

    def hides_table(self, name: str) -> bool:
        """Whether `name` may be a table that was not read."""
        return name in self.names or "tables" in self.lost


def _refuse_functions(model: Model) -> None:
    """Raise for each function in the model, which a file cannot hold."""
    problems = []
    for section, word in (("forces", "force"), ("constraints", "constraint"), ("objectives", "objective")):
        for name, element in getattr(model, section).items():
            laws = [value for _, value in element if isinstance(value, Law)]
            if laws:
                text = (
                    f"{word} {name!r} is the function {laws[0].name}, which a model file cannot hold; write it as an "
                )
                problems.append(Problem(text + "expression, or keep the model in Python.", f"{section}.{name}"))
    if problems:
        raise ModelError(*problems)


def _names_in(value: Any) -> frozenset[str]:
    if isinstance(value, Expression):
        return value.names
    if isinstance(value, Law):
        return _names_in(value.inputs)
    if isinstance(value, tuple):
        return frozenset().union(*map(_names_in, value))
    return frozenset()


def _validated(path: tuple, value: Any) -> Any:
    """`value` as the section path[0] holds it; ModelError when it cannot."""
    if len(path) > 1 and not isinstance(path[1], str):
        raise ModelError(Problem(f"{path[0]} has the key {show(path[1])}; a name is needed there.", path[0]))
    try:
        return _adapter(path[0]).validate_python(value)
    except ValidationError as error:
        raise _error(sentences(error, path)) from None


def _converted(key: str, value: Any, findings: list[Finding], broken: Broken) -> Any:
    """`value` as the model holds it under `key`; what is wrong goes to `findings`, its names to `broken`."""
    if key in SINGLE:
        kind_default = SINGLE[key][1]
        try:
            return _adapter(key).validate_python(kind_default if value is None else value)
        except ValidationError as error:
            findings += sentences(error, (key,))
            broken.add(key, key)
            return _adapter(key).validate_python(kind_default)
    section = Section(key)
    if value is not None and not isinstance(value, Mapping):
        findings.append(((key,), f"{key} is {show(value)}; a mapping from names to entries is needed."))
        broken.lose(key)
        return section
    for name, entry in (value or {}).items():
        if not isinstance(name, str):
            findings.append(((key,), f"{key} has the key {show(name)}; a name is needed there."))
            continue
        try:
            dict.__setitem__(section, name, _adapter(key).validate_python(entry))
        except ValidationError as error:
            findings += sentences(error, (key, name))
            broken.add(key, name)
    return section


def _error(findings: list[Finding]) -> ModelError:
    return ModelError(*(Problem(sentence, dotted(path)) for path, sentence in findings))


def _raise(findings: list[Finding]) -> None:
    if findings:
        raise _error(findings)
