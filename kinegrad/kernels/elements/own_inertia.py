"""Inertia of coordinates that elements own: a number of the model on the diagonal of M (OWN-2)."""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import FORCES, LINEAR_FORCES, PULL, Kind
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.pattern import place
from kinegrad.kernels.products import OBJECTIVE

(own_, s_, ds_, a_, dv_, da_, mu_, eta_v_, eta_a_) = ELEMENTS.viewers(*"own s ds a dv da mu eta_v eta_a".split())
M_, square_, R_s_, Nv_s_, Na_s_, psi_s_, flag_ = ELEMENTS.viewers(*"M square R_s Nv_s Na_s psi_s flag".split())

KIND = Kind({"own": ()})


@kernel
def inertias(own, s, P, M):
    """M_kk of the coordinates."""
    for i in range(own.shape[0]):
        k = own[i]["k"]
        M[place(P, k, k)] = s[own[i]["slot"]]


@KIND.at(FORCES)
@cfunction(what="the simulation kernels")
def at_forces(ctx):
    """M_kk, which no body touches."""
    inertias(own_(ctx), s_(ctx), square_(ctx), M_(ctx))


@KIND.at(LINEAR_FORCES)
@cfunction(what="the sensitivity kernels")
def linear(ctx):
    """M_kk, and the columns of directions of M a, M dv, M da."""
    own, ds = own_(ctx), ds_(ctx)
    inertias(own, s_(ctx), square_(ctx), M_(ctx))
    for i in range(own.shape[0]):
        k = own[i]["k"]
        for p in range(ds.shape[0]):
            t = ds[p, own[i]["slot"]]
            R_s_(ctx)[k, p] += t * a_(ctx)[k]
            Nv_s_(ctx)[k, p] += t * dv_(ctx)[k]
            Na_s_(ctx)[k, p] += t * da_(ctx)[k]


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def pull(ctx):
    """mu·(M a)_s + eta_v·(M dv)_s + eta_a·(M da)_s."""
    own, psi_s = own_(ctx), psi_s_(ctx)[flag_(ctx)[OBJECTIVE]]
    for i in range(own.shape[0]):
        k = own[i]["k"]
        psi_s[own[i]["slot"]] += mu_(ctx)[k] * a_(ctx)[k] + eta_v_(ctx)[k] * dv_(ctx)[k] + eta_a_(ctx)[k] * da_(ctx)[k]
