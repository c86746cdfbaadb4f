"""Basic constraints and drivers in reference-point coordinates against closed forms written by hand (BAS-1 to BAS-11).

Numbers of equations are those of E. J. Haug, supplement to *Computer Aided Kinematics and Dynamics*, sections 9.6 to 9.8.
Where the print is wrong the corrected form stands here, and the docstring says so.  Bodies i = a and j = b, coordinates
q = (r_i, p_i, r_j, p_j); p is not of unit length unless a test says so.
"""

import numpy as np
import pytest

import kinegrad as kg

T = 0.37
LAM = np.array([0.7, -1.3, 0.4, 1.1, -0.2, 0.6])
I3 = np.eye(3)
COM = {"a": [0.1, 0.25, -0.2], "b": [0.0, 0.1, 0.2]}
MARKERS = {
    "a": {"s": [0.0, 0.3, 0.5], "v": [1.0, 0.3, 0.2]},
    "b": {"q": [0.7, 0.3, -0.2], "v": [0.3, 0.1, 1.0]},
}
MODEL = f"""
kinegrad: 1
parameters: {{L: 0.7, tilt: 0.3, d: 1.1}}
bodies:
  a: {{mass: 1.3, com: {COM["a"]}, inertia: [0.3, 0.4, 0.5],
      markers: {{s: {MARKERS["a"]["s"]}, v: {{vector: {MARKERS["a"]["v"]}}}, AXES}}}}
  b: {{mass: 0.8, com: {COM["b"]}, inertia: [0.1, 0.2, 0.2],
      markers: {{q: {MARKERS["b"]["q"]}, v: {{vector: {MARKERS["b"]["v"]}}}, AXES}}}}
""".replace("AXES", "f: {vector: [1, 0, 0]}, g: {vector: [0, 1, 0]}, h: {vector: [0, 0, 1]}")


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def B(p, a):
    """(9.3.2.2): (A(p) a)_p, linear in p."""
    S = p[0] * I3 + skew(p[1:])
    return 2.0 * np.column_stack([S @ a, np.outer(p[1:], a) - S @ skew(a)])


def K(a, b):
    """(9.3.2.14): (B(p, a)ᵀ b)_p."""
    last = np.column_stack([np.cross(a, b), np.outer(a, b) + np.outer(b, a) - (a @ b) * I3])
    return 2.0 * np.vstack([[a @ b, *(a @ skew(b))], last])


class Vector:
    """A vector a = A(p) a' of a body, or a point r + A(p) s' of it, with its rates: (9.7.2), (9.7.33), (9.7.35)."""

    def __init__(self, system, body, local, q, qd, point=False):
        self.k, self.local, self.point = system.coordinates.index(f"{body}.x"), np.asarray(local, float), point
        self.p, self.pd = q[self.k + 3 : self.k + 7], qd[self.k + 3 : self.k + 7]
        r, rd = (x[self.k : self.k + 3] * point for x in (q, qd))
        self.x = r + 0.5 * B(self.p, self.local) @ self.p
        self.xd = rd + B(self.p, self.local) @ self.pd
        self.xdd = B(self.pd, self.local) @ self.pd  # at zero second derivatives

    def columns(self, n, p, point):
        out = np.zeros((3, n))
        out[:, self.k : self.k + 3] = I3 * point
        out[:, self.k + 3 : self.k + 7] = B(p, self.local)
        return out

    def x_q(self, n):
        return self.columns(n, self.p, self.point)

    def xd_q(self, n):
        return self.columns(n, self.pd, 0.0)

    def curvature(self, n, f):
        """(x_qᵀ f)_q with f fixed: K(a', f)."""
        out = np.zeros((n, n))
        k = slice(self.k + 3, self.k + 7)
        out[k, k] = K(self.local, f)
        return out


class Case:
    """Two free bodies at a state, with the element x whose text is `rows`."""

    def __init__(self, rows, q=None, qd=None):
        self.system = kg.lower(kg.Model.from_yaml_text(MODEL + rows), "reference-point")
        rng = np.random.default_rng(11)
        self.n = self.system.n
        self.q = 0.8 * rng.normal(size=self.n) if q is None else q
        self.qd = rng.normal(size=self.n) if qd is None else qd
        self.element = self.system.element("x")
        self.at = self.element.at(self.q, self.qd, T, lam=LAM[: len(self.element.rows)])

    def vector(self, body, local):
        return Vector(self.system, body, local, self.q, self.qd)

    def point(self, name):
        body, _, marker = name.partition(".")
        return Vector(self.system, body, np.subtract(MARKERS[body][marker], COM[body]), self.q, self.qd, point=True)

    def unit(self, name):
        body, _, marker = name.partition(".")
        return self.vector(body, MARKERS[body][marker] / np.linalg.norm(MARKERS[body][marker]))

    def compare(self, **expected):
        for key, value in expected.items():
            found = getattr(self.at, key).values
            value = np.reshape(value, found.shape)
            scale = max(1.0, np.abs(value).max())
            assert np.abs(found - value).max() < 1e-12 * scale, key


def dot_of(n, x, y):
    """x·y of two vectors, or of a vector and a difference of points: value, rate, gamma, their derivatives, Hessian."""
    x_q, y_q, xd_q, yd_q = x.x_q(n), y.x_q(n), x.xd_q(n), y.xd_q(n)
    return {
        "Phi": x.x @ y.x,
        "Phi_q": x.x @ y_q + y.x @ x_q,
        "Phid": x.x @ y.xd + y.x @ x.xd,
        "Phid_q": x.xd @ y_q + x.x @ yd_q + y.xd @ x_q + y.x @ xd_q,
        "gamma": -(x.x @ y.xdd + y.x @ x.xdd + 2.0 * x.xd @ y.xd),
        "gamma_q": -(y.xdd @ x_q + x.xdd @ y_q + 2.0 * y.xd @ xd_q + 2.0 * x.xd @ yd_q),
        "gamma_qd": -2.0 * (x.xd @ y_q + x.x @ yd_q + y.xd @ x_q + y.x @ xd_q),
        "H": x.curvature(n, y.x) + y.curvature(n, x.x) + x_q.T @ y_q + y_q.T @ x_q,
    }


class Difference:
    """d = x_j - x_i (9.7.3), (9.7.34), (9.7.36)."""

    def __init__(self, i, j):
        self.i, self.j = i, j
        self.x, self.xd, self.xdd = j.x - i.x, j.xd - i.xd, j.xdd - i.xdd

    def x_q(self, n):
        return self.j.x_q(n) - self.i.x_q(n)

    def xd_q(self, n):
        return self.j.xd_q(n) - self.i.xd_q(n)

    def curvature(self, n, f):
        return self.j.curvature(n, f) - self.i.curvature(n, f)


def constraint(text):
    return f"constraints: {{x: {text}}}"


def blocks(case, r_i, p_i, r_j, p_j):
    """A row by the blocks of the print."""
    row = np.zeros(case.n)
    for body, r, p in (("a", r_i, p_i), ("b", r_j, p_j)):
        k = case.system.coordinates.index(f"{body}.x")
        row[k : k + 3], row[k + 3 : k + 7] = r, p
    return row


def square(case, rows):
    """A matrix of four by four blocks."""
    places = []
    for body in "ab":
        k = case.system.coordinates.index(f"{body}.x")
        places += [slice(k, k + 3), slice(k + 3, k + 7)]
    out = np.zeros((case.n, case.n))
    for i, row in enumerate(rows):
        for j, block in enumerate(row):
            out[places[i], places[j]] = block
    return out


# --- constraints, block by block as printed ---


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("{type: dot, between: [a.v, b.v], value: tilt}", 0.3),
        ("{type: angle, between: [a.v, b.v], value: 1.2}", np.cos(1.2)),
    ],
)
def test_dot_1(text, constant):
    """(9.7.4), (9.7.18), (9.8.1) to (9.8.3); (9.8.32) is wrong in print: a_j and a_i exchanged, B_iᵀB_j between the bodies."""
    case = Case(constraint(text))
    i, j, z, lam = case.unit("a.v"), case.unit("b.v"), np.zeros(3), LAM[0]
    Bi, Bj, Bid, Bjd = B(i.p, i.local), B(j.p, j.local), B(i.pd, i.local), B(j.pd, j.local)
    O34, O43, O33 = np.zeros((3, 4)), np.zeros((4, 3)), np.zeros((3, 3))
    case.compare(
        Phi=i.x @ j.x - constant,
        Phi_q=blocks(case, z, j.x @ Bi, z, i.x @ Bj),
        nu=0.0,
        gamma=-(i.x @ Bjd @ j.pd + j.x @ Bid @ i.pd + 2.0 * i.xd @ j.xd),
        gamma_q=-blocks(case, z, (Bjd @ j.pd) @ Bi + 2.0 * j.xd @ Bid, z, (Bid @ i.pd) @ Bj + 2.0 * i.xd @ Bjd),
        gamma_qd=-blocks(case, z, 2.0 * j.x @ Bid + 2.0 * j.xd @ Bi, z, 2.0 * i.x @ Bjd + 2.0 * i.xd @ Bj),
        PhiqTlam_q=lam
        * square(
            case,
            [
                [O33, O34, O33, O34],
                [O43, K(i.local, j.x), O43, Bi.T @ Bj],
                [O33, O34, O33, O34],
                [O43, Bj.T @ Bi, O43, K(j.local, i.x)],
            ],
        ),
    )


PLANE = "{type: point-in-plane, between: [a.s, b.q], normal: a.v, distance: d}"
DRIVEN = 'measures: {m: "dot(a.v.position, b.q.position - a.s.position)"}\ndrivers: {x: {measure: m, value: sin(2*t)}}'


@pytest.mark.parametrize(
    ("text", "C", "Cd", "Cdd"),
    [
        (constraint(PLANE), 1.1, 0.0, 0.0),
        (DRIVEN, np.sin(2 * T), 2 * np.cos(2 * T), -4 * np.sin(2 * T)),
    ],
    ids=["dot-2", "relative translation driver"],
)
def test_dot_2_and_relative_translation(text, C, Cd, Cdd):
    """(9.7.5), (9.7.14), (9.7.21), (9.8.4) to (9.8.6), (9.8.26) to (9.8.28); (9.8.33) is wrong in print in the row of p_i."""
    case = Case(text)
    a, i, j, lam = case.unit("a.v"), case.point("a.s"), case.point("b.q"), LAM[0]
    d, dd = j.x - i.x, j.xd - i.xd
    Ba, Bs, Bj = B(a.p, a.local), B(i.p, i.local), B(j.p, j.local)
    Bad, Bsd, Bjd = B(a.pd, a.local), B(i.pd, i.local), B(j.pd, j.local)
    si, sj, ai = Bsd @ i.pd, Bjd @ j.pd, Bad @ a.pd
    O34, O43, O33 = np.zeros((3, 4)), np.zeros((4, 3)), np.zeros((3, 3))
    case.compare(
        Phi=a.x @ d - C,
        Phi_q=blocks(case, -a.x, d @ Ba - a.x @ Bs, a.x, a.x @ Bj),
        nu=Cd,
        gamma=-(a.x @ (sj - si) + d @ ai + 2.0 * a.xd @ dd) + Cdd,
        gamma_q=-blocks(case, -ai, -ai @ Bs, ai, ai @ Bj)
        - blocks(case, np.zeros(3), (sj - si) @ Ba + 2.0 * dd @ Bad - 2.0 * a.xd @ Bsd, np.zeros(3), 2.0 * a.xd @ Bjd),
        gamma_qd=-2.0 * blocks(case, -a.xd, d @ Bad - a.x @ Bsd + dd @ Ba - a.xd @ Bs, a.xd, a.x @ Bjd + a.xd @ Bj),
        PhiqTlam_q=lam
        * square(
            case,
            [
                [O33, -Ba, O33, O34],
                [-Ba.T, K(a.local, d) - Ba.T @ Bs - K(i.local, a.x) - Bs.T @ Ba, Ba.T, Ba.T @ Bj],
                [O33, Ba, O33, O34],
                [O43, Bj.T @ Ba, O43, K(j.local, a.x)],
            ],
        ),
    )


@pytest.mark.parametrize(
    "text",
    [constraint("{type: coincidence, between: [b.q, a.s]}"), "joints: {x: {type: spherical, between: [b.q, a.s]}}"],
    ids=["constraint", "joint"],
)
def test_spherical(text):
    """(9.7.6), (9.8.7) to (9.8.9), (9.8.34) with B(p_j, s_j)ᵀ."""
    case = Case(text)
    i, j = case.point("a.s"), case.point("b.q")
    Bi, Bj, Bid, Bjd = B(i.p, i.local), B(j.p, j.local), B(i.pd, i.local), B(j.pd, j.local)
    O34, O43, O33, O44 = np.zeros((3, 4)), np.zeros((4, 3)), np.zeros((3, 3)), np.zeros((4, 4))
    case.compare(
        Phi=j.x - i.x,
        Phi_q=[blocks(case, -I3[c], -Bi[c], I3[c], Bj[c]) for c in range(3)],
        nu=np.zeros(3),
        gamma=-(Bjd @ j.pd - Bid @ i.pd),
        gamma_q=np.zeros((3, case.n)),
        gamma_qd=[blocks(case, 0.0, 2.0 * Bid[c], 0.0, -2.0 * Bjd[c]) for c in range(3)],
        PhiqTlam_q=square(
            case,
            [
                [O33, O34, O33, O34],
                [O43, -K(i.local, LAM[:3]), O43, O44],
                [O33, O34, O33, O34],
                [O43, O44, O43, K(j.local, LAM[:3])],
            ],
        ),
    )


TIED = "joints: {x: {type: link, between: [a.s, b.q], length: d}}"
APART = constraint('{type: position, value: "norm2(b.q.position - a.s.position) - (d + 0.2*sin(3*t))**2"}')


@pytest.mark.parametrize(
    ("text", "driven"),
    [(constraint("{type: distance, between: [a.s, b.q], distance: d}"), 0.0), (TIED, 0.0), (APART, 0.2)],
    ids=["distance", "link", "distance driver"],
)
def test_distance_and_distance_driver(text, driven):
    """(9.7.7), (9.7.20) with C = 0 in Phi^ss, (9.8.10), (9.8.11), (9.8.23); (9.8.12) and (9.8.35) are wrong in print."""
    case = Case(text)
    C, Cd, Cdd = 1.1 + driven * np.sin(3 * T), 3 * driven * np.cos(3 * T), -9 * driven * np.sin(3 * T)
    i, j, lam = case.point("a.s"), case.point("b.q"), LAM[0]
    d, dd = j.x - i.x, j.xd - i.xd
    Bi, Bj, Bid, Bjd = B(i.p, i.local), B(j.p, j.local), B(i.pd, i.local), B(j.pd, j.local)
    f = Bjd @ j.pd - Bid @ i.pd
    Hii, Hjj = Bi.T @ Bi - K(i.local, d), Bj.T @ Bj + K(j.local, d)
    case.compare(
        Phi=d @ d - C**2,
        Phi_q=2.0 * blocks(case, -d, -d @ Bi, d, d @ Bj),
        nu=2.0 * C * Cd,
        gamma=-(2.0 * d @ f + 2.0 * dd @ dd) + 2.0 * C * Cdd + 2.0 * Cd**2,
        gamma_q=2.0 * blocks(case, f, f @ Bi, -f, -f @ Bj) + 4.0 * blocks(case, 0.0, dd @ Bid, 0.0, -dd @ Bjd),
        gamma_qd=4.0 * blocks(case, dd, d @ Bid + dd @ Bi, -dd, -d @ Bjd - dd @ Bj),
        PhiqTlam_q=2.0
        * lam
        * square(
            case,
            [
                [I3, Bi, -I3, -Bj],
                [Bi.T, Hii, -Bi.T, -Bi.T @ Bj],
                [-I3, -Bi, I3, Bj],
                [-Bj.T, -Bj.T @ Bi, Bj.T, Hjj],
            ],
        ),
    )


@pytest.mark.parametrize(
    ("value", "C", "Cd", "Cdd"),
    [
        ("[0.1, tilt, -0.2]", [0.1, 0.3, -0.2], [0, 0, 0], [0, 0, 0]),
        ('[t, "L*t**2", "sin(t)"]', [T, 0.7 * T**2, np.sin(T)], [1, 1.4 * T, np.cos(T)], [0, 1.4, -np.sin(T)]),
    ],
    ids=["absolute", "absolute driver"],
)
def test_absolute_and_absolute_driver(value, C, Cd, Cdd):
    """(9.7.11), (9.7.12), (9.7.19), (9.8.16) to (9.8.21); (9.8.37) is wrong in print: the vector is (lam, Bᵀ lam)."""
    case = Case(constraint(f"{{type: guidance, marker: b.q, value: {value}}}"))
    j = case.point("b.q")
    Bj, Bjd = B(j.p, j.local), B(j.pd, j.local)
    case.compare(
        Phi=j.x - C,
        Phi_q=[blocks(case, 0.0, 0.0, I3[c], Bj[c]) for c in range(3)],
        nu=Cd,
        gamma=-Bjd @ j.pd + Cdd,
        gamma_q=np.zeros((3, case.n)),
        gamma_qd=[blocks(case, 0.0, 0.0, 0.0, -2.0 * Bjd[c]) for c in range(3)],
        PhiqTlam_q=j.curvature(case.n, LAM[:3]),
    )


def test_normalisation():
    """(9.6.3), whose derivatives are not printed: 2 pᵀ, 0, -2 ṗᵀṗ, -4 ṗᵀ, 2 lam."""
    case = Case(constraint("{type: coincidence, between: [b.q, a.s]}"))
    k = case.system.coordinates.index("b.e0")
    p, pd = case.q[k : k + 4], case.qd[k : k + 4]
    case.at = case.system.element("b").at(case.q, case.qd, T, lam=LAM[0])
    hessian = np.zeros((case.n, case.n))
    hessian[k : k + 4, k : k + 4] = 2.0 * LAM[0] * np.eye(4)
    rows = [np.zeros(case.n) for _ in range(2)]
    rows[0][k : k + 4], rows[1][k : k + 4] = 2.0 * p, -4.0 * pd
    zero = np.zeros(case.n)
    case.compare(
        Phi=p @ p - 1.0, Phi_q=rows[0], nu=0.0, gamma=-2.0 * pd @ pd, gamma_q=zero, gamma_qd=rows[1], PhiqTlam_q=hessian
    )


# --- parallel vectors, points on lines ---


def across(v):
    """x and y of (CON-7) for a vector of a body: x towards the axis that is farthest from it."""
    e = I3[np.abs(v).argmin()]
    x = e - (e @ v) * v
    x /= np.linalg.norm(x)
    return x, np.cross(v, x)


@pytest.mark.parametrize("kind", ["parallel", "same-direction"])
def test_parallel_vectors_are_two_dot_products(kind):
    case = Case(constraint(f"{{type: {kind}, between: [a.v, b.v]}}"))
    b = case.unit("b.v")
    forms = [dot_of(case.n, case.vector("a", x), b) for x in across(case.unit("a.v").local)]
    for key in ("Phi", "Phi_q", "gamma", "gamma_q", "gamma_qd"):
        case.compare(**{key: [form[key] for form in forms]})
    case.compare(nu=[0.0, 0.0], PhiqTlam_q=LAM[0] * forms[0]["H"] + LAM[1] * forms[1]["H"])
    a = case.unit("a.v")
    x, y = (case.vector("a", v).x for v in across(a.local))
    cross = np.linalg.norm(a.x) * np.cross(a.x, b.x)  # as p is not of unit length, neither are x, y and a
    assert np.abs(case.at.Phi[0] * y - case.at.Phi[1] * x - cross).max() < 1e-12 * np.abs(cross).max()


def test_a_point_on_a_line_is_two_dot_2():
    case = Case(constraint("{type: point-on-line, between: [a.s, b.q], along: a.v}"))
    d = Difference(case.point("a.s"), case.point("b.q"))
    forms = [dot_of(case.n, case.vector("a", x), d) for x in across(case.unit("a.v").local)]
    for key in ("Phi", "Phi_q", "gamma", "gamma_q", "gamma_qd"):
        case.compare(**{key: [form[key] for form in forms]})
    case.compare(nu=[0.0, 0.0], PhiqTlam_q=LAM[0] * forms[0]["H"] + LAM[1] * forms[1]["H"])


# --- the angle of a screw and of a rotation driver ---

ANGLE = "atan2(dot(a.g.position, b.f.position), dot(a.f.position, b.f.position))"
TURN = f'measures: {{m: "{ANGLE}"}}\ndrivers: {{x: {{measure: m, value: 0.1 + sin(t)}}}}'
THREAD = (
    f'constraints: {{x: {{type: position, value: "dot(a.h.position, b.q.position - a.s.position) - 0.3*({ANGLE})"}}}}'
)


def angle_forms(n, f_i, g_i, f_j):
    """theta = atan2(s, c), s = g_i·f_j, c = f_i·f_j, anywhere (BAS-9): (9.7.10) divided by c² + s² and what follows from it."""
    c, s = dot_of(n, f_i, f_j), dot_of(n, g_i, f_j)
    D = c["Phi"] ** 2 + s["Phi"] ** 2
    D_q = 2.0 * (c["Phi"] * c["Phi_q"] + s["Phi"] * s["Phi_q"])
    theta_q = (c["Phi"] * s["Phi_q"] - s["Phi"] * c["Phi_q"]) / D
    rate = (c["Phi"] * s["Phid"] - s["Phi"] * c["Phid"]) / D
    rate_q = (
        c["Phi_q"] * s["Phid"] + c["Phi"] * s["Phid_q"] - s["Phi_q"] * c["Phid"] - s["Phi"] * c["Phid_q"] - rate * D_q
    ) / D
    half = c["Phi"] * c["Phid"] + s["Phi"] * s["Phid"]  # half the rate of D
    half_q = c["Phi_q"] * c["Phid"] + c["Phi"] * c["Phid_q"] + s["Phi_q"] * s["Phid"] + s["Phi"] * s["Phid_q"]
    gamma = (c["Phi"] * s["gamma"] - s["Phi"] * c["gamma"] + 2.0 * half * rate) / D
    gamma_q = (
        c["Phi_q"] * s["gamma"] + c["Phi"] * s["gamma_q"] - s["Phi_q"] * c["gamma"] - s["Phi"] * c["gamma_q"]
        + 2.0 * half_q * rate + 2.0 * half * rate_q - gamma * D_q
    ) / D  # fmt: skip
    gamma_qd = (c["Phi"] * s["gamma_qd"] - s["Phi"] * c["gamma_qd"] + D_q * rate + 2.0 * half * theta_q) / D
    outer = np.outer(s["Phi_q"], c["Phi_q"])
    H = (c["Phi"] * s["H"] - s["Phi"] * c["H"] + outer - outer.T - np.outer(theta_q, D_q)) / D
    theta = np.arctan2(s["Phi"], c["Phi"])
    return {"Phi": theta, "Phi_q": theta_q, "gamma": gamma, "gamma_q": gamma_q, "gamma_qd": gamma_qd, "H": H}


def angle_axes(case):
    return case.vector("a", I3[0]), case.vector("a", I3[1]), case.vector("b", I3[0])


def test_relative_rotation_driver():
    """(9.7.15), (9.7.22), (9.8.29) to (9.8.31) with theta as above, at a state that is neither assembled nor normalised."""
    case = Case(TURN)
    theta, lam = angle_forms(case.n, *angle_axes(case)), LAM[0]
    case.compare(
        Phi=theta["Phi"] - 0.1 - np.sin(T), Phi_q=theta["Phi_q"], nu=np.cos(T), gamma=theta["gamma"] - np.sin(T),
        gamma_q=theta["gamma_q"], gamma_qd=theta["gamma_qd"], PhiqTlam_q=lam * theta["H"],
    )  # fmt: skip


def test_screw():
    """The row of dot-2 and theta that a screw has beside those of a cylindrical joint: both parts, with the pitch."""
    case = Case(THREAD)
    theta = angle_forms(case.n, *angle_axes(case))
    along = dot_of(case.n, case.vector("a", I3[2]), Difference(case.point("a.s"), case.point("b.q")))
    both = {key: along[key] - 0.3 * theta[key] for key in theta}
    case.compare(PhiqTlam_q=LAM[0] * both.pop("H"), nu=0.0, **both)
    joint = Case("joints: {x: {type: screw, between: [a.s, b.q], axis: [0, 0, 1], pitch: 0.3}}")
    assert joint.element.rows[-1] == "x pitch"
    for key, value in both.items():
        found = getattr(joint.at, key)[-1]
        if key == "Phi":  # the joint's row is on the turn that the distance tells
            found -= 0.6 * np.pi * np.round((found - value) / (0.6 * np.pi))
        assert np.abs(found - value).max() < 1e-12 * max(1.0, np.abs(value).max()), key


def E(p):
    """(9.3.1.42): omega = 2 E pd at unit p."""
    return np.column_stack([-p[1:], p[0] * I3 + skew(p[1:])])


def assembled():
    """A state with unit p and a common axis h that stays common: bodies turn with w, and b about h by the rate 0.37 more."""
    rng = np.random.default_rng(3)
    p = rng.normal(size=4)
    p /= np.linalg.norm(p)
    angle, w = 0.9, rng.normal(size=3)
    half, turn = np.cos(angle / 2), np.array([0.0, 0.0, np.sin(angle / 2)])
    pj = np.array([p[0] * half - p[1:] @ turn, *(p[0] * turn + half * p[1:] + np.cross(p[1:], turn))])
    h = 0.5 * B(p, I3[2]) @ p
    q, qd = (np.concatenate([rng.normal(size=3), x, rng.normal(size=3), y]) for x, y in (
        (p, pj), (0.5 * E(p).T @ w, 0.5 * E(pj).T @ (w + 0.37 * h)),
    ))  # fmt: skip
    return q, qd, angle


def test_the_angle_as_printed_where_the_joint_is_assembled():
    """(9.7.10), (9.7.51), (9.8.14) with the rate of f_j, (9.8.15) with B_j in its last block, (9.8.36) with f_j in its first.

    The print differentiates (9.7.10) with c² + s² held at 1. With r = |p_i|²|p_j|², which is what it is near an assembled
    position, gamma_q, gamma_qd and the Hessian of the angle itself have terms more: r_q = (0, 2 p_i, 0, 2 p_j).
    """
    q, qd, angle = assembled()
    case = Case(TURN, q, qd)
    f_i, g_i, f_j = angle_axes(case)
    c, s, z = np.cos(angle), np.sin(angle), np.zeros(3)
    Bf, Bg, Bj = B(f_i.p, I3[0]), B(f_i.p, I3[1]), B(f_j.p, I3[0])
    Bfd, Bgd, Bjd = B(f_i.pd, I3[0]), B(f_i.pd, I3[1]), B(f_j.pd, I3[0])
    u, v = c * g_i.x - s * f_i.x, s * g_i.x + c * f_i.x
    ud, vd = c * g_i.xd - s * f_i.xd, s * g_i.xd + c * f_i.xd
    theta_q = blocks(case, z, f_j.x @ (c * Bg - s * Bf), z, u @ Bj)
    gamma = -(u @ Bjd @ f_j.pd + f_j.x @ (c * Bgd - s * Bfd) @ f_i.pd + 2.0 * ud @ f_j.xd)
    first = (Bjd @ f_j.pd) @ (c * Bg - s * Bf) + 2.0 * f_j.xd @ (c * Bgd - s * Bfd)
    second = ((c * Bgd - s * Bfd) @ f_i.pd) @ Bj + 2.0 * ud @ Bjd
    along = v @ Bjd @ f_j.pd + f_j.x @ (s * Bgd + c * Bfd) @ f_i.pd + 2.0 * vd @ f_j.xd
    gamma_q = -blocks(case, z, first, z, second) + along * theta_q
    gamma_qd = -2.0 * blocks(
        case, z, f_j.x @ (c * Bgd - s * Bfd) + f_j.xd @ (c * Bg - s * Bf), z, u @ Bjd + ud @ Bj
    )  # fmt: skip
    mixed = (c * Bg - s * Bf).T @ Bj
    O34, O43, O33 = np.zeros((3, 4)), np.zeros((4, 3)), np.zeros((3, 3))
    printed = square(case, [
        [O33, O34, O33, O34],
        [O43, c * K(I3[1], f_j.x) - s * K(I3[0], f_j.x), O43, mixed],
        [O33, O34, O33, O34],
        [O43, mixed.T, O43, c * K(I3[0], g_i.x) - s * K(I3[0], f_i.x)],
    ])  # fmt: skip
    printed -= np.outer(blocks(case, z, (s * Bg + c * Bf).T @ f_j.x, z, Bj.T @ v), theta_q)
    r_q, r_qd = blocks(case, z, 2.0 * f_i.p, z, 2.0 * f_j.p), blocks(case, z, 2.0 * f_i.pd, z, 2.0 * f_j.pd)
    assert theta_q @ qd == pytest.approx(0.37, abs=1e-14)
    case.compare(
        Phi=angle - 0.1 - np.sin(T), Phi_q=theta_q, nu=np.cos(T), gamma=gamma - np.sin(T),
        gamma_q=gamma_q - gamma * r_q + 2.0 * 0.37 * r_qd, gamma_qd=gamma_qd + 2.0 * 0.37 * r_q,
        PhiqTlam_q=LAM[0] * (printed - np.outer(theta_q, r_q)),
    )  # fmt: skip


# --- joints ---

JOINTS = {
    "revolute": ("type: revolute, axis: [0, 0, 1]", ["s", "xh", "yh"]),
    "cylindrical": ("type: cylindrical, axis: [0, 0, 1]", ["xh", "yh", "xd", "yd"]),
    "prismatic": ("type: prismatic, axis: [0, 0, 1]", ["xh", "yh", "xy", "xd", "yd"]),
    "planar": ("type: planar, axis: [0, 0, 1], x_axis: [1, 0, 0]", ["xh", "yh", "hd"]),
    "cardan": ("type: cardan, axes: [[1, 0, 0], [0, 1, 0]]", ["s", "xy"]),
    "fixed": ("type: fixed", ["s", "xy", "yh", "hx"]),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_are_made_of_basic_constraints(kind):
    """Spherical, dot-1 of the axes of both bodies and dot-2.

    The frame of a joint may be turned about its own axis: rows are compared up to an orthogonal matrix X, the same for all.
    """
    text, parts = JOINTS[kind]
    case = Case(f"joints: {{x: {{between: [a.s, b.q], {text}}}}}")
    axes = {"x": 0, "y": 1, "h": 2}
    d = Difference(case.point("a.s"), case.point("b.q"))
    expected = []
    for part in parts:
        if part == "s":
            expected += [{"Phi": -d.x[c], "Phi_q": -d.x_q(case.n)[c], "gamma": d.xdd[c], "gamma_q": np.zeros(case.n),
                          "gamma_qd": 2.0 * d.xd_q(case.n)[c], "H": -d.curvature(case.n, I3[c])} for c in range(3)]  # fmt: skip
        else:
            first = case.vector("a", I3[axes[part[0]]])
            other = d if part[1] == "d" else case.vector("b", I3[axes[part[1]]])
            expected.append(dot_of(case.n, first, other))
    keys = ("Phi", "gamma", "Phi_q", "gamma_q", "gamma_qd")
    found = np.column_stack([getattr(case.at, key).values for key in keys])
    wanted = np.array([np.concatenate([np.atleast_1d(e[key]) for key in keys]) for e in expected])
    assert found.shape == wanted.shape
    X, *_ = np.linalg.lstsq(wanted.T, found.T, rcond=None)
    assert np.abs(wanted.T @ X - found.T).max() < 1e-12 * np.abs(found).max()
    assert np.abs(X @ X.T - np.eye(len(X))).max() < 1e-12  # a turn of the frame, or an exchange of rows
    case.compare(PhiqTlam_q=sum(weight * e["H"] for weight, e in zip(X @ LAM[: len(X)], expected, strict=True)))
