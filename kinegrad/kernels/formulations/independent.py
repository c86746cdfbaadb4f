"""Independent coordinates: which ones they are, how well they determine the others, and the solution of K x = b.

K = [Phi_q; B], B = z_q.  If z are coordinates themselves, the other n - d are unknown in K x = b and the unit rows of B
need no equations (MR-9).  If z measure something else all n are unknown, and the rows of B are rows like those of Phi_q.
Redundant rows are borne by the normal equations of the unknowns, in which each row has a weight, since rows differ in size and
unit: 1 over the square of its unit as long as that does no harm (MR-8).  Only their factors are computed, never the
pseudo-inverse.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.blocks import clear4
from kinegrad.kernels.jit import inlined, kernel, log, real, sqrt
from kinegrad.kernels.lanes import of4, spread4
from kinegrad.kernels.linalg import axpy4, get4, ldlt, mul4, put4, qr
from kinegrad.kernels.status import LOST_RANK, OK, SINGULAR

# parts of a diagonal entry of the normal equations that are left as pivot: refinement is needed, and no longer helps
POORLY, LOST = 1e-2, 5e-9
ROUNDS = 6  # that solutions then take
NEARLY_LOST, BETTER = 1e-5, 100.0  # a part with which other weights of rows are tried, and what they must gain
FEW = 10.0  # unknowns
UNKNOWN, EVERY = range(2)  # in `count`
MEASURED = -1  # in the place of a coordinate: z are the degrees of freedom of the model, measured by rows


class Partition(NamedTuple):
    """Unknown and independent coordinates, and what solves for the unknown ones.

    `order` has the coordinates, the `nu` unknown ones first; `rows` is the number of rows that are equations for them, G
    holds the columns of those rows in that order, N and d the factors of the normal equations of the unknowns, 1/d behind d;
    `ready` is the number of rounds that a solution with them takes, 0 before they are there, and -ln of the least part of a
    pivot that was left so far; `weights` has one number a row, and others that may take over.  `at` has the columns not
    zero in each row of G, `count` how many these are among the unknowns, and in all.  w4, x4 (nu, 4) are scratch.
    """

    order: np.ndarray
    nu: int
    rows: int
    ready: np.ndarray
    weights: np.ndarray
    G: np.ndarray
    N: np.ndarray
    d: np.ndarray
    at: np.ndarray
    count: np.ndarray
    w4: np.ndarray
    x4: np.ndarray


def partition(chosen, m, like, weights=None):
    """The partition with the independent coordinates `chosen`, or MEASURED; `like` is an (n, n) array of its numbers.

    `weights` (2, m + d) are those of the rows, m and then those of z: those by their units, and others that may take over; 1 by
    default.
    """
    measured = len(chosen) == 0 or chosen[0] == MEASURED
    unknown = np.setdiff1d(np.arange(len(like)), [] if measured else chosen)
    order = np.concatenate([unknown, [] if measured else chosen]).astype(np.int64)
    return _partition(order, len(unknown), m + measured * len(chosen), like.dtype, weights)


def partitions(nd, m, like, weights=None):
    """Two partitions with nd independent coordinates, for `arranged`: MEASURED, and any ones."""
    n = len(like)
    return tuple(_partition(np.arange(n), nu, m + nd * (nu == n), like.dtype, weights) for nu in (n, n - nd))


def _partition(order, nu, rows, number, weights):
    n = len(order)
    G, N = np.zeros((rows, n), number), np.zeros((nu, nu), number)
    d, at, count = np.zeros(2 * nu, number), np.zeros((rows, n), np.int64), np.zeros((rows, 2), np.int64)
    w4, x4 = np.zeros((nu, 4), number), np.zeros((nu, 4), number)
    weights = np.ones((2, rows)) if weights is None else weights[:, :rows].copy()
    return Partition(order, nu, rows, np.zeros(2, np.int64), weights, G, N, d, at, count, w4, x4)


@kernel
def arranged(both, chosen):
    """The one of two `partitions` that fits `chosen`, for just these coordinates, and nothing computed yet."""
    S = both[0]
    if chosen.shape[0] > 0 and chosen[0] != MEASURED:
        S = both[1]
        arrange(chosen, S.order)
    S.ready[0] = 0
    return S


@kernel
def arrange(chosen, order):
    """order = the unknown coordinates, then the chosen ones."""
    n, nd = order.shape[0], chosen.shape[0]
    k = 0
    for i in range(n):
        if not contains(chosen, nd, i):
            order[k] = i
            k += 1
    for i in range(nd):
        order[k + i] = chosen[i]


@kernel
def contains(items, count, i):
    """Whether i is among the first `count` items."""
    found = False
    for k in range(count):
        found = found or items[k] == i
    return found


@inlined
def is_measured(S):
    """Whether z are measured by rows: those rows have to be evaluated."""
    return S.nu == S.order.shape[0]


@kernel
def store_chosen(row, at, chosen):
    """Write a selection into a row of a trajectory, from place `at`."""
    for k in range(chosen.shape[0]):
        row[at + k] = chosen[k]


@kernel
def load_chosen(row, at, chosen):
    """Whether the selection in a row of a trajectory is another than `chosen`, which becomes it."""
    changed = False
    for k in range(chosen.shape[0]):
        i = int(row[at + k].real)
        changed = changed or i != chosen[k]
        chosen[k] = i
    return changed


# --- solving -----------------------------------------------------------------------------------------------------


@inlined
def factorise(S, J):
    """Status; G from the rows J, and the factors of G_uᵀ W G_u, u being the unknowns, W their weights (MR-8)."""
    order, nu, G, d = S.order, S.nu, S.G, S.d
    n = order.shape[0]
    for l in range(S.rows):
        k = 0
        for j in range(n):
            if j == nu:
                S.count[l, UNKNOWN] = k
            x = J[l, order[j]]
            G[l, j] = x
            if x != 0.0:  # rows of large mechanisms have few coordinates
                S.at[l, k] = j
                k += 1
        S.count[l, EVERY] = k
        if nu == n:
            S.count[l, UNKNOWN] = k
    status, least = normal_equations(S)
    if status != OK or least < NEARLY_LOST:
        status, least = other_weights(S, status, least)
    S.ready[0] = 0
    if status == OK:
        S.ready[0] = 1
        if least < LOST * max(1.0, (nu / FEW) ** 4):  # rounding grows with the square of their number
            status = LOST_RANK
        elif least < POORLY:
            S.ready[0] = ROUNDS
            S.ready[1] = max(S.ready[1], int(-log(least)))
    for i in range(nu):
        d[nu + i] = 1.0 / d[i]
    return status


@kernel
def normal_equations(S):
    """Status and the least part that is left of a pivot; the factors N, d of G_uᵀ W G_u."""
    nu, G, N, d, at = S.nu, S.G, S.N, S.d, S.at
    for i in range(nu):
        for j in range(i + 1):
            N[i, j] = 0.0
    for l in range(S.rows):
        for a in range(S.count[l, UNKNOWN]):
            i = at[l, a]
            t = S.weights[0, l] * G[l, i]
            for b in range(a + 1):
                N[i, at[l, b]] += t * G[l, at[l, b]]
    for i in range(nu):
        S.w4[i, 0] = N[i, i]
    status, least = ldlt(N, d), 1.0
    if status == OK:
        for i in range(nu):
            least = min(least, real(d[i]) / real(S.w4[i, 0]))
    return status, least


@inlined
def weigh(S, l, s, w):
    """w += W_l G_l s of the unknowns, by one row."""
    t = S.weights[0, l] * s
    for a in range(S.count[l, UNKNOWN]):
        w[S.at[l, a]] += S.G[l, S.at[l, a]] * t


@inlined
def weigh4(S, l, s, W):
    """The same for four columns."""
    s = mul4(S.weights[0, l], s)
    for a in range(S.count[l, UNKNOWN]):
        i = S.at[l, a]
        put4(W, i, axpy4(S.G[l, i], s, get4(W, i)))


@kernel
def solve_normal(S, w):
    """w = (G_uᵀ W G_u)⁻¹ w."""
    nu, N, d = S.nu, S.N, S.d
    for i in range(nu):
        s = w[i]
        for k in range(i):
            s -= N[i, k] * w[k]
        w[i] = s
    for i in range(nu):
        w[i] *= d[nu + i]
    for i in range(nu - 1, -1, -1):
        s = w[i]
        for k in range(i):
            w[k] -= N[i, k] * s


@kernel
def solve_normal4(S):
    """w4 = (G_uᵀ W G_u)⁻¹ w4, for four columns."""
    nu, N, d, W = S.nu, S.N, S.d, S.w4
    for i in range(nu):
        s = get4(W, i)
        for k in range(i):
            s = axpy4(-N[i, k], get4(W, k), s)
        put4(W, i, s)
    for i in range(nu):
        put4(W, i, mul4(d[nu + i], get4(W, i)))
    for i in range(nu - 1, -1, -1):
        s = get4(W, i)
        for k in range(i):
            put4(W, k, axpy4(-N[i, k], s, get4(W, k)))


@kernel
def other_weights(S, status, least):
    """`normal_equations` with the other weights, if they leave much more of the pivots; these then serve (MR-8)."""
    swap_weights(S)
    again, better = normal_equations(S)
    if again == OK and (status != OK or better > BETTER * least):
        return again, better
    swap_weights(S)
    return normal_equations(S)


@kernel
def swap_weights(S):
    """The weights that serve, and the others, change places."""
    for l in range(S.rows):
        t = S.weights[0, l]
        S.weights[0, l] = S.weights[1, l]
        S.weights[1, l] = t


@inlined
def solve1(S, m, b, x, w, rounds):
    """x with K x = b; b[m:] belongs to z.  All rounds but the first refine (MR-8)."""
    order, nu, G = S.order, S.nu, S.G
    n = order.shape[0]
    for j in range(nu, n):
        x[order[j]] = b[m + j - nu]
    for k in range(max(rounds, S.ready[0])):
        for i in range(nu):
            w[i] = 0.0
        for l in range(S.rows):
            s = b[l]
            for a in range(0 if k > 0 else S.count[l, UNKNOWN], S.count[l, EVERY]):
                j = S.at[l, a]
                s -= G[l, j] * x[order[j]]
            weigh(S, l, s, w)
        solve_normal(S, w)
        for i in range(nu):
            x[order[i]] = w[i] if k == 0 else x[order[i]] + w[i]


@kernel
def solve4(S, m, B, X):
    """X with K X = B for four columns, refined once."""
    order, nu, G, W = S.order, S.nu, S.G, S.w4
    n = order.shape[0]
    clear4(X)
    for j in range(nu, n):
        put4(X, order[j], get4(B, m + j - nu))
    for _ in range(max(2, S.ready[0])):
        clear4(W)
        for l in range(S.rows):
            s = get4(B, l)
            for a in range(S.count[l, EVERY]):
                j = S.at[l, a]
                s = axpy4(-G[l, j], get4(X, order[j]), s)
            weigh4(S, l, s, W)
        solve_normal4(S)
        for i in range(nu):
            put4(X, order[i], get4(X, order[i]) + get4(W, i))


@kernel
def transposed4(S, m, X, Y):
    """Y with KᵀY = X for four columns, refined once; Y[m:] belongs to z."""
    order, nu, G, W = S.order, S.nu, S.G, S.w4
    clear4(Y)
    for _ in range(max(2, S.ready[0])):
        for i in range(nu):
            put4(W, i, get4(X, order[i]))
        for l in range(S.rows):
            y = get4(Y, l)
            for a in range(S.count[l, UNKNOWN]):
                i = S.at[l, a]
                put4(W, i, axpy4(-G[l, i], y, get4(W, i)))
        solve_normal4(S)
        for l in range(S.rows):
            s = spread4(0.0)
            for a in range(S.count[l, UNKNOWN]):
                i = S.at[l, a]
                s = axpy4(G[l, i], get4(W, i), s)
            put4(Y, l, axpy4(S.weights[0, l], s, get4(Y, l)))
    for j in range(nu, order.shape[0]):
        s = get4(X, order[j])
        for l in range(S.rows):
            s = axpy4(-G[l, j], get4(Y, l), s)
        put4(Y, m + j - nu, s)


@kernel
def basis(S, m, R, rounds):
    """R (d, n), by rows: K R = [0; I], all rounds but the first refining (MR-1); four rows of it at a time."""
    order, nu, W, X = S.order, S.nu, S.w4, S.x4
    n, nd = order.shape[0], R.shape[0]
    for first in range(0, nd, 4):
        used = min(4, nd - first)
        clear4(X)
        for k in range(max(rounds, S.ready[0])):
            clear4(W)
            for l in range(S.rows):
                if k > 0 or S.count[l, EVERY] > S.count[l, UNKNOWN] or l >= m:
                    weigh4(S, l, basis_residual(S, m, l, first, used, k > 0), W)
            solve_normal4(S)
            for i in range(nu):
                put4(X, i, get4(X, i) + get4(W, i))
        for c in range(used):
            for i in range(nu):
                R[first + c, order[i]] = X[i, c]
            for j in range(nu, n):
                R[first + c, order[j]] = 1.0 if j == nu + first + c else 0.0


@inlined
def basis_residual(S, m, l, first, used, again):
    """What row l lacks in four columns of K R = [0; I]."""
    G, X, nu, at = S.G, S.x4, S.nu, S.at
    s = spread4(0.0)
    if again:
        for a in range(S.count[l, UNKNOWN]):
            s = axpy4(-G[l, at[l, a]], get4(X, at[l, a]), s)
    for c in range(used):
        unit = of4(1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2), 1.0 * (c == 3))
        if l == m + first + c:
            s = s + unit
        if nu < G.shape[1]:
            s = axpy4(-G[l, nu + first + c], unit, s)
    return s


# --- choosing ----------------------------------------------------------------------------------------------------


@inlined
def quality(S, m, J, R, scale):
    """Least cosine, of all k, between the gradient of z_k and the motion in which z_k alone changes (MR-10)."""
    n = S.order.shape[0]
    worst = 1.0
    for k in range(R.shape[0]):
        r, b = 0.0, 0.0
        for i in range(n):
            r += (scale[i] * R[k, i].real) ** 2
        if is_measured(S):
            for i in range(n):
                b += (J[m + k, i].real / scale[i]) ** 2
        else:
            b = 1.0 / scale[S.order[S.nu + k]] ** 2
        worst = max(worst, r * b)
    return 1.0 / sqrt(worst)


@kernel
def choose(J, m, per_row, scale, A, tau, places, chosen):
    """Status; chosen = the coordinates left over when columns of Phi_q are taken by their remainders (MR-11)."""
    n = scale.shape[0]
    for l in range(m):
        for i in range(n):
            A[l, i] = per_row[l] * J[l, i].real / scale[i]
    dependent = n - chosen.shape[0]
    if qr(A, tau, places, 0.0) < dependent:
        return SINGULAR
    k = 0
    for i in range(n):
        if not contains(places, dependent, i):
            chosen[k] = i
            k += 1
    return OK
