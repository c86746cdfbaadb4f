"""What a set of coordinates is to the rest of the program: names and units of coordinates, and what a set answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np

    from kinegrad.coordinates.joint.spanning_tree import SpanningTree
    from kinegrad.coordinates.system import System
    from kinegrad.coordinates.workspace import Workspace

METRE, RADIAN, ONE = "m", "rad", "1"
EULER = ("e0", "e1", "e2", "e3")


class Coordinate(str):
    """The name of an entry of q, ``owner.part``, which knows its unit and its owner.

    Attributes
    ----------
    owner : str
        The joint, body or element that it belongs to.
    part : str
        Its name there, such as ``angle``.
    unit : str
        "m", "rad", or "1" for Euler parameters and components of unit vectors.
    """

    __slots__ = ("owner", "part", "unit")

    def __new__(cls, owner: str, part: str, unit: str) -> Coordinate:
        self = super().__new__(cls, f"{owner}.{part}")
        self.owner, self.part, self.unit = owner, part, unit
        return self

    def __getnewargs__(self) -> tuple[str, str, str]:
        return self.owner, self.part, self.unit


class CoordinateSet(ABC):
    """A way to describe positions, as it serves one system; what a set needs beyond the tables of elements is its own.

    Attributes
    ----------
    kind : str
        Its name in files and on the command line.
    option_names : tuple of str
        What `kinegrad.lower` takes for it.
    functions : tuple
        The seven functions of `kinegrad.kernels.products`.
    layout : Layout
        The arrays of its contexts.
    linked : tuple of str
        The arrays that `link` writes to, if it writes to nothing else: what it wrote is then kept for the next workspace.
    """

    kind: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]]
    linked: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def lower(cls, model, values: Mapping | None, **options) -> System:
        """A checked model in these coordinates."""

    @property
    @abstractmethod
    def options(self) -> dict:
        """The options with which `lower` makes the same system again."""

    @property
    @abstractmethod
    def functions(self) -> tuple: ...

    @property
    @abstractmethod
    def layout(self): ...

    @abstractmethod
    def arrays(self, system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> dict:
        """The arrays of a workspace that are neither products nor scratch, with the columns of markers for directions ds;
        `wanted`: slots that a pullback has to serve."""

    @abstractmethod
    def link(self, which: int, arrays: dict) -> None:
        """Put the addresses of all that function `which` runs on a model into the arrays of its context."""

    @abstractmethod
    def guess(
        self, system: System, s: np.ndarray, close: Callable[[System, Workspace], None] | None = None
    ) -> np.ndarray:
        """q near the poses of the bodies, without what elements own: it chooses the branch of the assembly.

        A set that takes the poses from joint coordinates calls `close` for those, which closes their loops.
        """

    def spanning_tree(self) -> SpanningTree | None:
        """The tree of joints that these coordinates stand on; None where they stand on none."""
        return None

    def in_joints(self, system: System) -> System | None:
        """The same model in joint coordinates, with the parameters that `system` has; None where a set knows of none."""
        return None

    def joint_coordinate(self, joint: str, part: str) -> int | None:
        """The entry of q that is a coordinate of a joint; None where it is measured from markers."""
        return None

    def check(self, system: System, s: np.ndarray) -> None:
        """Raise where values s of the slots spoil what was chosen when the system was made."""
        return None

    def mirrored(self, work: Workspace) -> str:
        """A body that is its own mirror image at the position in the workspace, where coordinates allow that; else empty."""
        return ""

    def coupled(self, system: System) -> list[Iterable[int]]:
        """Groups of coordinates that inertia couples among themselves; all of them, unless a set knows better."""
        return [range(system.n)]

    def remark(self, system: System, work: Workspace) -> str:
        """A sentence for those who simulate from the start in the workspace, if these coordinates lose digits there."""
        return ""

    @abstractmethod
    def bodies(self, system: System, work: Workspace) -> tuple[np.ndarray, ...]:
        """A (b, 3, 3), r (b, 3), V (b, 6), a (b, 6) of the bodies in the order of the model, after OBSERVE: orientation and
        origin of their frames, motion about the global origin and its rate."""

    @abstractmethod
    def from_bodies(self, system: System, work: Workspace, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
        """q, v, a (n,) of bodies that move as `bodies` tells it, without what elements own; the workspace may be changed.

        Where a coordinate is known up to full turns, or four of them up to their sign, it is the one nearest to `near` (n,).
        """
