"""Markers in the natural set: positions, rates, covectors, columns by directions (NAT-1, NAT-7).

x = r + A l with frames that are affine in q: x_q is constant, and nothing is curved.  A marker with a node below zero is an
entity itself, number -1 - node.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.natural.frames import column, turned, value
from kinegrad.kernels.natural.records import AC, AT
from kinegrad.kernels.vec3 import add, inc_at, mat, mul, mv, put, vec, vec_at

ZERO = (0.0, 0.0, 0.0)


@inlined
def of_marker(T, field, m, l):
    """x of a marker of a body, in a field of its frame."""
    x = turned(T, field, l)
    return add(x, column(T, field, 3)) if m["point"] else x


@kernel
def marker_positions(frame, place, entity, mk, here, s, q):
    """x of every marker."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            put(m["x"], value(entity[-1 - m["node"]], q, s, True))
        else:
            put(m["x"], of_marker(frame[place[m["node"]]["frame"]]["T"], AT, m, vec(here[i]["l"])))


@kernel
def marker_rates(frame, place, entity, mk, here, s, v, field):
    """xd of every marker for the velocities v, which the frames have in a field; xdd = 0."""
    for i in range(mk.shape[0]):
        m = mk[i]
        put(m["xdd"], ZERO)
        if m["node"] < 0:
            put(m["xd"], value(entity[-1 - m["node"]], v, s, False))
        else:
            put(m["xd"], of_marker(frame[place[m["node"]]["frame"]]["T"], field, m, vec(here[i]["l"])))


@kernel
def marker_accelerations(frame, place, entity, mk, here, s, a, field):
    """xdd of every marker for the accelerations a, which the frames have in a field."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            put(m["xdd"], value(entity[-1 - m["node"]], a, s, False))
        else:
            put(m["xdd"], of_marker(frame[place[m["node"]]["frame"]]["T"], field, m, vec(here[i]["l"])))


@kernel
def gather(D, field, m, l, f):
    """Add a covector f of a marker to what is dual to a field of its frame."""
    for h in range(3):
        inc_at(D, field + 3 * h, mul(l[h], f))
    if m["point"]:
        inc_at(D, field + 9, f)


@kernel
def covectors(frame, place, mk, here, field, which):
    """Add covectors of all markers of bodies, f (0), fv (1) or fa (2), to the duals of a field."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] >= 0:
            f = vec(m["f"]) if which == 0 else (vec(m["fv"]) if which == 1 else vec(m["fa"]))
            gather(frame[place[m["node"]]["frame"]]["D"], field, m, vec(here[i]["l"]), f)


@kernel
def entity_forces(entity, mk, f):
    """Add the covectors of markers that are entities to f."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            k = entity[-1 - m["node"]]["k"]
            for j in range(3):
                if k[j] >= 0:
                    f[k[j]] += m["f"][j]


@kernel
def local_change(P, m, s, ds):
    """What the direction ds of slots changes of the local coordinates of a marker of a body."""
    x = vec_at(ds, m["loc"])
    if P["rot"] > 0:
        k = P["rot"]
        x = add(mv(mat(s[k : k + 9]), x), mv(mat(ds[k : k + 9]), vec_at(s, m["loc"])))
    return add(x, vec_at(ds, P["off"])) if m["point"] else x


@kernel
def direction_columns(frame, place, entity, mk, here, col, s, ds, k, fv, second):
    """Columns k of the markers under one direction: x, xd in the field fv, and, if asked, xdd (NAT-7)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        for c in range(m["c1"], m["c2"]):
            if col[c]["k"] != k:
                continue
            if m["node"] < 0:
                e = entity[-1 - m["node"]]
                for j in range(3):
                    col[c]["xq"][j] = ds[e["val"][j]] if e["k"][j] < 0 else 0.0
                continue
            P = place[m["node"]]
            B = frame[P["frame"]]
            l, dl = vec(here[i]["l"]), local_change(P, m, s, ds)
            put(col[c]["xq"], add(of_marker(B["E"], AT, m, l), turned(B["T"], AT, dl)))
            put(col[c]["xdq"], add(of_marker(B["E"], fv, m, l), turned(B["T"], fv, dl)))
            if second:
                put(col[c]["xddq"], add(of_marker(B["E"], AC, m, l), turned(B["T"], AC, dl)))
