"""EVALUATE with the motion of every body taken at its centre of mass instead of the global origin (COM-1 to COM-5).

Arms between bodies come from the numbers of the model and from joint coordinates, never from differences of global positions,
so M and f keep their digits wherever the mechanism stands.  Nodes without a mass use their own point r.  Positions, markers,
rows and all derivatives are those of the other functions: both evaluations compute the same M and f.
"""

from kinegrad.kernels.clearing import clear_covectors
from kinegrad.kernels.elements.layout import GRAVITY
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.joint import functions
from kinegrad.kernels.joint.functions import AT_POSITIONS, LAYOUT, base
from kinegrad.kernels.joint.inertia import (
    add10,
    dot6,
    get10,
    inertia_wrench,
    moments_of,
    momentum,
    put10,
    shifted_moments,
    tensor,
)  # fmt: skip
from kinegrad.kernels.joint.markers import marker_rates
from kinegrad.kernels.joint.motion import dot4, four, positions, velocities
from kinegrad.kernels.joint.records import EULER, SCREW, SLIDE
from kinegrad.kernels.pattern import place
from kinegrad.kernels.products import AT_POSITION
from kinegrad.kernels.set_functions import forces, run_part, tangent
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    inc6,
    mat,
    mul,
    mv,
    put,
    put6,
    scross,
    six,
    sub,
    vec,
    vec_at,
)  # fmt: skip

node_, coord_, mass_, zero_, centred_, screw_ = LAYOUT.viewers(*"node coord mass zero centred centred_b".split())
mk_, count_, flag_, s_, q_, v_, f_, M_, square_ = LAYOUT.viewers(*"mk count flag s q v f M square".split())


@kernel
def arms(B, P, C, Q, coord, mass, s, q):
    """Keep g, from the point of a node to its centre of mass, and return d, from the parent's centre to it (COM-1)."""
    d = mv(mat(P["A"]), sub(vec_at(s, B["off"]), vec_at(s, B["ref"])))
    if B["type"] == SLIDE:
        d = axpy(q[B["k"]], vec(coord[B["k"]]["b"]), d)
    elif B["type"] == SCREW:
        d = axpy(s[B["pitch"]] * q[B["k"]], vec_at(coord[B["k"]]["b"], 3), d)
    d = sub(d, vec(Q["g"]))
    if B["m1"] > B["m0"]:
        M = mass[B["m0"]]
        g = mv(mat(B["A"]), sub(vec_at(s, M["com"]), vec_at(s, M["ref"])))
        put(C["g"], g)
        d = add(d, g)
    put(C["d"], d)
    return d


@kernel
def centred_motion(node, coord, mass, centred, screw, s, q, v):
    """Screws, V and a of every node about its centre of mass, at zero second derivatives of q (COM-2, COM-3)."""
    for i in range(1, node.shape[0]):
        B = node[i]
        C = centred[i]
        Q = centred[B["parent"]]
        d = arms(B, node[B["parent"]], C, Q, coord, mass, s, q)
        pv, po = six(Q["V"])
        av, ao = six(Q["a"])
        pv = add(pv, cross(po, d))
        av = add(av, cross(ao, d))
        if B["nk"] > 0:
            g = vec(C["g"])
            wv = (0.0 * s[0], 0.0 * s[0], 0.0 * s[0])
            wo = wv
            for k in range(B["k"], B["k"] + B["nk"]):
                bv, bo = six(coord[k]["b"])
                if B["type"] != SLIDE:
                    bv = cross(bo, g)
                if B["type"] == SCREW:
                    bv = axpy(s[B["pitch"]], bo, bv)
                put6(screw[k]["b"], bv, bo)
                wv = axpy(v[k], bv, wv)
                wo = axpy(v[k], bo, wo)
            hv, ho = scross(pv, po, wv, wo)
            av = add(av, hv)
            ao = add(ao, ho)
            if B["type"] == EULER:
                p = four(q, B["k"])
                t = -2.0 * dot4(p, four(v, B["k"])) / dot4(p, p)
                av = axpy(t, wv, av)
                ao = axpy(t, wo, ao)
            pv = add(pv, wv)
            po = add(po, wo)
        put6(C["V"], pv, po)
        put6(C["a"], av, ao)


@kernel
def centred_forces(node, mass, centred, s):
    """Moments and inertial wrench of every node about its centre of mass (INE-1, INE-2)."""
    for i in range(1, node.shape[0]):
        B = node[i]
        C = centred[i]
        if B["m1"] == B["m0"]:
            for j in range(10):
                C["I"][j] = 0.0
            for j in range(6):
                C["F"][j] = 0.0
            continue
        R = mat(B["A"])
        M = mass[B["m0"]]
        I = moments_of(s[M["m"]], (0.0, 0.0, 0.0), R, tensor(s, M["J"]))
        for k in range(B["m0"] + 1, B["m1"]):
            M = mass[k]
            c = sub(mv(R, sub(vec_at(s, M["com"]), vec_at(s, M["ref"]))), vec(C["g"]))
            I = add10(I, moments_of(s[M["m"]], c, R, tensor(s, M["J"])))
        v, o = six(C["V"])
        a, b = six(C["a"])
        fl, fa = inertia_wrench(I, v, o, a, b)
        put10(C["I"], I)
        put6(C["F"], fl, fa)


@kernel
def centred_wrenches(node, mk, centred, s):
    """Add the covectors f of the markers to the wrenches of their nodes, about the centres of mass."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            C = centred[m["node"]]
            f = vec(m["f"])
            if m["point"]:
                x = mv(mat(node[m["node"]]["A"]), sub(vec_at(s, m["loc"]), vec_at(s, m["ref"])))
                inc6(C["F"], f, cross(sub(x, vec(C["g"])), f))
            else:
                inc6(C["F"], (0.0, 0.0, 0.0), cross(vec(m["x"]), f))


@kernel
def centred_accumulate(node, centred, screw, S, M, f):
    """M and f = Σ b·F by one backward sweep; what goes to the parent is shifted to its centre of mass (COM-4, COM-5)."""
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        C = centred[i]
        fl, fa = six(C["F"])
        I = get10(C["I"])
        for k in range(B["k"], B["k"] + B["nk"]):
            bv, bo = six(screw[k]["b"])
            f[k] += dot(bv, fl) + dot(bo, fa)
            hl, ha = momentum(I, bv, bo)
            last = k + 1
            n = i
            while n > 0:
                N = node[n]
                for j in range(N["k"], min(last, N["k"] + N["nk"])):
                    t = dot6(hl, ha, screw[j]["b"])
                    M[place(S, k, j)] = t
                    M[place(S, j, k)] = t
                ha = add(ha, cross(vec(centred[n]["d"]), hl))
                n = N["parent"]
        if B["parent"] > 0:
            T = centred[B["parent"]]
            d = vec(C["d"])
            inc6(T["F"], fl, add(fa, cross(d, fl)))
            put10(T["I"], add10(get10(T["I"]), shifted_moments(I, d)))


@cfunction(what="the simulation kernels about centres of mass")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    node, coord, mass, mk, s, q, v = node_(ctx), coord_(ctx), mass_(ctx), mk_(ctx), s_(ctx), q_(ctx), v_(ctx)
    f, centred, screw, gravity = f_(ctx), centred_(ctx), screw_(ctx), count_(ctx)[GRAVITY]
    if not flag_(ctx)[AT_POSITION]:
        positions(node, coord, s, q)
        run_part(ctx, AT_POSITIONS)
    base(node, s, gravity, True)
    velocities(node, coord, q, v, zero_(ctx))  # the markers and ENERGY read these
    marker_rates(node, mk)
    put(centred[0]["a"], mul(-1.0, vec_at(s, gravity)))
    centred_motion(node, coord, mass, centred, screw, s, q, v)
    centred_forces(node, mass, centred, s)
    clear_covectors(mk)
    for i in range(f.shape[0]):
        f[i] = 0.0
    forces(ctx)
    centred_wrenches(node, mk, centred, s)
    centred_accumulate(node, centred, screw, square_(ctx), M_(ctx), f)
    tangent(ctx)


FUNCTIONS = (evaluate, *functions.FUNCTIONS[1:])
