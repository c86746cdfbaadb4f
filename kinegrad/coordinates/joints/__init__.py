"""The kinds of joints, one file each: all that kinegrad knows of a joint beside its class in `kinegrad.model.joints`."""

from __future__ import annotations

from kinegrad.coordinates.joints.base import JointKind
from kinegrad.coordinates.joints.cardan import CardanKind
from kinegrad.coordinates.joints.cylindrical import CylindricalKind
from kinegrad.coordinates.joints.fixed import FixedKind
from kinegrad.coordinates.joints.floating import FloatingKind
from kinegrad.coordinates.joints.link import LinkKind
from kinegrad.coordinates.joints.planar import PlanarKind
from kinegrad.coordinates.joints.prismatic import PrismaticKind
from kinegrad.coordinates.joints.revolute import RevoluteKind
from kinegrad.coordinates.joints.screw import ScrewKind
from kinegrad.coordinates.joints.spherical import SphericalKind

#: The joint between the ground and a chain that nothing else ties to it.
FREE = FloatingKind()

#: Kinds by the type of their model class.
KINDS: dict[str, JointKind] = {
    kind.type: kind
    for kind in (
        RevoluteKind(),
        PrismaticKind(),
        CylindricalKind(),
        ScrewKind(),
        CardanKind(),
        SphericalKind(),
        FREE,
        PlanarKind(),
        FixedKind(),
        LinkKind(),
    )
}
