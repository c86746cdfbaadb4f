"""Factors of T + JᵀDG, by the solver that the patterns of a system ask for, and solutions with them.

Where matrices are dense these are full matrices; otherwise fronts, whose functions are reached by their addresses
(`kinegrad.kernels.solvers.fronts`), so that nobody compiles them in vain.

Factors are the tuple (pattern `square`, context, which of two, full matrix A, and its d, or its pivots, the units of
coordinates and room for these): `symmetric_factors` of G = J and a symmetric T, `tangent_factors` and `mass_factors` of
any.  Formulations hand them on and never look inside.
"""

from kinegrad.kernels.jit import JIT, inlined, intrinsic, kernel
from kinegrad.kernels.linalg import ldlt, ldlt_solve, lu, lu_solve4, lu_solve_transposed4
from kinegrad.kernels.pattern import DENSE
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.solvers import fronts
from kinegrad.kernels.solvers.dense import augment, augment_lower
from kinegrad.kernels.table import WORDS_EACH, call

square_, wide_, T_lu_, M_lu_, d_, T_pivots_, M_pivots_, unit_ = PRODUCTS.viewers(
    *"square wide T_lu M_lu d T_pivots M_pivots unit".split()
)
front_, columns_, places_, of_entry_, of_lower_, of_row_, in_row_, T_fronts_, M_fronts_ = PRODUCTS.viewers(
    *"front front_columns front_places front_of_entry front_of_lower front_of_row front_in_row T_fronts M_fronts".split()
)
w_, x_, job_, words_, solver_ = PRODUCTS.viewers("front_w", "front_x", "front_job", "front_words", "solver")

FACTOR, SOLVE, SOLVE4 = range(3)  # places in the array of addresses
OF_TANGENT, OF_MASS = range(2)


@inlined
def symmetric_factors(ctx):
    """Room for the factors of T + JᵀDJ in simulations."""
    return square_(ctx), ctx, OF_TANGENT, T_lu_(ctx), d_(ctx)


@inlined
def tangent_factors(ctx):
    """Room for the general factors of the tangent of a step or stage."""
    return square_(ctx), ctx, OF_TANGENT, T_lu_(ctx), T_pivots_(ctx), unit_(ctx), d_(ctx)


@inlined
def mass_factors(ctx):
    """Room for the general factors of M + JᵀDJ, beside those of a tangent."""
    return square_(ctx), ctx, OF_MASS, M_lu_(ctx), M_pivots_(ctx), unit_(ctx), d_(ctx)


if JIT:
    put_array, address_of = intrinsic("put_array", WORDS_EACH), intrinsic("address_of")
    AT_F, AT_T, AT_J, AT_G, AT_D, AT_x, AT_X = (fronts.CALL.index[name] for name in ("F", "T", "J", "G", "D", "x", "X"))

    @kernel
    def choose_fronts(ctx, which):
        """The next call is about these numbers."""
        put_array(words_(ctx), AT_F, M_fronts_(ctx) if which == OF_MASS else T_fronts_(ctx))

    @kernel
    def factor_by_fronts(ctx, which, T, J, G, m, D, symmetric):
        """Status; the factors of T + JᵀDG."""
        words, job = words_(ctx), job_(ctx)
        choose_fronts(ctx, which)
        put_array(words, AT_T, T)
        put_array(words, AT_J, J)
        put_array(words, AT_G, G)
        put_array(words, AT_D, D)
        job[fronts.N_ROWS] = m
        job[fronts.SYMMETRIC] = 1 if symmetric else 0
        call(solver_(ctx)[FACTOR], address_of(words))
        return job[fronts.STATUS]

    @kernel
    def solve_by_fronts(ctx, which, x):
        """x = (T + JᵀDJ)⁻¹ x."""
        choose_fronts(ctx, which)
        put_array(words_(ctx), AT_x, x)
        call(solver_(ctx)[SOLVE], address_of(words_(ctx)))

    @kernel
    def solve4_by_fronts(ctx, which, transposed, X):
        """X = (T + JᵀDG)⁻¹ X, or with the transpose."""
        choose_fronts(ctx, which)
        put_array(words_(ctx), AT_X, X)
        job_(ctx)[fronts.TRANSPOSED] = 1 if transposed else 0
        call(solver_(ctx)[SOLVE4], address_of(words_(ctx)))

else:

    def _numbers(ctx, which):
        return M_fronts_(ctx) if which == OF_MASS else T_fronts_(ctx)

    def factor_by_fronts(ctx, which, T, J, G, m, D, symmetric):
        """Status; the factors of T + JᵀDG."""
        front, F, job = front_(ctx), _numbers(ctx, which), job_(ctx)
        of_entry = of_lower_(ctx) if symmetric else of_entry_(ctx)
        fronts.assemble(front, of_entry, of_row_(ctx), in_row_(ctx), wide_(ctx), T, J, G, m, D, symmetric, F)
        if symmetric:
            found = fronts.factor_symmetric(front, columns_(ctx), places_(ctx), F, w_(ctx), x_(ctx))
        else:
            found = fronts.factor_general(front, columns_(ctx), places_(ctx), F, w_(ctx))
        job[fronts.STATUS], job[fronts.WHERE] = found
        return job[fronts.STATUS]

    def solve_by_fronts(ctx, which, x):
        """x = (T + JᵀDJ)⁻¹ x."""
        fronts.solve_symmetric(front_(ctx), columns_(ctx), _numbers(ctx, which), x)

    def solve4_by_fronts(ctx, which, transposed, X):
        """X = (T + JᵀDG)⁻¹ X, or with the transpose."""
        solved = fronts.solve_transposed4 if transposed else fronts.solve_general4
        solved(front_(ctx), columns_(ctx), _numbers(ctx, which), X)


@inlined
def factor(F, T, J, m, D):
    """Status; F = the factors of T + JᵀDJ, T being symmetric and given by its lower triangle."""
    P, ctx, which, A, d = F
    if P[DENSE]:
        augment_lower(T, J, m, D, A)
        status = ldlt(A, d)
    else:
        status = factor_by_fronts(ctx, which, T, J, J, m, D, True)
    return status


@inlined
def solve(F, x):
    """x = (T + JᵀDJ)⁻¹ x with the factors of `factor`."""
    P, ctx, which, A, d = F
    if P[DENSE]:
        ldlt_solve(A, d, x)
    else:
        solve_by_fronts(ctx, which, x)


@inlined
def factor_general(F, T, J, G, m, D):
    """Status; F = the factors of T + JᵀDG."""
    P, ctx, which, A, pivots, unit, ordered = F
    if P[DENSE]:
        augment(T, J, G, m, D, A)
        for i in range(unit.shape[0]):
            ordered[i] = unit[i]
        status = lu(A, pivots, ordered)
    else:
        status = factor_by_fronts(ctx, which, T, J, G, m, D, False)
    return status


@inlined
def solve4(F, transposed, X):
    """X = (T + JᵀDG)⁻¹ X, or with the transpose, for four columns, with the factors of `factor_general`."""
    P, ctx, which, A, pivots, _, _ = F
    if not P[DENSE]:
        solve4_by_fronts(ctx, which, transposed, X)
    elif transposed:
        lu_solve_transposed4(A, pivots, X)
    else:
        lu_solve4(A, pivots, X)
