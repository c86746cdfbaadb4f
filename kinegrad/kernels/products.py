"""The arrays that formulations and coordinate sets share, and the eight functions a set offers.

Sizes: n coordinates, m constraint rows, d freedom rows after them (r = m + d), p directions, o objectives.  A derivative by
z = (q, ρ) is two arrays: `X_q`, of a pattern (`kinegrad.kernels.pattern`), and `X_s`, with a column for each direction.
Signs: R = M a + f + Phi_qᵀ lam with f = -Q.

    POSITION    q, t  ->  Phi, Phi_t, Phi_q
    EVALUATE    q, v, t  ->  M, f, Phi, Phi_t, Phi_q, and K: the lower triangle of about wk f_q + wc f_v; with the flag
                AT_POSITION it takes up what POSITION left at the same q
    BIAS        vp, ap = 0 at the q of the last EVALUATE  ->  c = Phidd at zero accelerations
    OBSERVE     vp, ap at the q of the last EVALUATE  ->  g
    LINEARISE   q; v, a, lam; vp, ap; dv, sv; da, sa  ->  M, C = f_v, J, R_z, Nv_z = (M dv + Jᵀsv)_z, Na_z,
                Phi_z, Phid_z, Phidd_z, Phidd_v, Phids_z, g, g_z, g_v, g_a
    PULLBACK    mu, eta_v, eta_a; yp, yv, ya, ys after LINEARISE  ->  psi_s += mu·R_s + eta_v·Nv_s + eta_a·Na_s + yp·Phi_s
                + yv·Phid_s + ya·Phidd_s + ys·Phids_s + weight g_s, in the row of one objective
    PULLBACK4   the same with mu4, ..., weight4 for four objectives at once, those of a block, an objective a column; columns
                of objectives that do not take part are 0  ->  psi4 of the block; `collect` adds psi4 to psi_s
    ENERGY      after EVALUATE at (q, v)  ->  energy: kinetic, potential, and power of what has no potential

R is taken at (q, v, a), the constraints, objectives and projections at (q, vp, ap).

`alike` has, at the first of coordinates that share their inertia (four Euler parameters), how many they are, else 0.

What is compared or added up is in the sizes of the model: `size`, its length L, mass and time, powers of two; `unit`, L of
coordinates that are lengths and 1 of others, and `per`, 1 over it; `per_row`, 1 over the unit of a row in powers of L, or 0
where nobody knows it; `soft`, (unit/L)², by which compliances of rows are multiplied, so that they are those of rows in metres;
`psi_size`, the unit of an objective in these sizes.

Rows have a `level`.  At 0, of positions, Phi(q, t) = 0, J = Phi_q and Phidd_v = 2 Phid_q.  At 1, of velocities, there is no
Phi (it is 0), and Phid = A(q, t) v - b: J = A, Phi_t = -b, Phidd_v = Phid_q + dA/dt; Phids is Phid at (q, v).
"""

from kinegrad.kernels.table import Layout, full_viewer

EVALUATE, BIAS, OBSERVE, LINEARISE, PULLBACK, ENERGY, POSITION, PULLBACK4 = range(8)
N_FUNCTIONS = 8

# par: numbers a formulation hands over, behind them the largest coordinate of a point at the start, in lengths of the model,
# by what iterations of steps shrank a change when it was last seen (NEW-1), and what the first one changed in the step before
# (ALI-8); flag: integers, among them the status a function leaves, how many solutions of derivatives are not exact, and for
# PULLBACK4 the block and which of its columns take part.
TIME, WK, WC, WEIGHT, EXTENT, SHRINKING, FIRST = range(7)
FREEDOMS, OBJECTIVE, STATUS, AT_POSITION, UNSETTLED, BLOCK, FIRST_COLUMN, END_COLUMN = range(8)
N_PAR, N_FLAG = 7, 8

VECTORS = {
    "n": ("q", "v", "a", "vp", "ap", "dv", "da", "f", "mu", "eta_v", "eta_a"),
    "r": ("lam", "sv", "sa", "Phi", "Phi_t", "c", "yp", "yv", "ya", "ys"),
}
# Flat arrays, by the pattern they have: coordinates by coordinates, and rows by coordinates.
PATTERNS = {
    "square": ("M", "K", "C", "R_q", "Nv_q", "Na_q"),
    "wide": ("J", "Phidd_v", "Phi_q", "Phid_q", "Phidd_q", "Phids_q"),
}
MATRICES = {
    ("n", "p"): ("R_s", "Nv_s", "Na_s"),
    ("r", "p"): ("Phi_s", "Phid_s", "Phidd_s", "Phids_s"),
    ("o", "p"): ("g_s",),
    ("o", "n"): ("g_q", "g_v", "g_a"),
    ("n", "4"): ("mu4", "eta_v4", "eta_a4"),
    ("r", "4"): ("yp4", "yv4", "ya4", "ys4"),
}

# Scratch of formulations: what it holds does not outlast a call of theirs, but for ease, sizes and scales (LIN-6,
# IDX-7, IDX-8), and for a1, a2, a3, accelerations of steps before the last (ALI-7).  E are the rows that a step or stage
# solves, by q, ρ, v and a; `factored` those rows that are in the factors.
VECTORS_OF_SCRATCH = {
    "n": ("x", "y", "w", "qt", "vt", "scale", "a1", "a2", "a3"),
    "2n": ("d",),
    "m": ("r", "z", "D", "Dp", "ease", "sizes", "row_scale", "reach"),
    "o": ("weights",),
}
PATTERNS_OF_SCRATCH = {"square": ("T",), "wide": ("E_q", "E_v", "E_a", "factored")}
MATRICES_OF_SCRATCH = {("n", "n"): ("T_lu", "M_lu"), ("n", "4"): ("r1", "x4", "w4", "U4", "H4", "E4")}
MATRICES_OF_SCRATCH |= {("m", "4"): ("r2", "y4", "z4", "P4", "D4", "B4"), ("m", "p"): ("E_s",), ("m", "n"): ("apart",)}
PIVOTS = ("T_pivots", "M_pivots")

# Of the solver by fronts (`kinegrad.kernels.solvers.fronts`): its tables, factors, scratch, the words of a call and the
# addresses of its functions; empty where matrices are dense.
FRONT_TABLES = ("front_columns", "front_places", "front_of_entry", "front_of_lower", "front_of_row", "front_in_row")
FRONT_NUMBERS = {"T_fronts": 2, "M_fronts": 2, "front_w": 1, "front_x": 2}  # and their dimensions
FRONT_WORDS = ("front_job", "front_words", "solver")

# Of objectives with forces of constraints (`kinegrad.kernels.formulations.constraint_forces`): the context beside and its
# number of rows, which coordinate each of its own is (-1: it is held at zero; -2 - k: it is scalar k), functions of the set,
# and which objectives these are; of those linear in these coordinates, the first slot of their derivatives, or -1; options; of
# its rows, the first of the block of each, and what makes moments comparable with forces; derivatives by multipliers, and
# adjoints of the equations of motion and of rows in them; values with other multipliers.  Or empty.
# `again` tells whether an objective uses forces of constraints, or such as redundant rows share; `inner` ends with whether any
# does, and 1 + an objective that asks how.
AGAIN, SHARING = 1, 2
N_INNER = 4
POINTER, ROWS, SHARED, NOT_UNIQUE = range(N_INNER)
SOLVED_AGAIN = {"inner": "i8", "inner_q": "i8", "inner_fn": "i8", "again": "i8", "inner_opts": "f8"}
SOLVED_AGAIN |= {"blocks": "i8", "units": "f8", "linear": "i8"}
BY_FORCES = ("g_lam", "by_motion", "by_rows", "g_other")

# In what things are judged: constant in a run.
SIZES = ("size", "unit", "per", "per_row", "soft", "psi_size")
LENGTH, MASS, DURATION = range(3)  # in `size`

PATTERN_OF = {
    name: pattern for kinds in (PATTERNS, PATTERNS_OF_SCRATCH) for pattern, names in kinds.items() for name in names
}

PRODUCTS = Layout(
    [
        ("par", "f8", 1),
        ("flag", "i8", 1),
        ("level", "i8", 1),
        ("alike", "i8", 1),
        *((name, "f8", 1) for name in SIZES),
        ("s", "f8", 1),
        ("ds", "f8", 2),
        ("g", "f8", 1),
        ("psi_s", "f8", 2),
        ("psi4", "f8", 3),
        ("weight4", "f8", 1),
    ]
    + [("energy", "f8", 1)]
    + [(pattern, "i8", 1) for pattern in PATTERNS]
    + [(name, "f8", 1) for names in VECTORS.values() for name in names]
    + [(name, "f8", 1) for names in PATTERNS.values() for name in names]
    + [(name, "f8", 2) for names in MATRICES.values() for name in names]
    + [(name, "f8", 1) for names in VECTORS_OF_SCRATCH.values() for name in names]
    + [(name, "f8", 1) for names in PATTERNS_OF_SCRATCH.values() for name in names]
    + [(name, "f8", 2) for names in MATRICES_OF_SCRATCH.values() for name in names]
    + [(name, "i4", 1) for name in PIVOTS]
    + [("front", "i8", 2)]
    + [(name, "i8", 1) for name in FRONT_TABLES]
    + [(name, "f8", ndim) for name, ndim in FRONT_NUMBERS.items()]
    + [(name, "i8", 1) for name in FRONT_WORDS]
    + [(name, kind, 1) for name, kind in SOLVED_AGAIN.items()]
    + [(name, "f8", 2) for name in BY_FORCES]
)


def full_viewers(*names):
    """Viewers of matrices of a pattern as matrices with two indices, for what knows dense ones alone."""
    index = PRODUCTS.index
    return tuple(full_viewer(index[name], index[PATTERN_OF[name]]) for name in names)
