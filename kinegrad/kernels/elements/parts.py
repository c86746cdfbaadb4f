"""Which parts each function of a set runs, and on which models: a part that a model does not need is not compiled."""

from kinegrad.kernels.elements import layout as p
from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, LINEARISE, OBSERVE, POSITION, PULLBACK

# function -> parts, each with the array that must not be empty (None: always)
RUNS = {
    POSITION: ((p.AT_POSITIONS, None), (p.ROW_LAW_VALUES, "row_law")),
    EVALUATE: (
        (p.AT_POSITIONS, None), (p.LAW_FORCES, "law"), (p.LAW_STIFFNESS, "law"), (p.ROW_LAW_VALUES, "row_law"),
        (p.LAW_CALL, "callback"),
    ),
    BIAS: ((p.ROW_LAW_BIAS, "row_law"),),
    OBSERVE: ((p.OBJECTIVE_VALUES, "objective"), (p.LAW_CALL, "callback")),
    LINEARISE: (
        (p.INERTIA_PRODUCTS, None), (p.SPRING_LINEAR, "spring"), (p.LAW_LINEAR, "law"), (p.ROW_LINEAR, "row"),
        (p.ROW_LAW_LINEAR, "row_law"), (p.OBJECTIVE_LINEAR, "objective"), (p.DIRECTION_COLUMNS, "ds"),
        (p.DIRECTION_PRODUCTS, "ds"), (p.LAW_CALL, "callback"),
    ),
    PULLBACK: (
        (p.SPRING_PULL, "spring"), (p.LAW_PULL, "law"), (p.ROW_PULL, "row"), (p.ROW_LAW_PULL, "row_law"),
        (p.OBJECTIVE_PULL, "objective"), (p.LAW_CALL, "callback"),
    ),
    ENERGY: ((p.LAW_POWER, "law"), (p.LAW_CALL, "callback")),
}  # fmt: skip


def parts_of(which: int, arrays) -> list:
    """Numbers and functions of the parts that function `which` runs on these arrays."""
    return [(number, p.PARTS[number]) for number, array in RUNS[which] if array is None or len(arrays[array])]
