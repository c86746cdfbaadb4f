"""Columns solved with the mass matrix of an open tree, without it: sweeps over blocks of columns, or products with its inverse.

A column that belongs to a coordinate has entries where one coordinate carries the other.  Subtrees are contiguous, so the
coordinates that meet a block of columns are a range, from its first node to the end of what its nodes carry, and those that
carry the first node; sweeps towards the ground visit no other nodes, and products take no other rows (REC-9).
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.joint.records import EULER, SCREW, SLIDE, TURN
from kinegrad.kernels.joint.recursive import BLOCK, by_four
from kinegrad.kernels.lanes import WIDTH, load, load4, spread4, store, store4
from kinegrad.kernels.sym3 import smv, sym
from kinegrad.kernels.vec3 import add, axpy, cross, dot, mat, mv, six, sub, vec, vec_at, vm

FEW = 64  # rows of a block of columns up to which products with the inverse take less time than sweeps


# --- sweeps -----------------------------------------------------------------------------------------------------------


@kernel
def three(A, i, k):
    """A vector of lanes in row i: from column k on, its components BLOCK apart."""
    return load(A, i, k), load(A, i, k + BLOCK), load(A, i, k + 2 * BLOCK)


@kernel
def put_three(A, i, k, x):
    """Store a vector of lanes as `three` reads it."""
    store(A, i, k, x[0])
    store(A, i, k + BLOCK, x[1])
    store(A, i, k + 2 * BLOCK, x[2])


@kernel
def four_lanes(Y, k, c):
    """Rows k to k + 3 of Y."""
    return load(Y, k, c), load(Y, k + 1, c), load(Y, k + 2, c), load(Y, k + 3, c)


@kernel
def leaves_to_ground(art, Y, W, first, top, width):
    """e of the joints for each column of Y, and wrenches W: nodes `first` to `top`, and those that carry `first` (REC-9)."""
    wide = (width + WIDTH - 1) // WIDTH * WIDTH
    i = top
    while i >= 0:
        for r in range(6):
            for c in range(wide):
                W[i, r * BLOCK + c] = 0.0
        i = i - 1 if i > first else art[i]["parent"]
    i = top
    while i > 0:
        B = art[i]
        P = B["parent"]
        d = vec(B["d"])
        kind = B["type"]
        k = B["k"]
        for c in range(0, width, WIDTH):
            F = three(W, i, c)
            N = three(W, i, 3 * BLOCK + c)
            if kind == TURN or kind == SLIDE or kind == SCREW:
                Ul, Ua = six(B["U"])
                t = dot(vec(B["u"]), F if kind == SLIDE else N)
                if kind == SCREW:
                    t = t + dot(vec(B["w"]), F)
                e = B["D"][0] * (load(Y, k, c) - t)
                store(Y, k, c, e)
                F = axpy(e, Ul, F)
                N = axpy(e, Ua, N)
            elif kind == EULER:
                n = by_four(B["H"], four_lanes(Y, k, c))
                y = sub(n, N)
                e3 = smv(sym(B["D"]), y)
                for j in range(3):
                    store(Y, k + j, c, e3[j])
                F = add(F, mv(mat(B["G"]), y))
                N = n
            N = add(N, cross(d, F))
            put_three(W, P, c, add(F, three(W, P, c)))
            put_three(W, P, 3 * BLOCK + c, add(N, three(W, P, 3 * BLOCK + c)))
        i = i - 1 if i > first else P


@kernel
def ground_to_leaves(art, Y, W, first, top, width):
    """Y = M⁻¹ Y from the e of leaves_to_ground, rows of the nodes `first`, which the ground carries, to `top` (REC-9)."""
    for c in range(6 * BLOCK):
        W[0, c] = 0.0
    for i in range(first, top + 1):
        B = art[i]
        P = B["parent"]
        d = vec(B["d"])
        kind = B["type"]
        k = B["k"]
        for c in range(0, width, WIDTH):
            o = three(W, P, 3 * BLOCK + c)
            l = add(three(W, P, c), cross(o, d))
            if kind == TURN or kind == SLIDE or kind == SCREW:
                Ul, Ua = six(B["U"])
                e = load(Y, k, c) - B["D"][0] * (dot(Ul, l) + dot(Ua, o))
                store(Y, k, c, e)
                if kind == SLIDE:
                    l = axpy(e, vec(B["u"]), l)
                else:
                    o = axpy(e, vec(B["u"]), o)
                if kind == SCREW:
                    l = axpy(e, vec(B["w"]), l)
            elif kind == EULER:
                x = (load(Y, k, c), load(Y, k + 1, c), load(Y, k + 2, c))
                x = sub(x, vm(l, mat(B["G"])))
                y = sub(x, o)
                o = x
                for j in range(4):
                    store(Y, k + j, c, dot(vec_at(B["H"], 3 * j), y))
            put_three(W, i, c, l)
            put_three(W, i, 3 * BLOCK + c, o)


@kernel
def root(art, i):
    """The node that carries node i and that the ground carries."""
    while art[i]["parent"] > 0:
        i = art[i]["parent"]
    return i


@kernel
def invert(art, coord, A, Y, W):
    """A = M⁻¹: the rows up to the last coordinate of each block of columns, mirrored."""
    n = coord.shape[0]
    for c0 in range(0, n, BLOCK):
        end = min(c0 + BLOCK, n)
        first, top = coord[c0]["node"], coord[end - 1]["node"]
        low = root(art, first)
        k0 = art[low]["k"]
        for k in range(k0, art[top]["k"] + art[top]["nk"]):
            for c in range(BLOCK):
                Y[k, c] = 1.0 if k == c0 + c else 0.0
        leaves_to_ground(art, Y, W, first, top, end - c0)
        ground_to_leaves(art, Y, W, low, top, end - c0)
        for k in range(k0, end):
            for c in range(end - c0):
                A[k, c0 + c] = Y[k, c]
                A[c0 + c, k] = Y[k, c]


# --- products ---------------------------------------------------------------------------------------------------------


@kernel
def meeting(art, coord, c0, end, rows):
    """How many coordinates meet the columns c0 to `end`, which are put into `rows`: those carried, and those that carry."""
    last = end
    for k in range(c0, end):
        last = max(last, art[coord[k]["node"]]["kend"])
    B = art[coord[c0]["node"]]
    m = 0
    for k in range(B["k"], last):
        rows[m] = k
        m += 1
    while B["parent"] > 0:
        B = art[B["parent"]]
        for k in range(B["k"], B["k"] + B["nk"]):
            rows[m] = k
            m += 1
    return m


@kernel
def tile(W, X, Y, rows, m, i, c, WX, WY):
    """Four rows and columns of W X and W Y, W symmetric; X and Y have entries in `rows` only."""
    x0 = x1 = x2 = x3 = y0 = y1 = y2 = y3 = spread4(0.0)
    for l in range(m):
        j = rows[l]
        x = load4(X, j, c)
        y = load4(Y, j, c)
        x0 = x0 + W[j, i] * x
        y0 = y0 + W[j, i] * y
        x1 = x1 + W[j, i + 1] * x
        y1 = y1 + W[j, i + 1] * y
        x2 = x2 + W[j, i + 2] * x
        y2 = y2 + W[j, i + 2] * y
        x3 = x3 + W[j, i + 3] * x
        y3 = y3 + W[j, i + 3] * y
    store4(WX, i, c, x0)
    store4(WX, i + 1, c, x1)
    store4(WX, i + 2, c, x2)
    store4(WX, i + 3, c, x3)
    store4(WY, i, c, y0)
    store4(WY, i + 1, c, y1)
    store4(WY, i + 2, c, y2)
    store4(WY, i + 3, c, y3)


@kernel
def sweep(art, X, MX, c0, end, k0, k1, first, low, high, Y, W):
    """MX = M⁻¹ X in the columns c0 to `end`, by sweeps through a block; rows k0 to k1."""
    for k in range(k0, k1):
        for c in range(BLOCK):
            Y[k, c] = X[k, c0 + c] if c0 + c < end else 0.0
    leaves_to_ground(art, Y, W, first, high, end - c0)
    ground_to_leaves(art, Y, W, low, high, end - c0)
    for k in range(k0, k1):
        for c in range(end - c0):
            MX[k, c0 + c] = Y[k, c]


@kernel
def solve_pair(art, coord, inverse, X, Z, rows, everywhere, Y, W, MX, MZ):
    """MX = M⁻¹ X and MZ = M⁻¹ Z; with `everywhere`, coordinates of different branches meet in X and Z too.

    The matrices have columns and rows to spare, so that a tile need not end where they do.
    """
    n = coord.shape[0]
    for c0 in range(0, n, BLOCK):
        end = min(c0 + BLOCK, n)
        m = n if everywhere else meeting(art, coord, c0, end, rows)
        low = 1 if everywhere else root(art, coord[c0]["node"])
        k0 = art[low]["k"]
        k1 = n if everywhere else art[root(art, coord[end - 1]["node"])]["kend"]
        if m > FEW:
            high = art.shape[0] - 1 if everywhere else coord[k1 - 1]["node"]
            first = 1 if everywhere else coord[c0]["node"]
            sweep(art, X, MX, c0, end, k0, k1, first, low, high, Y, W)
            sweep(art, Z, MZ, c0, end, k0, k1, first, low, high, Y, W)
        else:
            for c in range(c0, end, 4):
                if everywhere:
                    for k in range(n):
                        rows[k] = k
                else:
                    m = meeting(art, coord, c, min(c + 4, n), rows)
                for i in range(k0, k1, 4):
                    tile(inverse, X, Z, rows, m, i, c, MX, MZ)
