"""The coordinate sets by name, and the one door through which a model becomes a system."""

from __future__ import annotations

from collections.abc import Mapping

from kinegrad.collection import without_collection
from kinegrad.coordinates.coordinate_set import CoordinateSet
from kinegrad.coordinates.joint.joint_set import JointSet
from kinegrad.coordinates.natural.natural_set import NaturalSet
from kinegrad.coordinates.reference_point.reference_set import ReferencePointSet
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.model.element import closest
from kinegrad.quiet import without_warnings

SETS: dict[str, type[CoordinateSet]] = {kind.kind: kind for kind in (JointSet, ReferencePointSet, NaturalSet)}


@without_warnings
@without_collection
def lower(model, kind: str | None = None, *, values: Mapping | None = None, **options) -> System:
    """`model` as equations in one set of coordinates.

    Parameters
    ----------
    kind : str, optional
        The set: "joint", "reference-point" or "natural".  The simulation section of the model says which by default.
    values : mapping, optional
        Values of independent parameters that replace those of the model.
    options
        Of the set, in the place of those of the model; None leaves them to the model.  Joint coordinates: `cut`, names of
        joints to cut before the rule chooses; `body_point`, where the motion of each body is taken, "origin" or "com".
    """
    model.check()
    chosen = model.simulation.coordinates
    kind = chosen.type if kind is None else kind
    if kind not in SETS:
        raise KinegradError(f"There are no coordinates {kind!r}{closest(kind, SETS)}; choose one of {', '.join(SETS)}.")
    given = chosen.options() if kind == chosen.type else {}
    known = SETS[kind].option_names
    for name in options:
        if name not in known:
            raise KinegradError(
                f"{kind.capitalize()} coordinates have no option {name!r}{closest(name, known)}; "
                f"they have {', '.join(known) or 'none'}."
            )
    given |= {name: value for name, value in options.items() if value is not None}
    return SETS[kind].lower(model, values, **given)


def joint(model, *, cut=(), values: Mapping | None = None, body_point: str | None = None) -> System:
    """`model` in joint coordinates of a spanning tree: ``lower(model, "joint", ...)``."""
    return lower(model, "joint", values=values, cut=cut, body_point=body_point)


def reference_point(model, *, values: Mapping | None = None) -> System:
    """`model` in the centres of mass and Euler parameters of its bodies: ``lower(model, "reference-point", ...)``."""
    return lower(model, "reference-point", values=values)


def natural(model, *, merge: bool | None = None, planar: str | None = None, values: Mapping | None = None) -> System:
    """`model` in points and unit vectors that bodies share: ``lower(model, "natural", ...)``."""
    return lower(model, "natural", values=values, merge=merge, planar=planar)
