"""What depends on slots alone: weights of bases, columns of frames and of markers (NAT-6).

It is computed anew when one of the slots it is made of has another value than before.
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.natural.frames import normal, weights
from kinegrad.kernels.natural.records import CROSS, POINT, SIZE
from kinegrad.kernels.vec3 import add, axpy, cross, inc_at, mat, mul, mv, put, vec_at


@kernel
def unit(i):
    """Axis i."""
    return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@kernel
def has_changed(watch, seen, s):
    """Whether a slot that frames, markers or masses are made of has another value; remembers the new ones."""
    changed = False
    for i in range(watch.shape[0]):
        if seen[i] != s[watch[i]]:
            changed = True
            seen[i] = s[watch[i]]
    return changed


@kernel
def prepare_frames(frame, basis, entity, fcol, s):
    """W of every leader, and dF/dq."""
    for i in range(1, frame.shape[0]):
        B = frame[i]
        if B["lead"] == i:
            weights(basis, B["b0"], s)
            frame_columns(B, basis, entity, fcol, s)


@kernel
def frame_columns(B, basis, entity, fcol, s):
    """dF/dq of a leader: W on the coordinates of entities, and n × of those of d for a column n × d."""
    for c in range(B["y0"], B["y1"]):
        for j in range(SIZE):
            fcol[c]["Y"][j] = 0.0
    for j in range(B["b0"], B["b1"]):
        b = basis[j]
        if b["type"] != CROSS:
            add_columns(B, b, b["W"], fcol, (0.0, 0.0, 0.0), False, 1.0)
            continue
        n = normal(basis, entity, b, s)
        add_columns(B, basis[b["d"]], b["W"], fcol, n, True, 1.0)
        if basis[b["d"]]["type"] == POINT:
            add_columns(B, basis[B["b0"]], b["W"], fcol, n, True, -1.0)


@kernel
def add_columns(B, b, W, fcol, n, crossed, sign):
    """Add the weights W on the entity of a column b, or on n × it, to the columns of a frame."""
    for i in range(3):
        if b["at"][i] >= 0:
            x = unit(i)
            if crossed:
                x = cross(n, x)
            for h in range(4):
                inc_at(fcol[B["y0"] + b["at"][i]]["Y"], 3 * h, mul(sign * W[h], x))


@kernel
def local(P, m, s):
    """Local coordinates of a marker in the frame of its body."""
    x = vec_at(s, m["loc"])
    if P["rot"] > 0:
        x = mv(mat(s[P["rot"] : P["rot"] + 9]), x)
    return add(x, vec_at(s, P["off"])) if m["point"] else x


@kernel
def prepare_markers(frame, basis, fcol, place, mk, here, col, s):
    """Local coordinates, and x_q, of the markers of bodies."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            continue
        P = place[m["node"]]
        l = local(P, m, s)
        put(here[i]["l"], l)
        if m["c1"] == m["c0"]:
            continue
        B = frame[P["frame"]]
        L = frame[B["lead"]]
        follows = B["lead"] != P["frame"]
        for c in range(m["c0"], m["c1"]):
            put(col[c]["xq"], (0.0, 0.0, 0.0))
        for j in range(L["y0"], L["y1"]):
            Y = fcol[j]["Y"]
            x = axpy(l[0], vec_at(Y, 0), axpy(l[1], vec_at(Y, 3), mul(l[2], vec_at(Y, 6))))
            if m["point"] and not follows:
                x = add(x, vec_at(Y, 9))
            put(col[m["c0"] + j - L["y0"]]["xq"], x)
        if m["point"] and follows:
            at = basis[B["b0"]]["at"]
            for j in range(3):
                if at[j] >= 0:
                    inc_at(col[m["c0"] + at[j]]["xq"], 0, unit(j))
