"""Which parts of its own each function of the natural set runs."""

from kinegrad.kernels import products as functions
from kinegrad.kernels.elements.kinds import link_function
from kinegrad.kernels.natural.functions import AT_POSITIONS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS, PARTS, PREPARE

OWN = {
    functions.POSITION: (PREPARE, AT_POSITIONS),
    functions.EVALUATE: (PREPARE, AT_POSITIONS),
    functions.LINEARISE: (PREPARE,),
}
OF_DIRECTIONS = {functions.LINEARISE: (DIRECTION_COLUMNS, DIRECTION_PRODUCTS)}


def link(which: int, arrays) -> None:
    """Put the addresses of all that function `which` runs on these arrays where it finds them, compiled now if need be."""
    link_function(which, arrays)
    PARTS.link(arrays["links"], OWN.get(which, ()))
    if len(arrays["ds"]):
        PARTS.link(arrays["links"], OF_DIRECTIONS.get(which, ()))
