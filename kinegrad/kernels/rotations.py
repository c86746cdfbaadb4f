"""Euler parameters: orientation matrices, their derivatives, rates, and the ways from one description to another.

Euler parameters are a tuple p = (e0, e1, e2, e3), scalar first.  A maps body to global components; a name that ends
in ``_b`` holds body components.  ``X_of`` makes the matrix X of the theory as a tuple of rows, ``X_times`` its
product with a vector, and ``X_from_Y`` converts.  Equations ROT-n are in ``docs/theory/rotations.md``.  Each
docstring says for which p it holds: *any*, *not zero*, or *unit* (p·p = 1).
"""

from kinegrad.kernels.jit import atan2, cos, kernel, real, sin, sqrt
from kinegrad.kernels.vec3 import add, axpy, cross, dot, mul, mv, sub


@kernel
def dot4(p, s):
    """p·s of two 4-vectors (no conjugate)."""
    return p[0] * s[0] + p[1] * s[1] + p[2] * s[2] + p[3] * s[3]


@kernel
def mul4(f, p):
    """f p of a 4-vector."""
    return (f * p[0], f * p[1], f * p[2], f * p[3])


@kernel
def axpy4(f, p, s):
    """f p + s of two 4-vectors."""
    return (f * p[0] + s[0], f * p[1] + s[1], f * p[2] + s[2], f * p[3] + s[3])


@kernel
def normalise(p):
    """p / √(p·p), the unit Euler parameters of the same orientation.  p: not zero."""
    return mul4(1.0 / sqrt(dot4(p, p)), p)


@kernel
def scalar_last_from_first(p):
    """(e1, e2, e3, e0) from (e0, e1, e2, e3)  (ROT-31).  p: any."""
    return (p[1], p[2], p[3], p[0])


@kernel
def scalar_first_from_last(q):
    """(e0, e1, e2, e3) from (e1, e2, e3, e0)  (ROT-31).  q: any."""
    return (q[3], q[0], q[1], q[2])


# --- matrices linear in p, or in a vector ------------------------------------------------------------------------


@kernel
def skew(a):
    """ã (3, 3), with ã b = a × b  (ROT-1)."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


@kernel
def E_of(p):
    """E (3, 4) = [−e, e0 I + ẽ]  (ROT-5).  p: any."""
    e0, e1, e2, e3 = p
    return ((-e1, e0, -e3, e2), (-e2, e3, e0, -e1), (-e3, -e2, e1, e0))


@kernel
def G_of(p):
    """G (3, 4) = [−e, e0 I − ẽ]  (ROT-5).  p: any."""
    e0, e1, e2, e3 = p
    return ((-e1, e0, e3, -e2), (-e2, -e3, e0, e1), (-e3, e2, -e1, e0))


@kernel
def T_of(p):
    """T (3, 4) = 2 G, with omega_b = T pd  (ROT-24).  p: any; the rate needs a unit p."""
    e0, e1, e2, e3 = (2.0 * p[0], 2.0 * p[1], 2.0 * p[2], 2.0 * p[3])
    return ((-e1, e0, e3, -e2), (-e2, -e3, e0, e1), (-e3, e2, -e1, e0))


@kernel
def T_last_of(q):
    """T (3, 4) of the scalar-last q = (e1, e2, e3, e0), with omega_b = T qd  (ROT-24).  q: any; the rate: unit."""
    e1, e2, e3, e0 = (2.0 * q[0], 2.0 * q[1], 2.0 * q[2], 2.0 * q[3])
    return ((e0, e3, -e2, -e1), (-e3, e0, e1, -e2), (e2, -e1, e0, -e3))


@kernel
def R_of(a):
    """R (4, 4), with R(a) p = E(p)ᵀ a  (ROT-10)."""
    a1, a2, a3 = a
    return ((0.0, -a1, -a2, -a3), (a1, 0.0, -a3, a2), (a2, a3, 0.0, -a1), (a3, -a2, a1, 0.0))


@kernel
def S_of(a):
    """S (4, 4), with S(a) p = G(p)ᵀ a  (ROT-10)."""
    a1, a2, a3 = a
    return ((0.0, -a1, -a2, -a3), (a1, 0.0, a3, -a2), (a2, -a3, 0.0, a1), (a3, a2, -a1, 0.0))


@kernel
def E_times(p, s):
    """E(p) s (3) for a 4-vector s  (ROT-5).  p: any."""
    e, v = (p[1], p[2], p[3]), (s[1], s[2], s[3])
    return add(sub(mul(p[0], v), mul(s[0], e)), cross(e, v))


@kernel
def G_times(p, s):
    """G(p) s (3) for a 4-vector s  (ROT-5).  p: any."""
    e, v = (p[1], p[2], p[3]), (s[1], s[2], s[3])
    return sub(sub(mul(p[0], v), mul(s[0], e)), cross(e, v))


@kernel
def ET_times(p, a):
    """E(p)ᵀ a (4)  (ROT-10).  p: any."""
    e = (p[1], p[2], p[3])
    v = axpy(p[0], a, cross(a, e))
    return (-dot(e, a), v[0], v[1], v[2])


@kernel
def GT_times(p, a):
    """G(p)ᵀ a (4)  (ROT-10).  p: any."""
    e = (p[1], p[2], p[3])
    v = axpy(p[0], a, cross(e, a))
    return (-dot(e, a), v[0], v[1], v[2])


# --- orientation matrices and their derivatives by p -------------------------------------------------------------


@kernel
def A_of(p):
    """A (3, 3) = E Gᵀ, which is p·p times a rotation matrix  (ROT-6).  p: any."""
    e0, e1, e2, e3 = p
    d0, d1, d2, d3 = e0 * e0, e1 * e1, e2 * e2, e3 * e3
    return (
        (d0 + d1 - d2 - d3, 2.0 * (e1 * e2 - e0 * e3), 2.0 * (e1 * e3 + e0 * e2)),
        (2.0 * (e1 * e2 + e0 * e3), d0 - d1 + d2 - d3, 2.0 * (e2 * e3 - e0 * e1)),
        (2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), d0 - d1 - d2 + d3),
    )


@kernel
def A_orthogonal_of(p):
    """A (3, 3) = E Gᵀ / (p·p), a rotation matrix  (ROT-7).  p: not zero."""
    A = A_of(p)
    f = 1.0 / dot4(p, p)
    return (mul(f, A[0]), mul(f, A[1]), mul(f, A[2]))


@kernel
def B_of(p, a):
    """B (3, 4), the derivative of A_of(p) a by p  (ROT-11).  p: any."""
    e = (p[1], p[2], p[3])
    x, y, z = mul(2.0, axpy(p[0], a, cross(e, a)))
    d = 2.0 * dot(e, a)
    return ((x, d, z, -y), (y, -z, d, x), (z, y, -x, d))


@kernel
def B_times(p, a, s):
    """B(p, a) s (3); with s = pd the rate of A_of(p) a  (ROT-11).  p: any."""
    e, v = (p[1], p[2], p[3]), (s[1], s[2], s[3])
    c = axpy(p[0], a, cross(e, a))
    return mul(2.0, axpy(dot(e, a), v, axpy(s[0], c, cross(v, c))))


@kernel
def C_of(p, a):
    """C (3, 4), the derivative of A_of(p)ᵀ a by p  (ROT-12).  p: any."""
    e = (p[1], p[2], p[3])
    x, y, z = mul(2.0, axpy(p[0], a, cross(a, e)))
    d = 2.0 * dot(e, a)
    return ((x, d, -z, y), (y, z, d, -x), (z, -y, x, d))


@kernel
def K_of(a, b):
    """K (4, 4), symmetric, the derivative of B(p, a)ᵀ b by p, the same for all p  (ROT-14)."""
    s = 2.0 * dot(a, b)
    x, y, z = mul(2.0, cross(a, b))
    m11, m22, m33 = 4.0 * a[0] * b[0] - s, 4.0 * a[1] * b[1] - s, 4.0 * a[2] * b[2] - s
    m12 = 2.0 * (a[0] * b[1] + a[1] * b[0])
    m13 = 2.0 * (a[0] * b[2] + a[2] * b[0])
    m23 = 2.0 * (a[1] * b[2] + a[2] * b[1])
    return ((s, x, y, z), (x, m11, m12, m13), (y, m12, m22, m23), (z, m13, m23, m33))


@kernel
def L_of(a, b):
    """L (4, 4), symmetric, the derivative of C(p, a)ᵀ b by p, the same for all p  (ROT-15)."""
    return K_of(b, a)


@kernel
def B_orthogonal_of(p, a):
    """B (3, 4), the derivative of A_orthogonal_of(p) a by p  (ROT-17).  p: not zero."""
    f = 1.0 / dot4(p, p)
    B = B_of(p, a)
    x, y, z = mul(-2.0 * f, mv(A_of(p), a))
    return (mul4(f, axpy4(x, p, B[0])), mul4(f, axpy4(y, p, B[1])), mul4(f, axpy4(z, p, B[2])))


@kernel
def K_orthogonal_of(p, a, b):
    """K (4, 4), symmetric, the derivative of B_orthogonal(p, a)ᵀ b by p  (ROT-18).  p: not zero."""
    f = 1.0 / dot4(p, p)
    K = K_of(a, b)
    Kp = (dot4(K[0], p), dot4(K[1], p), dot4(K[2], p), dot4(K[3], p))
    d = f * dot4(p, Kp)
    g = mul4(-2.0 * f, axpy4(-d, p, Kp))
    k0 = axpy4(p[0], g, axpy4(g[0], p, K[0]))
    k1 = axpy4(p[1], g, axpy4(g[1], p, K[1]))
    k2 = axpy4(p[2], g, axpy4(g[2], p, K[2]))
    k3 = axpy4(p[3], g, axpy4(g[3], p, K[3]))
    return (
        mul4(f, (k0[0] - d, k0[1], k0[2], k0[3])),
        mul4(f, (k1[0], k1[1] - d, k1[2], k1[3])),
        mul4(f, (k2[0], k2[1], k2[2] - d, k2[3])),
        mul4(f, (k3[0], k3[1], k3[2], k3[3] - d)),
    )


# --- rates -------------------------------------------------------------------------------------------------------


@kernel
def omega_from_pd(p, pd):
    """Angular velocity omega (3), global components, of the frame A_orthogonal_of(p)  (ROT-20).  p: not zero."""
    return mul(2.0 / dot4(p, p), E_times(p, pd))


@kernel
def omega_b_from_pd(p, pd):
    """Angular velocity omega_b (3), body components, of the frame A_orthogonal_of(p)  (ROT-20).  p: not zero."""
    return mul(2.0 / dot4(p, p), G_times(p, pd))


@kernel
def pd_from_omega(p, omega):
    """Rate pd (4), with p·pd = 0, of a frame that turns with omega, global components  (ROT-21).  p: any."""
    return mul4(0.5, ET_times(p, omega))


@kernel
def pd_from_omega_b(p, omega_b):
    """Rate pd (4), with p·pd = 0, of a frame that turns with omega_b, body components  (ROT-21).  p: any."""
    return mul4(0.5, GT_times(p, omega_b))


@kernel
def omegad_from_pdd(p, pd, pdd):
    """Angular acceleration omegad (3), global, of the frame A_orthogonal_of(p)  (ROT-23).  p: not zero."""
    f = 2.0 / dot4(p, p)
    return mul(f, axpy(-f * dot4(p, pd), E_times(p, pd), E_times(p, pdd)))


@kernel
def omegad_b_from_pdd(p, pd, pdd):
    """Angular acceleration omegad_b (3), body, of the frame A_orthogonal_of(p)  (ROT-23).  p: not zero."""
    f = 2.0 / dot4(p, p)
    return mul(f, axpy(-f * dot4(p, pd), G_times(p, pd), G_times(p, pdd)))


@kernel
def pdd_from_omegad(p, omega, omegad):
    """Acceleration pdd (4) that keeps p·p, from omega and omegad, global components  (ROT-22).  p: any."""
    return axpy4(-0.25 * dot(omega, omega), p, mul4(0.5, ET_times(p, omegad)))


@kernel
def pdd_from_omegad_b(p, omega_b, omegad_b):
    """Acceleration pdd (4) that keeps p·p, from omega_b and omegad_b, body components  (ROT-22).  p: any."""
    return axpy4(-0.25 * dot(omega_b, omega_b), p, mul4(0.5, GT_times(p, omegad_b)))


# --- axis and angle, rotation vectors, matrices ------------------------------------------------------------------

# Turns by less than about this are no turn where an axis is asked for: e·e would leave the range of floats.
_NO_TURN = 1e-150


@kernel
def p_from_axis_angle(u, angle):
    """Unit p (4) of the turn by an angle (rad) about the unit axis u  (ROT-3)."""
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), s * u[0], s * u[1], s * u[2])


@kernel
def A_from_axis_angle(u, angle):
    """Rotation matrix A (3, 3) of the turn by an angle (rad) about the unit axis u  (ROT-4)."""
    c, s, h = cos(angle), sin(angle), sin(0.5 * angle)
    x, y, z = u
    t = 2.0 * h * h
    return (
        (c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, c + t * y * y, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, c + t * z * z),
    )


@kernel
def p_from_A(A):
    """Unit p (4) of the rotation matrix A, its largest parameter positive  (ROT-26).

    The four branches are the rows of 4 p pᵀ; the one with the largest diagonal entry has length 2 at least.
    """
    a11, a22, a33 = A[0][0], A[1][1], A[2][2]
    s0, s1, s2, s3 = 1.0 + a11 + a22 + a33, 1.0 + a11 - a22 - a33, 1.0 - a11 + a22 - a33, 1.0 - a11 - a22 + a33
    d1, d2, d3 = A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]
    m12, m13, m23 = A[0][1] + A[1][0], A[0][2] + A[2][0], A[1][2] + A[2][1]
    r0, r1, r2, r3 = real(s0), real(s1), real(s2), real(s3)
    if r0 >= r1 and r0 >= r2 and r0 >= r3:
        return normalise((s0, d1, d2, d3))
    if r1 >= r2 and r1 >= r3:
        return normalise((d1, s1, m12, m13))
    if r2 >= r3:
        return normalise((d2, m12, s2, m23))
    return normalise((d3, m13, m23, s3))


@kernel
def axis_angle_from_p(p):
    """Unit axis u (3) and angle in [0, π] of p; the axis is (0, 0, 1) where the angle is 0  (ROT-27).  p: not zero."""
    p = mul4(-1.0, p) if real(p[0]) < 0.0 else p
    e = (p[1], p[2], p[3])
    ee = dot(e, e)
    if real(ee) <= _NO_TURN * _NO_TURN * real(p[0] * p[0]):
        return (0.0, 0.0, 1.0), 0.0
    length = sqrt(ee)
    return mul(1.0 / length, e), 2.0 * atan2(length, p[0])


@kernel
def axis_angle_from_A(A):
    """Unit axis u (3) and angle in [0, π] of the rotation matrix A; axis (0, 0, 1) where the angle is 0  (ROT-27)."""
    return axis_angle_from_p(p_from_A(A))


@kernel
def rotation_vector_from_p(p):
    """Rotation vector v (3), axis times angle, no longer than π  (ROT-30).  p: not zero."""
    p = mul4(-1.0, p) if real(p[0]) < 0.0 else p
    e = (p[1], p[2], p[3])
    ee = dot(e, e)
    if real(ee) <= _NO_TURN * _NO_TURN * real(p[0] * p[0]):
        return mul(2.0 / p[0], e)
    length = sqrt(ee)
    return mul(2.0 * atan2(length, p[0]) / length, e)


@kernel
def half_sine_ratio(x):
    """sin(√x/2)/√x, by its series for x < 1: smooth at 0."""
    if real(x) < 1.0:
        t = 1.0 - x / 288.0 * (1.0 - x / 440.0 * (1.0 - x / 624.0))
        return 0.5 * (1.0 - x / 24.0 * (1.0 - x / 80.0 * (1.0 - x / 168.0 * t)))
    r = sqrt(x)
    return sin(0.5 * r) / r


@kernel
def half_sine_ratio_slope(x):
    """Twice the derivative of half_sine_ratio by x, by its series for x < 1."""
    if real(x) < 1.0:
        t = 1.0 - x / 352.0 * (1.0 - x / 520.0 * (1.0 - x / 720.0))
        return -(1.0 - x / 40.0 * (1.0 - x / 112.0 * (1.0 - x / 216.0 * t))) / 24.0
    return (0.5 * cos(0.5 * sqrt(x)) - half_sine_ratio(x)) / x


@kernel
def p_from_rotation_vector(v):
    """Unit p (4) of the turn about v by its length (rad), v = 0 included  (ROT-28)."""
    x = dot(v, v)
    s = half_sine_ratio(x)
    return (cos(0.5 * sqrt(x)), s * v[0], s * v[1], s * v[2])


@kernel
def p_v_of(v):
    """p_v (4, 3), the derivative of p_from_rotation_vector(v) by v  (ROT-29)."""
    x = dot(v, v)
    s, k = half_sine_ratio(x), half_sine_ratio_slope(x)
    v1, v2, v3 = v
    return (
        (-0.5 * s * v1, -0.5 * s * v2, -0.5 * s * v3),
        (s + k * v1 * v1, k * v1 * v2, k * v1 * v3),
        (k * v1 * v2, s + k * v2 * v2, k * v2 * v3),
        (k * v1 * v3, k * v2 * v3, s + k * v3 * v3),
    )
