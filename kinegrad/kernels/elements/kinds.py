"""All kinds of elements, and the parts of those that a model has."""

import numpy as np

from kinegrad.kernels.elements import (
    bushings,
    callbacks,
    expression_rows,
    laws,
    objectives,
    own_inertia,
    rows,
    springs,
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
    callbacks.KIND,
    own_inertia.KIND,
)


def empty_stages() -> np.ndarray:
    """A table of stages in which nothing takes part yet."""
    return np.zeros((N_STAGES, FIRST + len(KINDS)), np.int64)


def taking_part(arrays, stage: int) -> list:
    """The kinds of elements that a model has and that do something at a stage."""
    return [kind for kind in KINDS if stage in kind.parts and kind.is_in(arrays)]


def link_stages(arrays, stages) -> None:
    """Put the parts of these stages that a model needs into its table of stages, compiled now if need be."""
    table = arrays["stage"]
    for stage in (*stages, CALLS):
        if table[stage, COUNT] == 0:
            present = taking_part(arrays, stage)
            for i, kind in enumerate(present):
                table[stage, FIRST + i] = address(kind.parts[stage])
            table[stage, SCALARS] = any(kind.scalars for kind in present)
            table[stage, COUNT] = len(present)
