"""Products that a set fills in the same way for all rows of positions."""

from kinegrad.kernels.jit import kernel


@kernel
def position_rows(level, Phi_z, Phid_z, J, Phidd_v):
    """J = Phi_q and Phidd_v = 2 Phid_q of the rows of positions; rows of velocities have filled theirs."""
    for r in range(J.shape[0]):
        if level[r] == 0:
            for j in range(J.shape[1]):
                J[r, j] = Phi_z[r, j]
                Phidd_v[r, j] = 2.0 * Phid_z[r, j]
