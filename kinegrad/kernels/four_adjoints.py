"""Pullbacks of four adjoints at once: how formulations ask for them, and what sets make of one or of four.

A block is four objectives, a column each, of which some take part.  What they give to slots is summed in psi4, four numbers
side by side, and added to psi_s when a run has been swept.
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import put4
from kinegrad.kernels.products import (
    BLOCK,
    END_COLUMN,
    FIRST_COLUMN,
    OBJECTIVE,
    PRODUCTS,
    PULLBACK4,
    WEIGHT,
)
from kinegrad.kernels.table import call

par_, flag_, mu_, eta_v_, eta_a_, yp_, yv_, ya_, ys_ = PRODUCTS.viewers(*"par flag mu eta_v eta_a yp yv ya ys".split())
mu4_, eta_v4_, eta_a4_, yp4_, yv4_, ya4_, ys4_ = PRODUCTS.viewers(*"mu4 eta_v4 eta_a4 yp4 yv4 ya4 ys4".split())
weight4_, psi_s_, psi4_ = PRODUCTS.viewers("weight4", "psi_s", "psi4")


@kernel
def pull4(fn, ctx, e, used, weights):
    """psi4 gains what mu4 and all beside it give to the objectives of block e, of which so many are used."""
    flag, weight4 = flag_(ctx), weight4_(ctx)
    for c in range(used):
        weight4[c] = weights[4 * e + c]
    flag[BLOCK] = e
    flag[FIRST_COLUMN] = 0
    flag[END_COLUMN] = used
    call(fn[PULLBACK4], ctx)


@kernel
def only_column(x, c, X):
    """X = 0 but for column c, which is x."""
    zero = spread4(0.0)
    for i in range(x.shape[0]):
        put4(X, i, zero)
        X[i, c] = x[i]


@kernel
def one_of_four(ctx):
    """What PULLBACK is given, as PULLBACK4 wants it."""
    flag, weights = flag_(ctx), weight4_(ctx)
    c = flag[OBJECTIVE] % 4
    flag[BLOCK] = flag[OBJECTIVE] // 4
    flag[FIRST_COLUMN] = c
    flag[END_COLUMN] = c + 1
    weights[c] = par_(ctx)[WEIGHT]
    only_column(mu_(ctx), c, mu4_(ctx))
    only_column(eta_v_(ctx), c, eta_v4_(ctx))
    only_column(eta_a_(ctx), c, eta_a4_(ctx))
    only_column(yp_(ctx), c, yp4_(ctx))
    only_column(yv_(ctx), c, yv4_(ctx))
    only_column(ya_(ctx), c, ya4_(ctx))
    only_column(ys_(ctx), c, ys4_(ctx))


@kernel
def collect(ctx):
    """psi_s gains what is in psi4, which is empty then."""
    for o in range(psi_s_(ctx).shape[0]):
        collect_one(ctx, o)


@kernel
def collect_one(ctx, o):
    """The same for one objective."""
    psi_s, psi = psi_s_(ctx), psi4_(ctx)[o // 4]
    for k in range(psi.shape[0]):
        psi_s[o, k] += psi[k, o % 4]
        psi[k, o % 4] = 0.0
