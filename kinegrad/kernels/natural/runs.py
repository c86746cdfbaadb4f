"""Which parts of its own each function of the natural set runs."""

from kinegrad.kernels import products as functions
from kinegrad.kernels.elements.kinds import linker
from kinegrad.kernels.natural.functions import (
    AT_POSITIONS,
    DIRECTION_COLUMNS,
    DIRECTION_PRODUCTS,
    PARTS,
    PREPARE,
)
from kinegrad.kernels.set_functions import FOUR_ADJOINTS

OWN = {
    functions.POSITION: (PREPARE, AT_POSITIONS),
    functions.EVALUATE: (PREPARE, AT_POSITIONS),
    functions.LINEARISE: (PREPARE,),
    functions.PULLBACK: (FOUR_ADJOINTS,),
}
OF_DIRECTIONS = {functions.LINEARISE: (DIRECTION_COLUMNS, DIRECTION_PRODUCTS)}

link = linker(PARTS, OWN, OF_DIRECTIONS)
