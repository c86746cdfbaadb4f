import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinegrad.kernels import vec3
from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    inc,
    inc6,
    inc_at,
    mat,
    mm,
    mmt,
    mul,
    mv,
    neg,
    norm2,
    put,
    put6,
    put_at,
    put_mat,
    rot,
    scross,
    six,
    sub,
    transpose,
    vec,
    vec_at,
    vm,
)  # fmt: skip


@entry
def everything(x, out):
    """One row of `out` for each function; x holds vectors a, b, c, d, then matrices A, B, then s."""
    a, b, c, d = vec(x), vec_at(x, 3), vec_at(x, 6), vec_at(x, 9)
    A, B, s = mat(x[12:21]), mat(x[21:30]), x[30]
    put(out[0], add(a, b))
    put(out[1], sub(a, b))
    put(out[2], neg(a))
    put(out[3], mul(s, a))
    put(out[4], axpy(s, a, b))
    put(out[5], cross(a, b))
    put(out[6], mv(A, b))
    put(out[7], vm(a, B))
    out[8, 0] = dot(a, b)
    out[8, 1] = norm2(a)
    put_mat(out[9], mm(A, B))
    put_mat(out[10], mmt(A, B))
    put_mat(out[11], transpose(A))
    m, w = scross(a, b, c, d)
    put6(out[12], m, w)
    f, t = fcross(a, b, c, d)
    put6(out[13], f, t)
    u, v = six(x)
    inc6(out[13], u, v)
    put_at(out[14], 3, a)
    inc_at(out[14], 3, b)
    inc(out[14], c)


@entry
def rotation(e, s, c, out):
    put_mat(out, rot(vec(e), s, c))


def expected(x):
    a, b, c, d = x[:12].reshape(4, 3)
    A, B, s = x[12:21].reshape(3, 3), x[21:30].reshape(3, 3), x[30]
    rows = [a + b, a - b, -a, s * a, s * a + b, np.cross(a, b), A @ b, B.T @ a, [a @ b, a @ a]]
    rows += [(A @ B).ravel(), (A @ B.T).ravel(), A.T.ravel()]
    rows += [[*(np.cross(b, c) + np.cross(a, d)), *np.cross(b, d)]]
    rows += [[*(np.cross(b, c) + a), *(np.cross(a, c) + np.cross(b, d) + b)], [*c, *(a + b)]]
    out = np.zeros((15, 9), x.dtype)
    for k, row in enumerate(rows):
        out[k, : len(row)] = row
    return out


@pytest.mark.parametrize("number", ["f8"] if JIT else ["f8", "c16"])
def test_each_function_equals_numpy(number):
    rng = np.random.default_rng(1)
    x = rng.normal(size=31).astype(number)
    if number == "c16":
        x += 1j * rng.normal(size=31)
    out = np.zeros((15, 9), number)
    everything(x, out)
    assert_allclose(out, expected(x), rtol=0, atol=4e-15)


def test_rotation_is_the_exponential_of_the_axis():
    from scipy.linalg import expm

    rng = np.random.default_rng(2)
    for angle in rng.uniform(-4, 4, size=5):
        e = rng.normal(size=3)
        e /= np.linalg.norm(e)
        out = np.zeros(9)
        rotation(e, np.sin(angle), np.cos(angle), out)
        skew = np.cross(np.eye(3), e)
        assert_allclose(out.reshape(3, 3), expm(angle * skew), atol=2e-14)
        assert_allclose(out.reshape(3, 3) @ out.reshape(3, 3).T, np.eye(3), atol=1e-15)


def test_power_of_crossed_vectors_is_opposite():
    """(m1 × m2)·f = −m2·(m1 × f): the force product is minus the transpose of the motion product."""
    rng = np.random.default_rng(3)
    m1, m2, f = rng.normal(size=(3, 6))
    x = np.zeros(31)
    out = np.zeros((15, 9))
    x[:12] = [*m1, *m2]
    everything(x, out)
    motion = out[12, :6].copy()
    x[6:12] = f
    out[:] = 0.0
    everything(x, out)
    force = out[13, :6] - x[:6]
    assert_allclose(motion @ f, -m2 @ force, rtol=1e-14)


def test_every_kernel_says_what_it_does():
    names = [n for n, f in vars(vec3).items() if getattr(f, "__module__", "") == vec3.__name__]
    assert len(names) == 27
    assert all(getattr(vec3, n).__doc__ for n in names)
