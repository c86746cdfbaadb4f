"""What a kind of joint answers: in the tree, closed by rows, measured from markers, for reactions and on the page.

A kind has no state: what it is asked about comes with the question, as the name of a joint and its description (an object of
the model class), or as the path of its numbers, ``joints.NAME``. Nothing but `motions` and `extract` belongs to the joint set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.coordinates.elements import Elements
    from kinegrad.coordinates.laws import Formula
    from kinegrad.model.joints import Joint
    from kinegrad.model.slots import SlotBuilder


class Motion(NamedTuple):
    """One of the motions that follow each other in a joint of the tree.

    `part` is the coordinate (of Euler parameters what their numbers follow), `node` the type of the node
    (`kinegrad.kernels.joint.records`), `axis` the first slot of its axis, `pitch` the slot of a pitch.
    """

    part: str
    node: int
    axis: int = 0
    pitch: int = 0


class Measured(NamedTuple):
    """A coordinate as a Scalar of markers; `wraps` marks an angle that is known up to full turns."""

    value: Any
    wraps: bool


class Free(NamedTuple):
    """A direction in which a joint moves freely, as a motion of its second marker and body seen from the first (REA-1).

    `part` is its coordinate, "" where it has none of its own; `node` is SLIDE, TURN or SCREW, along or about the unit vector
    `axis` (3,) of a `frame` (FIRST, SECOND, GLOBAL or BAR of `kinegrad.kernels.reactions.records`). A force on the coordinate
    is a force for a slide and a moment otherwise, with 1 along its own axis and 0 along other slides, or turns, of the joint.
    """

    part: str
    node: int
    frame: int
    axis: np.ndarray
    pitch: float = 0.0


@dataclass(frozen=True)
class Symbol:
    """A solid that shows a joint on the page: a cylinder, a box or a sphere, in units of the size of symbols.

    It lies at the marker `end` (0: first, 1: second), moved by `shift` along its axis: the joint's axis in the first or second
    body (0 or 1), or the global z (None). `length` is taken along it, `radius` across (the width of a box).
    """

    solid: str
    radius: float
    length: float = 0.0
    end: int = 0
    axis: int | None = 0
    shift: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """How a joint is drawn.

    Attributes
    ----------
    symbols : tuple of Symbol
    support : bool
        Whether a block shows that the ground holds it.
    rail : bool
        Whether a rod along the axis shows how far it goes.
    runner : bool
        Whether bodies that it guides are drawn as blocks along its axis, if they have no shape of their own.
    bar : bool
        Whether it is a bar between its two markers.
    """

    symbols: tuple[Symbol, ...] = ()
    support: bool = False
    rail: bool = False
    runner: bool = False
    bar: bool = False


class JointKind(ABC):
    """A kind of joint.

    Attributes
    ----------
    model : class of `kinegrad.model.joints`
    coordinates : dict name -> unit
        Its entries of q while it is in the tree, in the order of its motions.
    own : tuple of str
        Coordinates that have to be entries of q wherever they are used (OWN-1): angles that markers tell up to full turns, and
        what markers tell by other motions than those that a force on it works on.
    n_norms : int
        Rows that come with these: norms of Euler parameters.
    n_rows : int
        Rows that close it when it is not in the tree, with those that follow by structure.
    cutting : int
        The larger, the sooner a loop is opened here rather than at another joint.
    in_tree : bool
        False for a joint that is rows in any case.
    shares : tuple of str
        What its bodies have in common, where coordinates can say so: "point", its two markers; "axis", the z axes of its
        frames; "orientation", these frames. `close` leaves out the rows of what `Elements.shared` has for it.
    apart : str
        How its two markers move apart, if they do: "along" its axis, or "across" it; "" where nothing is said.
    drawing : Drawing
    """

    model: ClassVar[type[Joint]]
    coordinates: ClassVar[dict[str, str]] = {}
    own: ClassVar[tuple[str, ...]] = ()
    n_norms: ClassVar[int] = 0
    n_rows: ClassVar[int]
    cutting: ClassVar[int] = 1
    in_tree: ClassVar[bool] = True
    shares: ClassVar[tuple[str, ...]] = ()
    apart: ClassVar[str] = ""
    drawing: ClassVar[Drawing] = Drawing()

    @property
    def type(self) -> str:
        """The type in model files."""
        return self.model.model_fields["type"].default

    def motions(self, slots: SlotBuilder, path: str, joint) -> list[Motion]:
        """The motions that make the joint, from its first to its second body; between its frames, where it has some."""
        return []

    def frames(self, slots: SlotBuilder, path: str, joint) -> tuple[list | None, list | None]:
        """Nine Scalars, by rows, of its frame in the first and second body; None where its motions need none."""
        return None, None

    def vectors(self, slots: SlotBuilder, path: str, joint) -> tuple[int, int] | None:
        """First slots of a unit vector in each body that its rows compare, beside what its bodies share."""
        return None

    def extract(self, R: np.ndarray, d: np.ndarray, axes: Sequence[np.ndarray], pitch: float) -> list[list[float]]:
        """Coordinates of each motion nearest to a pose.

        R (3, 3), d (3,) are the orientation of the second frame and the place of the second marker, seen from the first;
        `axes` and `pitch` are the values of the slots that `motions` names.
        """
        return []

    @abstractmethod
    def close(self, elements: Elements, name: str, joint) -> None:
        """Write the rows of the joint where it is not in the tree: as many as it holds freedoms, all independent (CLO-1).

        A vector is held by its components across the axis, in the first body; a third one follows and is only counted.
        """

    def measure(self, elements: Elements, formula: Formula, name: str, joint, part: str) -> Measured:
        """The coordinate `part`, from markers alone."""
        raise KinegradError(f"joint {name!r} is {self.type}: it has no coordinate {part!r} that can be measured.")

    def thrust(self, elements: Elements, formula: Formula, name: str, joint, row: int) -> tuple[list, list]:
        """Force and moment on the second body, at the first marker, of a row that is given by an expression."""
        raise KinegradError(f"joints of the type {self.type!r} have no rows given by expressions")

    @abstractmethod
    def free_directions(self, numbers, path: str, joint) -> Sequence[Free]:
        """Directions in which the joint holds nothing (REA-1); `numbers` gives values by their paths (`number`, `unit`)."""
