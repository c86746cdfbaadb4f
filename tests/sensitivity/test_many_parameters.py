"""Gradients by many parameters: splines by operators, products that are never written out, and memory."""

import tracemalloc

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.coordinates.cubics import CubicSpline
from kinegrad.expressions.maps import Assembly, Behind, Jacobian, Matrix
from kinegrad.expressions.syntax import Expression

SETTINGS = {"t_end": 0.2, "step": 0.002}
TIGHT = kg.ALI3P(tolerance=1e-16, max_iterations=100)


def arm(ordinates):
    """A bar on a hinge with a spline torque through so many ordinates."""
    times = np.linspace(0.0, SETTINGS["t_end"], ordinates)
    return kg.joint(
        kg.Model(
            title="An arm",
            parameters={"u": (0.5 * np.sin(20.0 * times)).tolist(), "m": 2.0},
            design=["u"],
            ground={"markers": {"O": (0, 0, 0)}},
            bodies={
                "arm": kg.Body(
                    mass="m", com=(0.5, 0, 0), inertia=(0, 0.1, 0.1), markers={"O": (0, 0, 0), "tip": (1, 0, 0)}
                )
            },
            joints={"hinge": kg.Revolute(between=("ground.O", "arm.O"), axis=(0, 0, 1))},
            forces={
                "gravity": kg.Gravity(acceleration=(0, -9.81, 0)),
                "motor": kg.Spline(acts_on="hinge.angle", times=times.tolist(), values="u"),
            },
            degrees_of_freedom={"hinge.angle": {"position": 0.3, "velocity": 0}},
            objectives={"travel": {"integral": "norm2(arm.tip.velocity)"}, "height": {"final": "arm.tip.y"}},
        ).check()
    )


def written_out(times):
    """The matrix of a natural cubic spline by a full solve (LAW-6)."""
    n, h = len(times), np.diff(times)
    A, B, one = np.eye(n), np.zeros((n, n)), np.eye(n)
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        B[i, i - 1 : i + 2] = 6.0 / h[i - 1], -6.0 / h[i - 1] - 6.0 / h[i], 6.0 / h[i]
    second = np.linalg.solve(A, B)
    C = np.zeros((4 * (n - 1), n))
    for i in range(n - 1):
        C[4 * i] = one[i]
        C[4 * i + 1] = (one[i + 1] - one[i]) / h[i] - h[i] * (2.0 * second[i] + second[i + 1]) / 6.0
        C[4 * i + 2] = 0.5 * second[i]
        C[4 * i + 3] = (second[i + 1] - second[i]) / (6.0 * h[i])
    return C


@pytest.mark.parametrize("n", [2, 3, 4, 5, 33, 128, 129, 130, 200, 600])
def test_a_spline_is_its_matrix(n, rng):
    times = np.cumsum(10.0 ** rng.uniform(-2.0, 0.0, n))
    spline, matrix = CubicSpline(times), written_out(times)
    assert spline.shape == matrix.shape
    size = np.abs(matrix).max(axis=1, keepdims=True) + np.finfo(float).tiny
    assert (np.abs(spline(np.eye(n)) - matrix) / size).max() < 1e-13
    assert (np.abs(spline.pull(np.eye(len(matrix))) - matrix) / size).max() < 1e-13
    y = rng.normal(size=n) + 1j * rng.normal(size=n)
    np.testing.assert_allclose(spline(y), matrix @ y, rtol=0, atol=1e-13 * np.abs(matrix).max())
    g = rng.normal(size=len(matrix))
    np.testing.assert_allclose(spline.pull(g), g @ matrix, rtol=0, atol=1e-13 * np.abs(g @ matrix).max())


def test_products_behind_a_map(rng):
    """Entries and maps of entries against the matrix that they stand for."""
    entries = Assembly(np.array([0, 1, 1]), np.array([0, 0, 2]), (6, 130))(np.array([2.0, 0.0, -3.0]))
    columns = np.array([1, 5, 129])
    inner = Assembly(np.arange(3), columns, (3, 130))(np.array([1.0, -2.0, 0.5]))
    block = rng.normal(size=(3, 3))
    jacobian = Jacobian(entries, (Behind(slice(2, 5), Matrix(block), inner),))
    dense = np.zeros((6, 130))
    dense[0, 0], dense[1, 2] = 2.0, -3.0
    dense[2:5, columns] = block * [1.0, -2.0, 0.5]
    np.testing.assert_allclose(jacobian.dense(), dense, rtol=1e-15)
    gradient = rng.normal(size=(2, 6))
    np.testing.assert_allclose(jacobian.pull(gradient), gradient @ dense, rtol=1e-14)
    np.testing.assert_allclose(jacobian.pull_sizes(np.abs(gradient)), np.abs(gradient) @ np.abs(dense), rtol=1e-14)
    np.testing.assert_allclose(jacobian.largest(), np.abs(dense).max(axis=0), rtol=1e-15)
    assert jacobian.moved().tolist() == [True, True, True, True, True, False]
    assert np.flatnonzero(jacobian.moving()).tolist() == [0, 1, 2, 5, 129]
    chosen = np.array([129, 0, 3])
    np.testing.assert_allclose(jacobian.take(chosen).dense(), dense[:, chosen], rtol=1e-15)


def test_a_thousand_ordinates():
    """The adjoint by all of them against direct differentiation and differences by a few."""
    system = arm(1000)
    motion = kg.simulate(system, TIGHT, **SETTINGS)
    adjoint = kg.gradient(motion, method="discrete-adjoint")
    assert adjoint.matrix.shape == (2, 1000)
    few = [0, 1, 500, 998]
    direct = kg.gradient(motion, wrt=[f"u[{k}]" for k in few])
    scale = np.abs(adjoint.matrix).max(axis=1, keepdims=True)
    np.testing.assert_allclose(adjoint.matrix[:, few] / scale, direct.matrix / scale, rtol=0, atol=1e-12)
    assert direct.check().good


def test_some_of_many_and_every_number():
    system = arm(300)
    motion = kg.simulate(system, TIGHT, **SETTINGS)
    whole = kg.gradient(motion, wrt=["u", "m"], method="discrete-adjoint", every_slot=True)
    part = kg.gradient(motion, wrt=["m", "u[7]"], method="discrete-adjoint")
    scale = np.abs(whole.matrix).max(axis=1, keepdims=True)
    np.testing.assert_allclose(part.matrix / scale, whole.matrix[:, [300, 7]] / scale, rtol=0, atol=1e-14)
    numbers = whole.by_number()["travel"]
    np.testing.assert_allclose([numbers[f"parameters.u[{k}]"] for k in range(300)], whole.matrix[0, :300], rtol=1e-13)


def test_memory_of_four_thousand_ordinates():
    """Slots × parameters would be half a gigabyte."""
    kg.gradient(kg.simulate(arm(4), TIGHT, **SETTINGS), method="discrete-adjoint")  # compiled code is loaded
    tracemalloc.start()
    try:
        system = arm(4000)
        kg.gradient(kg.simulate(system, TIGHT, **SETTINGS), method="discrete-adjoint")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(system.slots) * len(system.rho) * 8 > 500e6
    assert peak < 100e6


def test_a_list_is_set_as_a_whole(rng):
    system = arm(50)
    u = rng.normal(size=50)
    for given in (u, u.tolist(), [*u.tolist()[:-1], Expression.parse(repr(float(u[-1])))]):
        np.testing.assert_array_equal(system.with_parameters({"u": given}).rho, [*u, 2.0])
    for wrong in (u[:-1], [*u[:-1], np.nan], [*u[:-1], "x"], u[:, None]):
        with pytest.raises(kg.ModelError):
            system.with_parameters({"u": wrong})


def test_values_of_a_system_are_its_own():
    """What follows from the parameters is kept, so these are not changed in place."""
    system = arm(5)
    rho = system.rho.copy()
    other = system.with_parameters(rho)
    rho[:] = 7.0
    np.testing.assert_array_equal(other.s, system.s)
    other.s[:] = 7.0  # an array of the caller's own
    np.testing.assert_array_equal(other.s, system.s)
    with pytest.raises(ValueError, match="read-only"):
        other.rho[0] = 1.0
