"""Inertia of coordinates that elements own: a number of the model on the diagonal of M (OWN-2)."""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import FORCES, LINEAR_FORCES, PULL, Kind
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.linalg import get4
from kinegrad.kernels.pattern import place
from kinegrad.kernels.products import BLOCK
from kinegrad.kernels.vec4 import gain4

(own_, s_, ds_, a_, dv_, da_, mu4_, eta_v4_, eta_a4_) = ELEMENTS.viewers(*"own s ds a dv da mu4 eta_v4 eta_a4".split())
M_, square_, R_s_, Nv_s_, Na_s_, psi4_, flag_ = ELEMENTS.viewers(*"M square R_s Nv_s Na_s psi4 flag".split())

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
    own, psi = own_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    for i in range(own.shape[0]):
        k = own[i]["k"]
        x = a_(ctx)[k] * get4(mu4_(ctx), k) + dv_(ctx)[k] * get4(eta_v4_(ctx), k) + da_(ctx)[k] * get4(eta_a4_(ctx), k)
        gain4(psi, own[i]["slot"], x)
