"""Record types that elements and coordinate sets share: markers, scalars, their columns, and rows of elements.

A marker is a point or a unit vector of a body; a scalar is a component of a marker or a joint coordinate.  Both have
columns, one for each coordinate (k < n) or parameter direction (k >= n) that moves them.  Elements read and fill these
records and know nothing of coordinates; a set moves the markers and collects what elements left on them.

Slots 0, 1, 2 always hold zero, so that an absent offset or constant is slot 0.
"""

# Marker: body node, slots of the local components and of the body's reference point, columns of coordinates c0:c1 and of
# directions c1:c2; want: whether a pullback is asked for its own slots.  xds is the velocity at unprojected velocities.
# f, fv, fa are covectors (forces; lam, sv, sa products).
MARKER = [
    ("node", "i8"), ("loc", "i8"), ("ref", "i8"), ("point", "i8"), ("c0", "i8"), ("c1", "i8"), ("c2", "i8"), ("want", "i8"),
    ("x", "num", 3), ("xd", "num", 3), ("xdd", "num", 3), ("xds", "num", 3),
    ("f", "num", 3), ("fv", "num", 3), ("fa", "num", 3),
]  # fmt: skip

# What four adjoints make of a marker, a column each: X, X1, Y1, Y2 are duals of x, xds, xd, xdd; dm, dv, da are x_q times mu,
# eta_v, eta_a.
DUAL = [(name, "num", (3, 4)) for name in ("X", "X1", "Y1", "Y2", "dm", "dv", "da")]

# Column k of a marker: x_q, xd_q, xdd_q.
COLUMN = [("k", "i8"), ("xq", "num", 3), ("xdq", "num", 3), ("xddq", "num", 3)]

# Scalar: component `comp` of a marker, or coordinate k when marker < 0; the other fields as for markers.  Where lam > 0 it is
# the multiplier of row lam - 1, which objectives read.
SCALAR = [
    ("marker", "i8"), ("comp", "i8"), ("k", "i8"), ("lam", "i8"),
    ("u", "num"), ("ud", "num"), ("udd", "num"), ("uds", "num"),
    ("dm", "num", (1, 4)), ("dv", "num", (1, 4)), ("da", "num", (1, 4)),
]  # fmt: skip

# Spring between two points; slots stiffness, damping, natural length.
SPRING = [("i", "i8"), ("j", "i8"), ("k", "i8"), ("c", "i8"), ("l0", "i8")]

# Bushing between two frames: their origins a, b and axes; first of three slots of stiffness, damping and natural offset of the
# lengths, and the same of the angles.
BUSHING = [(name, "i8") for name in "a a1 a2 a3 b b1 b2 b3 k c n kt ct nt".split()]

# Constraint and freedom rows: type, markers i, j, k or -1, component, scalar or first coordinate n, number of the row, slot
# of the constant.
ROW = [
    ("type", "i8"), ("i", "i8"), ("j", "i8"), ("k", "i8"), ("comp", "i8"), ("n", "i8"), ("row", "i8"), ("val", "i8"),
]  # fmt: skip
COINCIDENCE, DOT, DISTANCE, NORM, MEASURE = range(5)

# Expression element (force law, row or objective): inputs (scalars) in0:in1 of the table `ins`, slots sl0:sl1 of the
# table `slots`, targets t0:t1 of the table `targets` (places in the inputs a force acts on), spline w or -1, row or
# objective number `row`, and up to three tapes: code rows c:e, constants q:r, outputs from o on.  Each may have a function: its
# number fn in the table `callback` or -1, na arguments, which tape 3 gives, nc values, and nr registers for these and their
# derivatives.  Of signals, the targets are the numbers of those that tape 0 gives.  The power of an idle one does not count;
# level: of a row, 0 of positions and 1 of velocities; metres: the power of length in its unit, or UNTOLD.
LAW = [
    ("in0", "i8"), ("in1", "i8"), ("sl0", "i8"), ("sl1", "i8"), ("t0", "i8"), ("t1", "i8"), ("w", "i8"), ("row", "i8"),
    ("fn", "i8"), ("na", "i8"), ("nc", "i8"), ("nr", "i8"), ("idle", "i8"), ("level", "i8"), ("metres", "i8"),
    *[(f + d, "i8") for d in "0123" for f in ("c", "e", "q", "r", "o")],
]  # fmt: skip
UNTOLD = 99

# Spline: times t0:t1 of the table `times`, four coefficient slots an interval from `slot` on.
SPLINE = [("t0", "i8"), ("t1", "i8"), ("slot", "i8")]

# Inertia of a coordinate k that an element owns: its slot.
OWN = [("k", "i8"), ("slot", "i8")]

# The tables by the names of their arrays.
RECORDS = {
    "mk": MARKER,
    "dual": DUAL,
    "col": COLUMN,
    "sc": SCALAR,
    "spring": SPRING,
    "bushing": BUSHING,
    "row": ROW,
    "law": LAW,
    "row_law": LAW,
    "objective": LAW,
    "kink": LAW,
    "signal": LAW,
    "spline": SPLINE,
    "own": OWN,
}
