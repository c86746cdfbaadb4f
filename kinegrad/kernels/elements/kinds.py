"""All kinds of elements, and the parts of those that a model has."""

import numpy as np

from kinegrad.kernels import products as functions
from kinegrad.kernels.elements import (
    bushings,
    callbacks,
    expression_rows,
    kinks,
    laws,
    objectives,
    own_inertia,
    rows,
    signals,
    springs,
    stages,
)
from kinegrad.kernels.elements.stages import CALLS, COUNT, FIRST, N_STAGES, SCALARS
from kinegrad.kernels.table import address

# Within a stage they take part in this order.
KINDS = (
    springs.KIND,
    bushings.KIND,
    laws.KIND,
    rows.KIND,
    expression_rows.KIND,
    objectives.KIND,
    signals.KIND,
    callbacks.KIND,
    own_inertia.KIND,
    kinks.KIND,
)

# The stages that each function of a set runs, whichever set it is.
STAGES = {
    functions.POSITION: (stages.ROWS,),
    functions.EVALUATE: (stages.ROWS, stages.FORCES, stages.STIFFNESS),
    functions.BIAS: (stages.BIAS,),
    functions.OBSERVE: (stages.OBJECTIVES,),
    functions.LINEARISE: (stages.LINEAR_FORCES, stages.LINEAR_ROWS, stages.LINEAR_OBJECTIVES),
    functions.PULLBACK: (stages.PULL,),
    functions.PULLBACK4: (stages.PULL,),
    functions.ENERGY: (stages.ENERGY,),
}


def empty_stages() -> np.ndarray:
    """A table of stages in which nothing takes part yet."""
    return np.zeros((N_STAGES, FIRST + len(KINDS)), np.int64)


def taking_part(arrays, stage: int) -> list:
    """The kinds of elements that a model has and that do something at a stage."""
    return [kind for kind in KINDS if stage in kind.parts and kind.is_in(arrays)]


def link_function(which: int, arrays) -> None:
    """Put the parts that function `which` of a set runs on a model into its table of stages, compiled now if need be."""
    link_stages(arrays, STAGES[which])


def link_stages(arrays, wanted) -> None:
    """Put the parts of these stages that a model needs into its table of stages, compiled now if need be."""
    table = arrays["stage"]
    for stage in (*wanted, CALLS):
        if table[stage, COUNT] == 0:
            present = taking_part(arrays, stage)
            for i, kind in enumerate(present):
                table[stage, FIRST + i] = address(kind.parts[stage])
            table[stage, SCALARS] = any(kind.scalars for kind in present)
            table[stage, COUNT] = len(present)


def linker(parts, own, of_directions):
    """``link(which, arrays)`` of a set: puts the addresses of all that function `which` runs on these arrays where it finds
    them, compiled now if need be.

    Parameters
    ----------
    parts : Parts
        The parts of the set.
    own, of_directions : dicts of function to numbers of parts
        What each function runs, and what it runs besides where there are directions.
    """

    def link(which: int, arrays) -> None:
        link_function(which, arrays)
        parts.link(arrays["links"], own.get(which, ()))
        if len(arrays["ds"]):
            parts.link(arrays["links"], of_directions.get(which, ()))

    return link
