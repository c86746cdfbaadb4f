"""Products that a set fills in the same way for all rows of positions."""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.pattern import ROWS, end_of


@kernel
def position_rows(level, P, Phi_q, Phid_q, J, Phidd_v):
    """J = Phi_q and Phidd_v = 2 Phid_q of the rows of positions; rows of velocities have filled theirs."""
    for r in range(P[ROWS]):
        if level[r] == 0:
            for i in range(end_of(P, r), end_of(P, r + 1)):
                J[i] = Phi_q[i]
                Phidd_v[i] = 2.0 * Phid_q[i]
