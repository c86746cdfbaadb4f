"""Factors of T + JᵀDG, by whatever solver the patterns of a system ask for, and solutions with them.

`Symmetric` factors, of G = J and a symmetric T, are the tuple (pattern `square`, A, d); `general` ones (pattern `square`, A,
pivots).  Formulations make them by `symmetric_factors` and `general_factors` and hand them on; they never look inside.
"""

from kinegrad.kernels.jit import inlined
from kinegrad.kernels.linalg import ldlt, ldlt_solve, lu, lu_solve4, lu_solve_transposed4
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.solvers.dense import augment, augment_lower

square_, T_lu_, M_lu_, d_, T_pivots_, M_pivots_ = PRODUCTS.viewers(*"square T_lu M_lu d T_pivots M_pivots".split())


@inlined
def symmetric_factors(ctx):
    """Room for the factors of T + JᵀDJ in simulations."""
    return square_(ctx), T_lu_(ctx), d_(ctx)


@inlined
def tangent_factors(ctx):
    """Room for the general factors of the tangent of a step or stage."""
    return square_(ctx), T_lu_(ctx), T_pivots_(ctx)


@inlined
def mass_factors(ctx):
    """Room for the general factors of M + JᵀDJ, beside those of a tangent."""
    return square_(ctx), M_lu_(ctx), M_pivots_(ctx)


@inlined
def factor(F, T, J, m, D):
    """Status; F = the factors of T + JᵀDJ, T being symmetric and given by its lower triangle."""
    P, A, d = F
    augment_lower(T, J, m, D, A)
    return ldlt(A, d)


@inlined
def solve(F, x):
    """x = (T + JᵀDJ)⁻¹ x with the factors of `factor`."""
    P, A, d = F
    ldlt_solve(A, d, x)


@inlined
def factor_general(F, T, J, G, m, D):
    """Status; F = the factors of T + JᵀDG."""
    P, A, pivots = F
    augment(T, J, G, m, D, A)
    return lu(A, pivots)


@inlined
def solve4(F, transposed, X):
    """X = (T + JᵀDG)⁻¹ X, or with the transpose, for four columns, with the factors of `factor_general`."""
    P, A, pivots = F
    if transposed:
        lu_solve_transposed4(A, pivots, X)
    else:
        lu_solve4(A, pivots, X)
