"""Which parts of its own each function of the joint set runs."""

from kinegrad.kernels import products as functions
from kinegrad.kernels.elements.kinds import linker
from kinegrad.kernels.joint.functions import (
    AT_POSITIONS,
    DIRECTION_COLUMNS,
    DIRECTION_PRODUCTS,
    INERTIA_PRODUCTS,
    PARTS,
)
from kinegrad.kernels.set_functions import FOUR_ADJOINTS

OWN = {
    functions.POSITION: (AT_POSITIONS,),
    functions.EVALUATE: (AT_POSITIONS,),
    functions.LINEARISE: (INERTIA_PRODUCTS,),
    functions.PULLBACK: (FOUR_ADJOINTS,),
}
OF_DIRECTIONS = {functions.LINEARISE: (DIRECTION_COLUMNS, DIRECTION_PRODUCTS)}

link = linker(PARTS, OWN, OF_DIRECTIONS)
