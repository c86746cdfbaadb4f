"""Gradients of runs of which few states are in memory: the digits of those with all states."""

import tracemalloc

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR as LINKAGE
from kinematics.small_models import system

import kinegrad as kg
from kinegrad.bench.windows import windows
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.sensitivity.states import levels, root

FOUR_BAR = LINKAGE.replace(
    "forces: {",
    "design: [crank, coupler]\nforces: {drag: {type: torque, acts_on: JA.angle, value: -0.2*JA.angle.velocity}, ",
)
FIXED = [key for key in SCHEMES if key[1] != "rk54"]


def assert_same(found, expected, key, method):
    """Equal; but explicit runs are not repeated for a gradient of all states, and their start differs in the last digit, and
    adjoints are added up piece by piece."""
    if method.name != "direct" or (key[1] == "rk4" and key[0] != "matrix-r"):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    else:
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("key", FIXED, ids=" ".join)
def test_the_same_digits(key):
    four_bar = system(FOUR_BAR)
    whole = kg.simulate(four_bar, *key, t_end=0.213, step=0.002)
    thin = kg.simulate(four_bar, *key, t_end=0.213, step=0.002, output_step=0.02)
    row = 8 * (whole.traj.shape[1] + 12)
    for method in (kg.Direct(), kg.DiscreteAdjoint(every_slot=True)):
        expected = kg.gradient(whole, method=method)
        for states in (60, 40):  # in memory
            found = kg.gradient(thin, method=method, memory=1e-6 * states * row)
            assert_same(found.matrix, expected.matrix, key, method)
            assert found.values["path"] == pytest.approx(expected.values["path"], rel=1e-13)
            assert found.runs == 1.0 if method.name == "direct" else found.runs >= 2.0
            assert found.motion.t.shape == thin.t.shape and found.check().good if states == 60 else True
        if method.name != "direct":
            assert_same(found.by_slot, expected.by_slot, key, method)
    assert kg.gradient(thin).runs == 1.0  # so few states are kept


def test_history_is_the_same():
    four_bar = system(FOUR_BAR)
    whole = kg.gradient(kg.simulate(four_bar, t_end=0.5, step=0.001), history=True)
    thin = kg.gradient(kg.simulate(four_bar, t_end=0.5, step=0.001, output_step=0.1), history=True, memory=0.006)
    assert np.array_equal(whole.history, thin.history, equal_nan=True) and np.array_equal(
        whole.history_t, thin.history_t
    )


def test_independent_coordinates_that_change():
    """matrix-r turns over dead points, and each piece goes on in the coordinates of its own time."""
    turning = system(FOUR_BAR.replace("velocity: 1", "velocity: 14"))
    whole = kg.simulate(turning, kg.MatrixR(reselect_below=0.9), "rk4", t_end=0.8, step=0.002)
    assert (whole.flags & 4).any()
    thin = kg.simulate(turning, kg.MatrixR(reselect_below=0.9), "rk4", t_end=0.8, step=0.002, output_step=0.1)
    for method in (kg.Direct(), kg.DiscreteAdjoint()):
        expected = kg.gradient(whole, method=method)
        assert_same(kg.gradient(thin, method=method, memory=0.03).matrix, expected.matrix, ("matrix-r", "rk4"), method)


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("index1", "rk4")], ids="-".join)
def test_singular_positions_are_seen_between_states(scheme):
    model = windows(2)
    model.parameters["bar"] = 1.0
    model.bodies["bar_1"] = {
        "mass": "m", "com": ["L/2", 0, 0], "inertia": [0, "m*L**2/12", "m*L**2/12"],
        "markers": {"left": [0, 0, 0], "right": ["bar*L", 0, 0]}, "pose": {"origin": [0, 1, 0], "x_axis": [1, 0, 0]},
    }  # fmt: skip
    model.objectives = {"x": {"final": "crank_0.B.position.x"}}
    two, times = kg.joint(model), {"t_end": 1.0, "step": 2e-3}
    with pytest.warns(kg.DerivativeWarning, match="by 'bar' means nothing"):
        whole = kg.gradient(kg.simulate(two, *scheme, **times), wrt=["bar", "m"])
    thin = kg.simulate(two, *scheme, **times, output_step=0.1)
    for method in ("direct", "adjoint"):
        with pytest.warns(kg.DerivativeWarning, match="by 'bar' means nothing"):
            found = kg.gradient(thin, wrt=["bar", "m"], method=method, memory=0.07)
        assert found.no_meaning == whole.no_meaning and list(found.no_meaning) == ["bar"]


def test_memory_grows_as_the_root_of_the_steps():
    four_bar, taken = system(FOUR_BAR), []
    for steps in (4000, 16000):
        thin = kg.simulate(four_bar, t_end=steps * 1e-4, step=1e-4, output_step=steps * 1e-5)
        tracemalloc.start()
        kg.gradient(thin, method="adjoint", memory=1e-6 * 4.0 * steps**0.5 * 8 * (thin.traj.shape[1] + 12))
        taken.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    every = 8 * 16000 * thin.traj.shape[1]
    assert taken[1] < 0.15 * every and taken[1] < 2.5 * taken[0]


def test_levels():
    assert root(1000, 3) == 10 and root(1001, 3) == 11 and root(1, 2) == 1
    assert levels(10_000, 100, 100, 1e9) == (2, 100)
    assert levels(10_000, 100, 100, 15_000) == (3, 22)
    with pytest.raises(kg.KinegradError, match=r"A gradient of 10000 steps in 1 kB of memory .* allow 3 kB or more"):
        levels(10_000, 100, 100, 1_000)


def test_refused_by_name():
    motion = kg.simulate(system(FOUR_BAR), t_end=0.1, step=0.01)
    with pytest.raises(kg.KinegradError, match="memory is -1 MB; give a finite number of megabytes larger than zero"):
        kg.gradient(motion, memory=-1)


BETWEEN = FOUR_BAR.replace("{path: {integral: norm2(b.C.position)}}", """
  last: {final: b.C.x.velocity}
  at: {sum: b.C.y, times: [0.0113]}
""").replace("span: 0.8}", "span: 0.8, T: 0.1}\nsimulation: {t_end: T, step: 0.01}")  # fmt: skip


@pytest.fixture
def between():
    """A run whose steps end at the time of a sum, and at multiples of an output_step because of that."""
    return kg.simulate(system(BETWEEN), output_step=0.03)


def test_steps_that_end_between_others(between):
    """They are those of the run, also where it is repeated for its gradient, and for differences."""
    tight = kg.simulate(between.system, kg.ALI3P(tolerance=1e-16, max_iterations=100), output_step=0.03)
    assert between.stride == 1 and not np.array_equal(between.ts, kg.simulate(between.system).ts)
    expected = kg.gradient(tight, wrt=["crank", "coupler"]).matrix
    for method in ("direct", "adjoint"):
        found = kg.gradient(between, wrt=["crank", "coupler"], method=method)
        assert found.runs == 1.0 and np.array_equal(found.motion.ts, between.ts)
        np.testing.assert_allclose(found.matrix, expected, rtol=1e-9)
        assert found.check().good and kg.check_gradient(found, methods=True).good
        assert np.array_equal(found.states("b.C.x").t, between.t)
    second, slopes = kg.hessian(between, ["crank"]).matrix[:, 0, 0], []
    for crank in (0.3001, 0.2999):
        run = kg.simulate(between.system.with_parameters({"crank": crank}), tight.formulation, output_step=0.03)
        slopes.append(kg.gradient(run, wrt=["crank"]).matrix[:, 0])
    np.testing.assert_allclose(second, (slopes[0] - slopes[1]) / 2e-4, rtol=1e-5)


def test_motion_of_a_gradient_in_pieces_is_differentiated_as_well(between):
    """It holds the states that were given, which are less than converged, and is run again once more."""
    labels = ["crank", "coupler", "T"]
    whole = kg.gradient(between, wrt=labels, method="adjoint")
    found = kg.gradient(between, wrt=labels, method="adjoint", memory=0.003)
    assert found.runs > 1.0
    np.testing.assert_allclose(found.matrix, whole.matrix, rtol=1e-12)
    np.testing.assert_allclose(kg.gradient(found.motion, wrt=labels).matrix, whole.matrix, rtol=1e-12)


def test_least_memory_that_is_told_is_enough(between):
    with pytest.raises(kg.KinegradError, match="allow 3 kB or more"):
        kg.gradient(between, memory=0.0023)
    assert kg.gradient(between, method="adjoint", memory=0.003).runs > 1.0
