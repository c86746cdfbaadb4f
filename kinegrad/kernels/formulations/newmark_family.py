"""Newmark, HHT and generalized-alpha: what a step takes from the state before it, with derivative and transpose.

Beside q, v, a the state has an auxiliary acceleration â; the equations of motion hold at the end of the step (NMF-1):

    â = c1 a + e,  e = c2 a⁻ + c3 â⁻          c1 = (1 - αf)/(1 - αm),  c2 = αf/(1 - αm),  c3 = -αm/(1 - αm)
    q = q⁻ + h v⁻ + h²((½ - β) â⁻ + β â) = q~ + β c1 h² a
    v = v⁻ + h((1 - γ) â⁻ + γ â) = v~ + γ c1 h a

Newmark's method is c1 = 1, c2 = c3 = 0: â is a, and derivatives do not carry it.
"""

from kinegrad.kernels.formulations.blocks import shift4
from kinegrad.kernels.jit import kernel
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4

# the constants of a family: β, γ, and c1, c2, c3 of a, a⁻, â⁻ in â
BETA, GAMMA, NEW, OLD, KEPT = range(5)


@kernel
def by_acceleration(family, h):
    """The factors b of a in q and gh of a in v."""
    return family[BETA] * h * h * family[NEW], family[GAMMA] * h * family[NEW]


@kernel
def predict(family, h, q, v, a, auxiliary, qt, vt):
    """qt = q~, vt = v~ from q, v, a of the state before; the auxiliary acceleration is left with e (NMF-1)."""
    b, gh, old, kept = family[BETA] * h * h, family[GAMMA] * h, family[OLD], family[KEPT]
    for i in range(q.shape[0]):
        x = auxiliary[i]
        e = old * a[i] + kept * x
        qt[i] = q[i] + h * v[i] + (0.5 * h * h - b) * x + b * e
        vt[i] = v[i] + (h - gh) * x + gh * e
        auxiliary[i] = e


@kernel
def complete(family, a, auxiliary):
    """The auxiliary acceleration of the new state, from the e that `predict` left and the new a (NMF-1)."""
    new = family[NEW]
    for i in range(a.shape[0]):
        auxiliary[i] += new * a[i]


@kernel
def is_newmark(family):
    """Whether â is a: the arrays X of its derivative below are then those of a, and nothing is done for it."""
    return family[OLD] == 0.0 and family[KEPT] == 0.0


@kernel
def predict4(family, h, n, Q, V, A, X):
    """q~', v~' in the place of q', v', and e' in that of â' = X, for four columns (NMF-2)."""
    b, gh = family[BETA] * h * h, family[GAMMA] * h
    shift4(n, h, V, Q)
    shift4(n, 0.5 * h * h - b, X, Q)
    shift4(n, h - gh, X, V)
    if not is_newmark(family):
        for i in range(n):
            e = axpy4(family[KEPT], get4(X, i), mul4(family[OLD], get4(A, i)))
            put4(Q, i, axpy4(b, e, get4(Q, i)))
            put4(V, i, axpy4(gh, e, get4(V, i)))
            put4(X, i, e)


@kernel
def complete4(family, n, A, X):
    """â' of the new state from e' = X and the new a' (NMF-2)."""
    if not is_newmark(family):
        shift4(n, family[NEW], A, X)


@kernel
def complete_transposed4(family, n, A, X):
    """The transpose of `complete4`: A gains what â = X gives to the new a; X is then the adjoint of e (NMF-3)."""
    if not is_newmark(family):
        shift4(n, family[NEW], X, A)


@kernel
def predict_transposed4(family, h, n, Q, V, A, X):
    """The transpose of `predict4`: Q, V come as adjoints of q~, v~, X as that of e; all leave as those before (NMF-3)."""
    b, gh = family[BETA] * h * h, family[GAMMA] * h
    plain = is_newmark(family)
    for i in range(n):
        q, v = get4(Q, i), get4(V, i)
        x = axpy4(0.5 * h * h - b, q, mul4(h - gh, v))
        if not plain:
            e = axpy4(b, q, axpy4(gh, v, get4(X, i)))
            put4(A, i, mul4(family[OLD], e))
            x = axpy4(family[KEPT], e, x)
        put4(X, i, x)
        put4(V, i, axpy4(h, q, v))
