"""Derivatives of signals over time against differences of runs, with every kind of formulation and integrator."""

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR, system

import kinegrad as kg
from kinegrad.objectives import at_end
from kinegrad.sensitivity.direct import Sweep
from kinegrad.sensitivity.histories import derivatives_at
from kinegrad.sensitivity.states import AllStates

SIGNALS = ["b.C.x", "b.C.velocity.y", "a.B.acceleration.x", "JA.angle", "coupler*JA.angle.velocity"]
SCHEMES = [
    ("ali3p", "newmark"),
    ("ali3p", "hht"),
    ("matrix-r", "rk4"),
    ("matrix-r", "newmark"),
    ("index1", "rk4"),
    ("recursive", "rk4"),
]
H = 1e-4


def signals(linkage, scheme, **values):
    """(times, signals) along a run."""
    run = kg.simulate(linkage.with_parameters(values), *scheme, t_end=0.2, step=0.002)
    place, angle = run.system.number_of["JA.angle"], run.q
    C, B = run.marker("b.C"), run.marker("a.B")
    coupler = dict(zip(linkage.parameters.independent, run.system.rho, strict=True))["coupler"]
    return np.stack(
        [C.position[:, 0], C.velocity[:, 1], B.acceleration[:, 0], angle[:, place], coupler * run.qd[:, place]], axis=1
    )


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
def test_against_differences(scheme):
    linkage = system(FOUR_BAR)
    gradient = kg.gradient(
        kg.simulate(linkage, *scheme, t_end=0.2, step=0.002), wrt=["crank", "coupler"], method="adjoint"
    )
    found = gradient.states(SIGNALS)
    assert found.derivatives.shape == (101, 5, 2) and found.t[0] == 0.0 and found.t[-1] == 0.2
    formulation = kg.ALI3P(tolerance=1e-14) if scheme[0] == "ali3p" else scheme[0]
    for k, (name, value) in enumerate((("crank", 0.3), ("coupler", 0.9))):
        # central differences, extrapolated to fourth order
        slopes = []
        for h in (H, 2.0 * H):
            more, less = (signals(linkage, (formulation, scheme[1]), **{name: value + s * h}) for s in (1.0, -1.0))
            slopes.append((more - less) / (2.0 * h))
        expected = (4.0 * slopes[0] - slopes[1]) / 3.0
        size = np.abs(expected).max(axis=0)
        assert (np.abs(found.derivatives[:, :, k] - expected).max(axis=0) < 2e-7 * size).all()
    assert np.array_equal(found["b.C.x", "coupler"], found.derivatives[:, 0, 1]) and "at 101 times" in repr(found)


@pytest.mark.parametrize("scheme", [*SCHEMES, ("recursive", "newmark"), ("index1", "rk54")], ids="-".join)
def test_at_some_states_as_step_by_step(scheme):
    """Pieces whose arguments are put down once, with one system and with another, give the digits of calls for each step."""
    model = system(FOUR_BAR).model.copy()
    model.objectives = {f"of_{k}": {"final": text} for k, text in enumerate(SIGNALS)}
    linkage, labels = kg.lower(model, "joint"), ("crank", "coupler")
    for crank in (0.3, 0.31):
        run = kg.simulate(linkage.with_parameters({"crank": crank}), *scheme, t_end=0.08, step=0.002)
        rows = [k for k in (0, 1, 2, 4, 20, 21) if k < len(run.hs)] + [len(run.hs)]
        sweep, states = Sweep(run, run.system.directions(labels), at_end(len(SIGNALS))), AllStates(run)
        expected = [sweep.at_start()]
        for k in range(len(run.hs)):
            piece = states.piece(k, k + 1)
            sweep.grad[:] = 0.0
            sweep.over(piece._replace(segment=piece.segment._replace(after=0.0, kinds=sweep.kinds)))
            expected.append(sweep.grad.copy())
        found = derivatives_at(run, labels, rows)
        assert np.abs(found).max() > 0.1 and np.array_equal(found, np.array(expected)[rows])


def test_the_end_is_the_gradient_and_few_times_are_kept():
    linkage = system(FOUR_BAR, [("norm2(b.C.position)}", "norm2(b.C.position)}, end: {final: b.C.y}")])
    gradient = kg.gradient(kg.simulate(linkage, t_end=0.6, step=0.001), wrt=["crank"])
    found = gradient.states("b.C.y")
    assert len(found.t) == 201 and found.derivatives[-1, 0, 0] == pytest.approx(gradient["end", "crank"], rel=1e-12)


def test_refused_by_name():
    gradient = kg.gradient(kg.simulate(system(FOUR_BAR), t_end=0.02, step=0.01), wrt=["crank"])
    with pytest.raises(kg.KinegradError, match=r"states\(\) needs a signal"):
        gradient.states([])
    with pytest.raises(kg.KinegradError, match="nothing"):
        gradient.states(["nothing.at.all"])


@pytest.mark.parametrize("scheme", [*SCHEMES, ("index1", "rk54"), ("penalty", "generalized-alpha")], ids="-".join)
def test_history_is_the_gradient_of_a_run_that_ends_there(scheme):
    """Also between pieces of several steps, of which the last one's share of the next step is left out."""
    linkage = system(FOUR_BAR)
    for steps in (20, 450):
        found = kg.gradient(
            kg.simulate(linkage, *scheme, t_end=1e-3 * steps, step=1e-3), wrt=["crank", "coupler"], history=True
        )
        row = len(found.history_t) // 2
        shorter = kg.simulate(linkage, *scheme, t_end=found.history_t[row], step=1e-3)
        if scheme[1] == "rk54" and not np.array_equal(shorter.ts, found.motion.ts[: len(shorter.ts)]):
            continue  # its last step is another one
        expected = kg.gradient(shorter, wrt=["crank", "coupler"]).matrix
        np.testing.assert_allclose(found.history[row], expected, rtol=1e-11)
        assert not found.history[0].any() and np.array_equal(found.history[-1], found.matrix)


def test_steps_are_those_of_the_run():
    """Times of sums between steps stay ends of steps, so that the last derivatives are those of a final value."""
    text = "objectives: {last: {final: b.C.x}, at: {sum: b.C.y, times: [0.0113]}}"
    linkage = system(FOUR_BAR, [("objectives: {path: {integral: norm2(b.C.position)}}", text)])
    gradient = kg.gradient(kg.simulate(linkage, t_end=0.1, step=0.01), wrt=["crank", "coupler"])
    found = gradient.states("b.C.x")
    assert found.derivatives.shape == (12, 1, 2) and np.array_equal(found.t, gradient.motion.t)
    np.testing.assert_allclose(found.derivatives[-1, 0], gradient.matrix[0], rtol=1e-13)
