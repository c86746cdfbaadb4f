"""Euler-parameter algebra: identities at any p, derivatives by complex step, conversions at every angle."""

from types import FunctionType

import numpy as np
import pytest
from helpers import assert_close, complex_step
from scipy.spatial.transform import Rotation

from kinegrad import rotations
from kinegrad.errors import KinegradError
from kinegrad.kernels import rotations as kernels
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.rotations import (
    A_orthogonal_of,
    B_orthogonal_of,
    C_of,
    K_orthogonal_of,
    R_of,
    T_last_of,
    axis_angle_from_A,
    omega_from_pd,
    omegad_b_from_pdd,
    p_from_A,
    p_from_rotation_vector,
    p_v_of,
    pdd_from_omegad,
    pdd_from_omegad_b,
    rotation_vector_from_p,
)

I3, I4 = np.eye(3), np.eye(4)


def nested(x):
    """Rows of an array as the tuples that kernels take."""
    return tuple(nested(part) for part in x) if np.ndim(x) else x


class Plain:
    """The kernels as plain functions of arrays, real or complex, with no checks."""

    def __getattr__(self, name):
        function = rotations.uncompiled(getattr(kernels, name))
        return lambda *args: np.array(function(*map(nested, args)))


k = Plain()


def complex_numbers(monkeypatch, function):
    """Let sin, cos and sqrt inside a plain function take complex numbers."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if name in ("sin", "cos", "sqrt"):
            monkeypatch.setitem(function.__globals__, name, getattr(np, name))
        elif isinstance(value, FunctionType) and value is not function:
            complex_numbers(monkeypatch, value)


def rate(f):
    """df/dt at t = 0."""
    return f(1e-30j).imag / 1e-30


def close(x, y, tolerance=2e-14):
    """By rounding only, on the scale of y or 1."""
    assert_close(x, y, tolerance, scale=max(1.0, np.abs(y).max()))


@pytest.fixture(params=range(4))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def p(rng):
    """Not normalised."""
    p = 1.7 * rng.normal(size=4)
    assert abs(p @ p - 1.0) > 1e-2
    return p


@pytest.fixture
def s(rng):
    return rng.normal(size=4)


@pytest.fixture
def a(rng):
    return rng.normal(size=3)


@pytest.fixture
def b(rng):
    return rng.normal(size=3)


# --- identities --------------------------------------------------------------------------------------------------


def test_skew(a, b):
    A, B = k.skew(a), k.skew(b)
    close(A @ b, np.cross(a, b))
    close(A.T, -A)
    close(A @ a, 0 * a)
    close(A @ b, -B @ a)
    close(A @ B, np.outer(b, a) - (a @ b) * I3)
    close(k.skew(np.cross(a, b)), A @ B - B @ A)
    close(k.skew(np.cross(a, b)), np.outer(b, a) - np.outer(a, b))


def test_E_and_G_by_blocks(p):
    close(k.E_of(p), np.column_stack([-p[1:], p[0] * I3 + k.skew(p[1:])]))
    close(k.G_of(p), np.column_stack([-p[1:], p[0] * I3 - k.skew(p[1:])]))
    close(k.T_of(p), 2 * k.G_of(p))


def test_A_is_E_times_G_transposed(p):
    A, n, e = k.A_of(p), p @ p, p[1:]
    close(A, k.E_of(p) @ k.G_of(p).T)
    close(A, (p[0] ** 2 - e @ e) * I3 + 2 * np.outer(e, e) + 2 * p[0] * k.skew(e))
    close(A @ A.T, n**2 * I3)
    close(A.T @ A, n**2 * I3)
    close(k.A_orthogonal_of(p), A / n)
    close(k.A_of(-p), A)
    close(k.A_orthogonal_of(-3.0 * p), A / n)


def test_textbook_form_of_A_holds_on_the_unit_sphere_only(p):
    def textbook(p):
        return (2 * p[0] ** 2 - 1) * I3 + 2 * (np.outer(p[1:], p[1:]) + p[0] * k.skew(p[1:]))

    unit = k.normalise(p)
    close(textbook(unit), k.A_of(unit))
    assert np.abs(textbook(p) - k.A_of(p)).max() > 1e-2


def test_A_orthogonal_is_a_rotation(p, a, b):
    A, u = k.A_orthogonal_of(p), p[1:] / np.linalg.norm(p[1:])
    close(A @ A.T, I3)
    close(np.linalg.det(A), 1.0)
    close((A @ a) @ (A @ b), a @ b)
    close(np.cross(A @ a, A @ b), A @ np.cross(a, b))
    close(A @ u, u)
    close(np.linalg.det(A - I3), 0.0)
    close((A - I3) @ A.T, -(A - I3).T)
    close(A, Rotation.from_quat(k.scalar_last_from_first(p)).as_matrix())


def test_products_of_E_and_G(p, s):
    n, E, G = p @ p, k.E_of(p), k.G_of(p)
    for M in (E, G):
        close(M @ p, np.zeros(3))
        close(M @ M.T, n * I3)
        close(M.T @ M, n * I4 - np.outer(p, p))
    close(E @ s, -k.E_of(s) @ p)
    close(G @ s, -k.G_of(s) @ p)
    close(E @ k.G_of(s).T, k.E_of(s) @ G.T)
    close(G @ k.E_of(s).T, k.G_of(s) @ E.T)


def test_R_and_S(p, a):
    close(k.R_of(a) @ p, k.E_of(p).T @ a)
    close(k.S_of(a) @ p, k.G_of(p).T @ a)
    close(k.R_of(a) @ k.R_of(a), -(a @ a) * I4)
    close(k.S_of(a) @ k.S_of(a), -(a @ a) * I4)


def test_products_without_the_matrix(p, s, a):
    close(k.E_times(p, s), k.E_of(p) @ s)
    close(k.G_times(p, s), k.G_of(p) @ s)
    close(k.ET_times(p, a), k.E_of(p).T @ a)
    close(k.GT_times(p, a), k.G_of(p).T @ a)
    close(k.B_times(p, a, s), k.B_of(p, a) @ s)


def test_B_and_C_as_printed(p, a):
    e0, e, A = p[0], k.skew(p[1:]), k.skew(a)
    B = 2 * np.column_stack([(e0 * I3 + e) @ a, np.outer(p[1:], a) - (e0 * I3 + e) @ A])
    C = 2 * np.column_stack([(e0 * I3 - e) @ a, np.outer(p[1:], a) + (e0 * I3 - e) @ A])
    close(k.B_of(p, a), B)
    close(k.C_of(p, a), C)


def test_exchange_in_B_and_C(p, s, a):
    close(k.B_of(p, a) @ s, k.B_of(s, a) @ p)
    close(k.C_of(p, a) @ s, k.C_of(s, a) @ p)
    close(k.B_of(p, a) @ p, 2 * k.A_of(p) @ a)
    close(k.B_orthogonal_of(p, a) @ p, np.zeros(3))


def test_K_and_L(p, a, b):
    K, L = k.K_of(a, b), k.L_of(a, b)
    for M, d in ((K, np.cross(a, b)), (L, -np.cross(a, b))):
        close(M[0], 2 * np.concatenate([[a @ b], d]))
        close(M[1:, 1:], 2 * (np.outer(a, b) + np.outer(b, a) - (a @ b) * I3))
        assert (M.T == M).all()
    close(k.B_of(p, a).T @ b, K @ p)
    close(k.C_of(p, a).T @ b, L @ p)
    close(b @ k.A_of(p) @ a, 0.5 * p @ K @ p)


def test_turns_instead_of_Euler_parameters(p, a):
    A = k.A_of(p)
    close(0.5 * k.B_of(p, a) @ k.G_of(p).T, -A @ k.skew(a))
    close(0.5 * k.B_of(p, a) @ k.E_of(p).T, -k.skew(A @ a))
    unit = k.normalise(p)
    along_p = np.outer(k.B_of(unit, a) @ unit, unit)
    close(k.B_of(unit, a), -2 * k.A_of(unit) @ k.skew(a) @ k.G_of(unit) + along_p)
    close(k.B_orthogonal_of(unit, a), -2 * k.A_of(unit) @ k.skew(a) @ k.G_of(unit))


# --- derivatives -------------------------------------------------------------------------------------------------


def test_derivatives_of_A(p, a, s):
    assert_close(k.B_of(p, a), complex_step(lambda p: k.A_of(p) @ a, p))
    assert_close(k.C_of(p, a), complex_step(lambda p: k.A_of(p).T @ a, p))
    assert_close(k.B_of(s, a), complex_step(lambda p: k.B_of(p, a) @ s, p))
    assert_close(k.C_of(s, a), complex_step(lambda p: k.C_of(p, a) @ s, p))


def test_curvature_of_A(p, a, b):
    assert_close(k.K_of(a, b), complex_step(lambda p: k.B_of(p, a).T @ b, p))
    assert_close(k.L_of(a, b), complex_step(lambda p: k.C_of(p, a).T @ b, p))


def test_derivatives_of_E_and_G(p, s, a):
    assert_close(-k.E_of(s), complex_step(lambda p: k.E_of(p) @ s, p))
    assert_close(-k.G_of(s), complex_step(lambda p: k.G_of(p) @ s, p))
    assert_close(k.R_of(a), complex_step(lambda p: k.E_of(p).T @ a, p))
    assert_close(k.S_of(a), complex_step(lambda p: k.G_of(p).T @ a, p))


def test_derivatives_of_A_orthogonal(p, a, b):
    assert_close(k.B_orthogonal_of(p, a), complex_step(lambda p: k.A_orthogonal_of(p) @ a, p))
    assert_close(k.K_orthogonal_of(p, a, b), complex_step(lambda p: k.B_orthogonal_of(p, a).T @ b, p))


def test_derivatives_of_rates(p, s, a, b):
    assert_close(0.5 * k.R_of(a), complex_step(lambda p: k.pd_from_omega(p, a), p))
    assert_close(0.5 * k.S_of(a), complex_step(lambda p: k.pd_from_omega_b(p, a), p))
    assert_close(2 * k.E_of(p) / (p @ p), complex_step(lambda pd: k.omega_from_pd(p, pd), s))
    assert_close(2 * k.G_of(p) / (p @ p), complex_step(lambda pd: k.omega_b_from_pd(p, pd), s))
    for pdd, M in ((k.pdd_from_omegad, k.R_of), (k.pdd_from_omegad_b, k.S_of)):
        assert_close(0.5 * M(b) - 0.25 * (a @ a) * I4, complex_step(lambda p, f=pdd: f(p, a, b), p))
        assert_close(-0.5 * np.outer(p, a), complex_step(lambda w, f=pdd: f(p, w, b), a))


@pytest.mark.parametrize("length", [0.0, 1e-9, 1e-3, 0.999999, 1.000001, 3.0, 2 * np.pi, 9.0])
def test_derivative_of_p_by_rotation_vector(length, rng, monkeypatch):
    function = rotations.uncompiled(kernels.p_from_rotation_vector)
    complex_numbers(monkeypatch, function)
    v = rng.normal(size=3)
    v *= length / np.linalg.norm(v)
    assert_close(k.p_v_of(v), complex_step(lambda v: np.array(function(nested(v))), v))


# --- rates -------------------------------------------------------------------------------------------------------


def test_rate_of_A(p, s):
    Ad = rate(lambda t: k.A_of(p + t * s))
    assert_close(Ad, 2 * k.E_of(p) @ k.G_of(s).T)
    assert_close(Ad, 2 * k.E_of(s) @ k.G_of(p).T)


def test_omega_is_the_rate_of_A_orthogonal(p, s, a):
    A = k.A_orthogonal_of(p)
    Ad = rate(lambda t: k.A_orthogonal_of(p + t * s))
    assert_close(A.T @ Ad, k.skew(k.omega_b_from_pd(p, s)))
    assert_close(Ad @ A.T, k.skew(k.omega_from_pd(p, s)))
    close(A @ k.omega_b_from_pd(p, s), k.omega_from_pd(p, s))
    close(k.B_orthogonal_of(p, a) @ s, np.cross(k.omega_from_pd(p, s), A @ a))


def test_rates_on_the_unit_sphere(p, s):
    p = k.normalise(p)
    pd = s - (s @ p) * p
    omega, omega_b = 2 * k.E_of(p) @ pd, 2 * k.G_of(p) @ pd
    close(k.omega_from_pd(p, pd), omega)
    close(k.omega_b_from_pd(p, pd), omega_b)
    close(k.skew(k.G_of(p) @ pd), k.G_of(p) @ k.G_of(pd).T)
    close(k.skew(k.E_of(p) @ pd), -k.E_of(p) @ k.E_of(pd).T)
    close(k.G_of(pd) @ k.G_of(p).T, -k.G_of(p) @ k.G_of(pd).T)
    close(k.pd_from_omega(p, omega), pd)
    close(k.pd_from_omega_b(p, omega_b), pd)


def test_pd_and_back(p, a):
    for pd_from, omega_from in ((k.pd_from_omega, k.omega_from_pd), (k.pd_from_omega_b, k.omega_b_from_pd)):
        pd = pd_from(p, a)
        close(p @ pd, 0.0)
        close(omega_from(p, pd), a)


def test_pdd_is_the_rate_of_pd(p, a, b):
    """Along a motion with angular velocity a and angular acceleration b."""
    for pd_from, pdd_from in ((k.pd_from_omega, k.pdd_from_omegad), (k.pd_from_omega_b, k.pdd_from_omegad_b)):
        pd = pd_from(p, a)
        pdd = pdd_from(p, a, b)
        assert_close(pdd, rate(lambda t, f=pd_from, pd=pd: f(p + t * pd, a + t * b)))
        close(p @ pdd, -pd @ pd)


def test_omegad_is_the_rate_of_omega(p, s, rng):
    pdd = rng.normal(size=4)
    for omega_from, omegad_from in ((k.omega_from_pd, k.omegad_from_pdd), (k.omega_b_from_pd, k.omegad_b_from_pdd)):
        assert_close(omegad_from(p, s, pdd), rate(lambda t, f=omega_from: f(p + t * s, s + t * pdd)))
    close(k.A_orthogonal_of(p) @ k.omegad_b_from_pdd(p, s, pdd), k.omegad_from_pdd(p, s, pdd))


def test_pdd_and_back(p, a, b):
    close(k.omegad_from_pdd(p, k.pd_from_omega(p, a), k.pdd_from_omegad(p, a, b)), b)
    close(k.omegad_b_from_pdd(p, k.pd_from_omega_b(p, a), k.pdd_from_omegad_b(p, a, b)), b)


def test_T_in_both_orders(p, s):
    q, qd = k.scalar_last_from_first(p), k.scalar_last_from_first(s)
    close(k.T_last_of(q), 2 * np.column_stack([q[3] * I3 - k.skew(q[:3]), -q[:3]]))
    close(k.T_last_of(q) @ qd, k.T_of(p) @ s)
    close(k.T_of(s) @ s, np.zeros(3))
    unit = k.normalise(p)
    close(k.T_of(unit) @ s, k.omega_b_from_pd(unit, s))


def test_scalar_first_and_last(p):
    assert (k.scalar_last_from_first(p) == p[[1, 2, 3, 0]]).all()
    assert (k.scalar_first_from_last(k.scalar_last_from_first(p)) == p).all()


# --- conversions -------------------------------------------------------------------------------------------------

TINY = [0.0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-4]


def same_orientation(p, expected, tolerance=1e-15):
    sign = 1.0 if p @ expected > 0.0 else -1.0
    close(sign * p, expected, tolerance)


@pytest.mark.parametrize("largest", range(4))
@pytest.mark.parametrize("tiny", TINY)
def test_p_from_A_in_each_branch(largest, tiny, rng):
    for others in (tiny * np.ones(4), tiny * rng.normal(size=4), np.array([0.5, -0.4, 0.3, -0.45]) + tiny):
        p = others.copy()
        p[largest] = 1.0
        p = p / np.linalg.norm(p)
        found = k.p_from_A(k.A_of(p))
        close(found, p, 4e-16)
        close(k.p_from_A(k.A_of(-p)), p, 4e-16)
        close(found @ found, 1.0, 1e-15)


def test_p_from_A_of_random_rotations():
    branches = set()
    for R in Rotation.from_quat(np.random.default_rng(1).normal(size=(300, 4))):
        p = k.p_from_A(R.as_matrix())
        branches.add(int(np.argmax(np.abs(p))))
        assert p[np.argmax(np.abs(p))] > 0.0
        same_orientation(p, k.scalar_first_from_last(R.as_quat()))
    assert branches == {0, 1, 2, 3}


@pytest.mark.parametrize("A", [np.diag(d) for d in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])])
def test_p_from_A_of_half_turns_about_the_axes(A):
    p = k.p_from_A(A.astype(float))
    assert sorted(p) == [0.0, 0.0, 0.0, 1.0]
    assert (k.A_of(p) == A).all()


def test_p_from_A_when_all_parameters_are_equal():
    for signs in np.array(np.meshgrid([1], [1, -1], [1, -1], [1, -1])).T.reshape(-1, 4):
        same_orientation(k.p_from_A(k.A_of(0.5 * signs)), 0.5 * signs)


ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 0.3, 0.5 * np.pi, 2.0, np.pi - 1e-4, np.pi - 1e-9, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_axis_and_angle(angle, rng):
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    A, p = k.A_from_axis_angle(u, angle), k.p_from_axis_angle(u, angle)
    close(A, Rotation.from_rotvec(angle * u).as_matrix(), 1e-15)
    close(A, np.cos(angle) * I3 + (1 - np.cos(angle)) * np.outer(u, u) + np.sin(angle) * k.skew(u), 1e-15)
    close(k.A_of(p), A, 1e-15)
    same_orientation(k.p_from_A(A), p)
    for found_u, found_angle in (rotations.axis_angle_from_p(-1.3 * p), rotations.axis_angle_from_A(A)):
        close(found_angle, angle, 1e-15)
        close(np.linalg.norm(found_u), 1.0, 1e-15)
        close(found_angle * found_u * np.sign(found_u @ u if angle == np.pi else 1.0), angle * u, 2e-15)
    found_u, _ = rotations.axis_angle_from_p(2.0 * p)
    close(found_u, u if angle > 1e-150 else [0.0, 0.0, 1.0], 1e-15)


@pytest.mark.parametrize("angle", [-4.0, -np.pi - 0.1, -0.2, np.pi + 0.1, 5.0, 7.0])
def test_angles_come_back_between_zero_and_pi(angle):
    u = np.array([2.0, -1.0, 2.0]) / 3.0
    found_u, found = rotations.axis_angle_from_p(k.p_from_axis_angle(u, angle))
    assert 0.0 <= found <= np.pi
    close(k.A_from_axis_angle(found_u, found), k.A_from_axis_angle(u, angle), 2e-15)


@pytest.mark.parametrize("angle", [*ANGLES, 1.0 - 1e-12, 1.0])
def test_rotation_vectors(angle, rng):
    v = rng.normal(size=3)
    v *= angle / np.linalg.norm(v)
    p = k.p_from_rotation_vector(v)
    same_orientation(p, k.scalar_first_from_last(Rotation.from_rotvec(v).as_quat()))
    close(p @ p, 1.0, 1e-15)
    for scale in (1.0, -2.5):
        found = k.rotation_vector_from_p(scale * p)
        np.testing.assert_allclose(found * (np.sign(found @ v) if angle == np.pi else 1.0), v, rtol=2e-15, atol=1e-320)


# --- compiled ----------------------------------------------------------------------------------------------------


@kernel
def store(out, at, M):
    """Rows of M into out; the next free place."""
    for row in range(len(M)):
        for column in range(len(M[row])):
            out[at] = M[row][column]
            at += 1
    return at


@entry(what="the rotation kernels of the tests")
def all_matrices(p, s, a, b, out):
    p, s, a, b = (p[0], p[1], p[2], p[3]), (s[0], s[1], s[2], s[3]), (a[0], a[1], a[2]), (b[0], b[1], b[2])
    at = store(out, 0, A_orthogonal_of(p))
    at = store(out, at, C_of(p, a))
    at = store(out, at, B_orthogonal_of(p, a))
    at = store(out, at, K_orthogonal_of(p, a, b))
    at = store(out, at, T_last_of(p))
    at = store(out, at, R_of(a))
    at = store(out, at, (omega_from_pd(p, s), omegad_b_from_pdd(p, s, s)))
    at = store(out, at, (pdd_from_omegad(p, a, b), pdd_from_omegad_b(p, a, b)))
    at = store(out, at, (p_from_rotation_vector(a), p_from_A(A_orthogonal_of(s))))
    at = store(out, at, p_v_of(a))
    axis, angle = axis_angle_from_A(A_orthogonal_of(p))
    return store(out, at, (axis, rotation_vector_from_p(s), (angle, angle, angle)))


def test_compiled_equals_uncompiled(p, s, a, b):
    out, expected = np.full(200, np.nan), np.full(200, np.nan)
    n = all_matrices(p, s, a, b, out)
    assert rotations.uncompiled(all_matrices)(p, s, a, b, expected) == n
    close(out[:n], expected[:n], 4e-15)


# --- arrays ------------------------------------------------------------------------------------------------------


def test_array_functions_agree_with_kernels(p, a, b):
    assert (rotations.K_orthogonal_of(list(p), a, b) == k.K_orthogonal_of(p, a, b)).all()
    assert (rotations.B_of(a=a, p=p) == k.B_of(p, a)).all()
    assert rotations.skew([1, 2, 3]).dtype == float
    close(rotations.A_from_axis_angle(5.0 * a, 0.7), k.A_from_axis_angle(a / np.linalg.norm(a), 0.7))
    assert rotations.p_from_axis_angle.__doc__ == rotations.uncompiled(kernels.p_from_axis_angle).__doc__


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rotations.A_of([1, 0, 0]), ("A_of", "p", "(3,)", "4 numbers")),
        (lambda: rotations.B_of([1, 0, 0, 0], [[1, 2, 3]]), ("B_of", "a", "(1, 3)", "3 numbers")),
        (lambda: rotations.p_from_A(np.eye(4)), ("p_from_A", "A", "(4, 4)", "(3, 3)")),
        (lambda: rotations.skew("abc"), ("skew", "'abc'", "3 numbers")),
        (lambda: rotations.skew([1j, 0, 0]), ("skew", "3 numbers")),
        (lambda: rotations.E_of([1, 0, np.nan, 0]), ("E_of", "nan", "finite")),
        (lambda: rotations.A_orthogonal_of(np.zeros(4)), ("A_orthogonal_of", "p is zero")),
        (lambda: rotations.p_from_A(1.01 * np.eye(3)), ("p_from_A", "0.02", "orthogonal")),
        (lambda: rotations.p_from_A(-np.eye(3)), ("p_from_A", "left-handed", "sign")),
        (lambda: rotations.p_from_axis_angle([0, 0, 0], 1.0), ("p_from_axis_angle", "axis", "zero")),
        (lambda: rotations.p_from_axis_angle([0, 0, 1], [1.0]), ("angle", "one number")),
    ],
)
def test_wrong_arguments_are_told(call, words):
    with pytest.raises(KinegradError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
