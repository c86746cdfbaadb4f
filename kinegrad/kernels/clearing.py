"""What a set empties before elements add to it."""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import put4
from kinegrad.kernels.products import PRODUCTS

C_, J_, Phidd_v_, R_q_, Nv_q_, Na_q_, Phi_q_, Phid_q_, Phidd_q_, Phids_q_ = PRODUCTS.viewers(
    *"C J Phidd_v R_q Nv_q Na_q Phi_q Phid_q Phidd_q Phids_q".split()
)
R_s_, Nv_s_, Na_s_, Phi_s_, Phid_s_, Phidd_s_, Phids_s_ = PRODUCTS.viewers(
    *"R_s Nv_s Na_s Phi_s Phid_s Phidd_s Phids_s".split()
)
g_q_, g_s_, g_v_, g_a_ = PRODUCTS.viewers("g_q", "g_s", "g_v", "g_a")


@kernel
def clear_flat(A):
    """A = 0, of any pattern."""
    for i in range(A.shape[0]):
        A[i] = 0.0


@kernel
def clear(A):
    """A = 0, of a matrix with two indices."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0


@kernel
def clear_covectors(mk):
    """f, fv, fa of the markers = 0."""
    for i in range(mk.shape[0]):
        m = mk[i]
        for j in range(3):
            m["f"][j] = 0.0
            m["fv"][j] = 0.0
            m["fa"][j] = 0.0


@kernel
def clear_duals(mk, dual):
    """X, X1, Y1, Y2 of the markers, and their covectors = 0."""
    clear_covectors(mk)
    zero = spread4(0.0)
    for i in range(dual.shape[0]):
        A = dual[i]
        for j in range(3):
            put4(A["X"], j, zero)
            put4(A["X1"], j, zero)
            put4(A["Y1"], j, zero)
            put4(A["Y2"], j, zero)


@kernel
def clear_products(ctx):
    """All that LINEARISE adds to = 0."""
    clear_flat(C_(ctx))
    clear_flat(R_q_(ctx))
    clear_flat(Nv_q_(ctx))
    clear_flat(Na_q_(ctx))
    clear_flat(Phi_q_(ctx))
    clear_flat(Phid_q_(ctx))
    clear_flat(Phidd_q_(ctx))
    clear_flat(Phids_q_(ctx))
    clear_flat(J_(ctx))
    clear_flat(Phidd_v_(ctx))
    clear(R_s_(ctx))
    clear(Nv_s_(ctx))
    clear(Na_s_(ctx))
    clear(Phi_s_(ctx))
    clear(Phid_s_(ctx))
    clear(Phidd_s_(ctx))
    clear(Phids_s_(ctx))
    clear(g_q_(ctx))
    clear(g_s_(ctx))
    clear(g_v_(ctx))
    clear(g_a_(ctx))
