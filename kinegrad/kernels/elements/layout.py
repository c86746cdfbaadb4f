"""The arrays of elements, after the products: the same places in the layout of every coordinate set."""

from kinegrad.kernels.jit import JIT, kernel, record
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.records import COLUMN, LAW, MARKER, ROW, SCALAR, SPLINE, SPRING
from kinegrad.kernels.table import call

RECORDS = {
    "mk": MARKER, "col": COLUMN, "sc": SCALAR, "spring": SPRING, "row": ROW, "law": LAW, "row_law": LAW,
    "objective": LAW, "spline": SPLINE,
}  # fmt: skip

# count: constraint rows and expression rows that are constraints (the rest are freedoms), gravity slot
N_ROWS, N_LAWS, GRAVITY = range(3)

ELEMENTS = PRODUCTS.extend(
    [(name, record(fields), 1) for name, fields in RECORDS.items()]
    + [("code", "i8", 2), ("const", "f8", 1), ("outs", "i8", 1), ("ins", "i8", 1), ("slots", "i8", 1)]
    + [("targets", "i8", 1), ("times", "f8", 1), ("count", "i8", 1), ("links", "i8", 1)]
    + [("reg", "f8", 1), ("pos", "i8", 1), ("idx", "i8", 1), ("val", "f8", 1)]
    + [("U", "f8", 2), ("Ud", "f8", 2), ("Udd", "f8", 2)]
    + [("callback", "i8", 1), ("job", "i8", 1), ("call_x", "f8", 1), ("call_y", "f8", 1)]
)

# Parts: functions that a set's functions call through `links`, so that each is compiled once, and only when used.
(
    LAW_FORCES, LAW_STIFFNESS, LAW_LINEAR, LAW_PULL, LAW_POWER,
    ROW_LAW_VALUES, ROW_LAW_BIAS, ROW_LAW_LINEAR, ROW_LAW_PULL,
    OBJECTIVE_VALUES, OBJECTIVE_LINEAR, OBJECTIVE_PULL,
    SPRING_LINEAR, SPRING_PULL, ROW_LINEAR, ROW_PULL,
    DIRECTION_COLUMNS, DIRECTION_PRODUCTS, INERTIA_PRODUCTS, AT_POSITIONS, LAW_CALL,
) = range(21)  # fmt: skip
N_PARTS = 21

PARTS = {}
"""The functions by number, as Python functions or CFunctions; filled by `part`."""

if JIT:
    _links = ELEMENTS.viewers("links")[0]

    @kernel
    def link(ctx, k):
        """Run part k."""
        call(_links(ctx)[k], ctx)

else:

    def link(ctx, k):
        """Run part k."""
        PARTS[k](ctx)


def part(number: int):
    """A decorator: the C function is part `number` of the elements."""

    def decorate(function):
        PARTS[number] = function
        return function

    return decorate
