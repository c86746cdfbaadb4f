"""The arrays of elements, after the products: the same places in the layout of every coordinate set."""

from kinegrad.kernels.jit import record
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.records import RECORDS

# count: gravity slot; in each table of rows, how many are constraints (the rest are freedoms)
GRAVITY, N_ROWS, N_LAWS = range(3)
N_COUNT = 3

ELEMENTS = PRODUCTS.extend(
    [(name, record(fields), 1) for name, fields in RECORDS.items()]
    + [("code", "i8", 2), ("const", "f8", 1), ("outs", "i8", 1), ("ins", "i8", 1), ("slots", "i8", 1)]
    + [("targets", "i8", 1), ("times", "f8", 1), ("count", "i8", 1), ("stage", "i8", 2)]
    + [("reg", "f8", 1), ("pos", "i8", 1), ("idx", "i8", 1), ("val", "f8", 1)]
    + [("U", "f8", 2), ("Ud", "f8", 2), ("Udd", "f8", 2)]
    + [("callback", "i8", 1), ("job", "i8", 1), ("call_x", "f8", 1), ("call_y", "f8", 1)]
    + [("zero", "f8", 1), ("links", "i8", 1)]  # n zeros; addresses of the parts of the set
    + [("seen_signals", "f8", 1)]
    + [("multipliers", "i8", 1)]  # scalars that are multipliers
)
