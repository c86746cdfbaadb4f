"""The arrays that formulations and coordinate sets share, and the seven functions a set offers.

Sizes: n coordinates, m constraint rows, d freedom rows after them (r = m + d), p directions, N = n + p columns, o
objectives.  Signs: R = M a + f + Phi_qᵀ lam with f = -Q.

    POSITION    q, t  ->  Phi, Phi_t, Phi_q
    EVALUATE    q, v, t  ->  M, f, Phi, Phi_t, Phi_q, and K: the lower triangle of about wk f_q + wc f_v; with the flag
                AT_POSITION it takes up what POSITION left at the same q
    BIAS        vp, ap = 0 at the q of the last EVALUATE  ->  c = Phidd at zero accelerations
    OBSERVE     vp, ap at the q of the last EVALUATE  ->  g
    LINEARISE   q; v, a, lam; vp, ap; dv, sv; da, sa  ->  M, C = f_v, J, R_z, Nv_z = (M dv + Jᵀsv)_z, Na_z,
                Phi_z, Phid_z, Phidd_z, Phidd_v, Phids_z, g, g_z, g_v, g_a
    PULLBACK    mu, eta_v, eta_a; yp, yv, ya, ys after LINEARISE  ->  psi_s += mu·R_s + eta_v·Nv_s + eta_a·Na_s + yp·Phi_s
                + yv·Phid_s + ya·Phidd_s + ys·Phids_s + weight g_s, in the row of one objective
    ENERGY      after EVALUATE at (q, v)  ->  energy: kinetic, potential, and power of what has no potential

R is taken at (q, v, a), the constraints, objectives and projections at (q, vp, ap).

Rows have a `level`.  At 0, of positions, Phi(q, t) = 0, J = Phi_q and Phidd_v = 2 Phid_q.  At 1, of velocities, there is no
Phi (it is 0), and Phid = A(q, t) v - b: J = A, Phi_t = -b, Phidd_v = Phid_q + dA/dt; Phids is Phid at (q, v).
"""

from kinegrad.kernels.table import Layout

EVALUATE, BIAS, OBSERVE, LINEARISE, PULLBACK, ENERGY, POSITION = range(7)
N_FUNCTIONS = 7

# par: numbers a formulation hands over, the last one the largest coordinate of a marker at the start; flag: integers, among
# them the status a function leaves.
TIME, WK, WC, WEIGHT, EXTENT = range(5)
FREEDOMS, OBJECTIVE, STATUS, AT_POSITION = range(4)
N_PAR, N_FLAG = 5, 4

VECTORS = {
    "n": ("q", "v", "a", "vp", "ap", "dv", "da", "f", "mu", "eta_v", "eta_a"),
    "r": ("lam", "sv", "sa", "Phi", "Phi_t", "c", "yp", "yv", "ya", "ys"),
}
MATRICES = {
    ("n", "n"): ("M", "K", "C"),
    ("r", "n"): ("J", "Phidd_v"),
    ("n", "N"): ("R_z", "Nv_z", "Na_z"),
    ("r", "N"): ("Phi_z", "Phid_z", "Phidd_z", "Phids_z"),
    ("o", "N"): ("g_z",),
    ("o", "n"): ("g_v", "g_a"),
}

# Scratch of formulations: what it holds does not outlast a call of theirs, but for ease, sizes and scales (LIN-6,
# IDX-7, IDX-8).
VECTORS_OF_SCRATCH = {
    "n": ("x", "y", "w", "qt", "vt", "scale"),
    "2n": ("d",),
    "m": ("r", "z", "D", "Dp", "ease", "sizes", "row_scale", "reach"),
    "o": ("weights",),
}
MATRICES_OF_SCRATCH = {("n", "n"): ("T", "T_lu", "M_lu"), ("n", "4"): ("r1", "x4", "w4", "U4", "H4", "E4")}
MATRICES_OF_SCRATCH |= {("m", "4"): ("r2", "y4", "z4", "P4", "D4", "B4")}
MATRICES_OF_SCRATCH |= {("m", "n"): ("Psi_a", "Psi_v", "Psi_w"), ("m", "N"): ("Psi_z",)}
PIVOTS = ("T_pivots", "M_pivots")

PRODUCTS = Layout(
    [
        ("par", "f8", 1),
        ("flag", "i8", 1),
        ("level", "i8", 1),
        ("s", "f8", 1),
        ("ds", "f8", 2),
        ("g", "f8", 1),
        ("psi_s", "f8", 2),
    ]
    + [("energy", "f8", 1)]
    + [(name, "f8", 1) for names in VECTORS.values() for name in names]
    + [(name, "f8", 2) for names in MATRICES.values() for name in names]
    + [(name, "f8", 1) for names in VECTORS_OF_SCRATCH.values() for name in names]
    + [(name, "f8", 2) for names in MATRICES_OF_SCRATCH.values() for name in names]
    + [(name, "i4", 1) for name in PIVOTS]
)
