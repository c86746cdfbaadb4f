"""Ranks and inverses by fronts, outside time loops: which rows are independent, and what an inverse has between their columns.

Rows are rotated, one after the other, into an echelon form whose steps are the pivots of the fronts (LIN-10): a row that is
eaten up on its way follows from those before it.  The inverse of a matrix is computed where the fronts have entries, from the
last front to the first (LIN-11): every row of J lies in one front, so J_l A⁻¹ J_lᵀ needs no more.
"""

from math import sqrt

from kinegrad.kernels.jit import cfunction, entry, kernel, real
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.solvers.fronts import CALL, COLUMNS, N_ROWS, OFFSET, PARENT, PIVOTS, PLACES, SIZE

NOTHING = 1e-3  # part of the least entry that is a step: what is smaller is rounding

# Beside what factors take: rotated rows or an inverse in Z, taken pivots, which rows of J are independent, numbers of rows, and
# the least entry that is a step.
RANKS = CALL.extend(
    [("Z", "f8", 2), ("taken", "i8", 1), ("kept", "i8", 1), ("form", "f8", 1), ("least", "f8", 1), ("row_w", "f8", 2)]
)
front_, columns_, places_, of_row_, in_row_, wide_, job_, F_, J_ = RANKS.viewers(
    *"front front_columns front_places front_of_row front_in_row wide front_job F J".split()
)
Z_, taken_, kept_, form_, least_, w_ = RANKS.viewers("Z", "taken", "kept", "form", "least", "row_w")


@kernel
def largest(w, r, first, last):
    """The largest entry first to last - 1 of row r."""
    most = 0.0
    for i in range(first, last):
        most = max(most, abs(real(w[r, i])))
    return most


@kernel
def rotated_in(front, columns, places, R, taken, f, w, least):
    """Whether the row w[0], on the coordinates of front f, stands out of the rows that were rotated into R before.

    It is then part of R.  w[1] is scratch.
    """
    while f >= 0:
        o, s, p, g = front[f, OFFSET], front[f, SIZE], front[f, PIVOTS], front[f, COLUMNS]
        for j in range(p):
            size, row = abs(real(w[0, j])), o + j * s
            if not taken[columns[g + j]]:
                if size > least:
                    taken[columns[g + j]] = 1
                    for i in range(j, s):
                        R[0, row + i] = w[0, i]
                    return True
                continue
            if size <= NOTHING * least:
                continue
            a, b = real(R[0, row + j]), real(w[0, j])
            t = 1.0 / sqrt(a * a + b * b)
            a, b = a * t, b * t
            for i in range(j, s):
                x, y = R[0, row + i], w[0, i]
                R[0, row + i] = a * x + b * y
                w[0, i] = a * y - b * x
        if largest(w, 0, p, s) <= NOTHING * least:
            return False
        q, m = front[f, PARENT], front[f, PLACES]
        if q >= 0:
            for i in range(front[q, SIZE]):
                w[1, i] = 0.0
            for i in range(p, s):
                w[1, places[m + i - p]] = w[0, i]
            for i in range(front[q, SIZE]):
                w[0, i] = w[1, i]
        f = q
    return False


@entry(what="ranks of large systems")
def rotated_in_entry(front, columns, places, R, taken, k, w, least):
    """`rotated_in` for the row that has 1 at coordinate k alone."""
    for f in range(front.shape[0]):
        g = front[f, COLUMNS]
        for j in range(front[f, PIVOTS]):
            if columns[g + j] == k:
                for i in range(front[f, SIZE]):
                    w[0, i] = 0.0
                w[0, j] = 1.0
                return rotated_in(front, columns, places, R, taken, f, w, least)
    return False


@kernel
def inverse(front, places, F, Z):
    """Z = the entries that the fronts have of the inverse, from the factors F = L D Lᵀ; fronts of Z are full."""
    for k in range(front.shape[0] - 1, -1, -1):
        o, s, p = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS]
        if front[k, PARENT] >= 0:
            q, m = front[k, PARENT], front[k, PLACES]
            oq, sq = front[q, OFFSET], front[q, SIZE]
            for i in range(p, s):
                row = oq + places[m + i - p] * sq
                for c in range(p, s):
                    Z[0, o + i * s + c] = Z[0, row + places[m + c - p]]
        for j in range(p - 1, -1, -1):
            for i in range(j + 1, s):
                t = 0.0 * F[0, o]
                for c in range(j + 1, s):
                    t -= Z[0, o + i * s + c] * F[0, o + c * s + j]
                Z[0, o + i * s + j] = t
                Z[0, o + j * s + i] = t
            t = 1.0 / F[0, o + j * s + j]
            for c in range(j + 1, s):
                t -= F[0, o + c * s + j] * Z[0, o + c * s + j]
            Z[0, o + j * s + j] = t


@cfunction(what="ranks of large systems")
def independent_call(ctx):
    """kept = 1 for the rows of J that do not follow from those before them; Z and taken are overwritten."""
    front, of_row, in_row, wide, J = front_(ctx), of_row_(ctx), in_row_(ctx), wide_(ctx), J_(ctx)
    Z, taken, kept, w, least = Z_(ctx), taken_(ctx), kept_(ctx), w_(ctx), least_(ctx)
    for i in range(taken.shape[0]):
        taken[i] = 0
    for l in range(job_(ctx)[N_ROWS]):
        f = of_row[l]
        for i in range(front[f, SIZE]):
            w[0, i] = 0.0
        for i in range(end_of(wide, l), end_of(wide, l + 1)):
            w[0, in_row[i]] = J[i]
        new = rotated_in(front, columns_(ctx), places_(ctx), Z, taken, f, w, real(least[0]))
        kept[l] = 1 if new else 0


@cfunction(what="ranks of large systems")
def forms_call(ctx):
    """form_l = J_l A⁻¹ J_lᵀ, from the symmetric factors of A; Z is overwritten."""
    front, of_row, in_row, wide, J = front_(ctx), of_row_(ctx), in_row_(ctx), wide_(ctx), J_(ctx)
    Z, form = Z_(ctx), form_(ctx)
    inverse(front, places_(ctx), F_(ctx), Z)
    for l in range(job_(ctx)[N_ROWS]):
        o, s = front[of_row[l], OFFSET], front[of_row[l], SIZE]
        total = 0.0 * Z[0, 0]
        for i in range(end_of(wide, l), end_of(wide, l + 1)):
            for j in range(end_of(wide, l), end_of(wide, l + 1)):
                total += J[i] * Z[0, o + in_row[i] * s + in_row[j]] * J[j]
        form[l] = total
