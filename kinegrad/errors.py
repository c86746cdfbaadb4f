"""The exceptions users see: each carries its problems as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

LONGEST = 2000  # characters of a sentence; names and lists in it may be of any length


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, and what to try.

    Attributes
    ----------
    sentence : str
        One sentence that names the element, the value found and the remedy.
    where : str
        Path of the element, such as ``bodies.crank.mass``; empty when there is none.
    line : int, optional
        Line in the model file, from 1.
    """

    sentence: str
    where: str = ""
    line: int | None = None

    def __post_init__(self):
        for name, most in (("sentence", LONGEST), ("where", LONGEST // 4)):
            text = getattr(self, name)
            if len(text) > most:
                object.__setattr__(self, name, f"{text[: 3 * most // 4]} ... {text[-most // 4 :]}")

    def __str__(self) -> str:
        return self.sentence if self.line is None else f"line {self.line}: {self.sentence}"


class KinegradError(Exception):
    """The base of all errors raised on purpose; `problems` lists what is wrong."""

    def __init__(self, *problems: Problem | str):
        self.problems = tuple(p if isinstance(p, Problem) else Problem(p) for p in problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class ExpressionError(KinegradError):
    """A text that is not an expression of the language; `column` counts from 1."""

    def __init__(self, sentence: str, column: int | None = None):
        self.column = column
        super().__init__(sentence)


class UnknownNameError(KinegradError, KeyError):
    """A name that a result does not have; for a mapping it is a key that lacks."""

    __str__ = Exception.__str__


def place_of(name: object, names: Iterable[str], what: str) -> int:
    """The place of a name among the names of a result; otherwise an `UnknownNameError` that tells the nearest."""
    names = list(names)
    if name in names:
        return names.index(name)
    near = get_close_matches(str(name), names, n=1)
    choice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:20]) or 'none'}."
    raise UnknownNameError(f"There is no {what} {name!r} in it; {choice}")


class ModelError(KinegradError):
    """A model description that cannot be used."""


class ModelWarning(UserWarning):
    """Numbers of a model that can be used and look wrong."""


class AssemblyError(KinegradError):
    """A position, velocity or acceleration problem without a solution; `motion` holds what was found before, if anything."""

    def __init__(self, *problems: Problem | str, motion=None):
        self.motion = motion
        super().__init__(*problems)


class DerivativeWarning(UserWarning):
    """Derivatives that are not good to all digits, and why."""


class AccuracyWarning(UserWarning):
    """A motion that is less accurate than its step and tolerance say, and why."""


class IterationWarning(UserWarning):
    """Steps that took nearly all iterations they may."""


class UnusedOptionWarning(UserWarning):
    """An option that has no effect in the combination at hand."""


class UncheckedFileWarning(UserWarning):
    """A saved motion without a checksum: damage to its numbers would not show."""


class SimulationError(KinegradError):
    """A simulation that stopped early; `motion` holds what was computed, when there is something."""

    def __init__(self, *problems: Problem | str, motion=None):
        self.motion = motion
        super().__init__(*problems)
