"""Functions as laws: the same motions and gradients as expressions, their derivatives, and what happens when they fail."""

import math
import traceback
import warnings

import numba
import numpy as np
import pytest
from function_models import assert_same, by_expressions, by_functions

import kinegrad as kg
from kinegrad.coordinates.joint.recursive import Recursive
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.status import CALLBACK_FAILED

STEPS = 100 if JIT else 8
SCHEMES = [("ali3p", "newmark"), ("matrix-r", "newmark"), ("matrix-r", "rk4"), ("index1", "rk54"), ("penalty", "rk4")]


def simulate(model, scheme=SCHEMES[0], **options):
    return kg.simulate(kg.joint(model), *scheme, t_end=STEPS * 1e-3, **options)


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
def test_same_as_expressions(scheme):
    expected, found = simulate(by_expressions(), scheme), simulate(by_functions(), scheme)
    later = (found.t - expected.t)[:, None]  # steps that error control chose may differ by rounding of the errors
    assert np.abs(later).max() < 1e-10
    np.testing.assert_allclose(found.q, expected.q + later * expected.qd, rtol=0, atol=1e-13)
    same = later[:, 0] == 0.0
    np.testing.assert_allclose(found.energies.work[same], expected.energies.work[same], rtol=0, atol=1e-13)
    assert abs(found.energies.drift - expected.energies.drift) < 1e-13
    assert found.energies.drift < (1e-6 if scheme[1] == "newmark" else 1e-8)
    for method in ("direct", "discrete-adjoint"):
        assert_same(kg.gradient(found, method=method).matrix, kg.gradient(expected, method=method).matrix, 1e-10)


def test_recursive_dynamics():
    models = [Recursive(kg.joint(model)) for model in (by_expressions(), by_functions())]
    q, v = np.array([0.4, -0.3]), np.array([1.2, -0.7])
    expected, found = ([x.copy() for x in model.derivatives(q, v, t=0.2)] for model in models)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


# --- derivatives of a function ---


def real_only(angle, speed, t, k):
    return -k * angle - 0.1 * speed**3 + 0.2 * math.sin(3.0 * t)


def drops_imaginary_parts(angle, speed, t, k):
    return -k * angle - 0.1 * abs(speed) ** 3 * (1 if speed.real > 0 else -1) + 0.2 * np.sin(3.0 * t)


@pytest.mark.parametrize("function", [real_only, drops_imaginary_parts])
def test_differences_where_complex_steps_are_wrong(function):
    expected = kg.gradient(simulate(by_expressions())).matrix
    motion = simulate(by_functions(function))
    with pytest.warns(kg.DerivativeWarning, match=f"force 'motor'.*{function.__name__}.*derivative="):
        found = kg.gradient(motion).matrix
    assert_same(found, expected, 1e-7)


def test_given_derivative():
    def derivative(angle, speed, t, k):
        return [-k, -0.3 * speed**2, 0.6 * math.cos(3.0 * t), -angle]

    motion = simulate(by_functions(real_only, derivative=derivative))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kg.gradient(motion).matrix
    assert_same(found, kg.gradient(simulate(by_expressions())).matrix, 1e-10)
    wrong = by_functions(real_only, derivative=lambda *x: [1.0])
    with pytest.raises(TypeError, match=r"force 'motor': the derivative of real_only\(\) returned \[1.0\].* 4 numbers"):
        simulate(wrong)


def test_compiled_function_by_address(capfd):
    pointer = "CPointer(float64)"

    @numba.cfunc(f"void({pointer}, int64, {pointer})")
    def compiled(x, exact, y):
        y[0] = -x[3] * x[0] - 0.1 * x[1] ** 3 + 0.2 * math.sin(3.0 * x[2])
        if exact:
            y[1] = -x[3]
            y[2] = -0.3 * x[1] ** 2
            y[3] = 0.6 * math.cos(3.0 * x[2])
            y[4] = -x[0]

    model = by_expressions()
    inputs = ["j.angle", "j.angle.velocity", "t"], ["k"]
    for function in (compiled, compiled.address):
        model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(function, *inputs))
        motion = simulate(model)
        np.testing.assert_allclose(motion.q, simulate(by_expressions()).q, rtol=0, atol=1e-13)
        assert_same(kg.gradient(motion).matrix, kg.gradient(simulate(by_expressions())).matrix, 1e-10)
    assert "Python function" not in capfd.readouterr().err
    with pytest.raises(kg.KinegradError, match="leave derivative out"):
        kg.law(compiled, *inputs, derivative=lambda *x: x)


# --- failures ---


def fragile(angle, t):
    if t > 0.0035:
        raise ZeroDivisionError("worn out")
    return -angle


@pytest.mark.parametrize("output_step", [None, 2e-3])
@pytest.mark.parametrize("scheme", [*SCHEMES, ("index1", "newmark")], ids="-".join)
def test_exception_stops_the_run(scheme, output_step):
    model = by_expressions()
    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(fragile, ["j.angle", "t"]))
    with pytest.raises(ZeroDivisionError, match="worn out") as caught:
        simulate(model, scheme, output_step=output_step)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ZeroDivisionError("worn out")' in text and "force 'motor'" in text
    motion = caught.value.motion
    assert motion.status == CALLBACK_FAILED and 0.0 < motion.ts[-1] <= 0.0035
    assert np.isfinite(motion.q).all()
    returned = simulate(model, scheme, output_step=output_step, throw=False)
    np.testing.assert_array_equal(returned.q, motion.q)


def test_exception_in_an_objective():
    model = by_expressions()
    model.objectives["effort"] = kg.Objective(integral=kg.law(fragile, ["j.angle", "t"]))
    with pytest.raises(ZeroDivisionError, match="worn out") as caught:
        simulate(model)
    assert "objective 'effort'" in caught.value.__notes__[0]


def test_exception_at_the_start_and_in_a_gradient():
    model = by_expressions()
    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(lambda t: 1 / t, ["t"]))
    with pytest.raises(ZeroDivisionError):
        simulate(model)

    def broken(angle):
        raise RuntimeError("no derivative today")

    model = by_expressions()
    model.objectives["effort"] = kg.Objective(integral=kg.law(lambda angle: angle, ["j.angle"], derivative=broken))
    motion = simulate(model)
    for method in ("direct", "discrete-adjoint"):
        with pytest.raises(RuntimeError, match="no derivative today"):
            kg.gradient(motion, method=method)


def test_no_number_is_named():
    model = by_expressions()
    law = kg.law(lambda angle, t: math.nan if t > 0.004 else -angle, ["j.angle", "t"])
    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=law)
    with pytest.raises(kg.SimulationError, match="force 'motor' is infinite or not a number"):
        simulate(model)
    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(lambda t: (1.0, 2.0), ["t"]))
    with pytest.raises(TypeError, match=r"force 'motor'.* returned \[1.0, 2.0\], where one number is needed"):
        simulate(model)

    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(lambda t: (t - 0.0045) ** 0.5, ["t"]))
    with pytest.raises(TypeError, match=r"force 'motor'.*which is not real"):
        simulate(model)


# --- where a function may stand ---


def test_refused_by_name():
    law = kg.law(math.sin, ["t"])
    for make, where in (
        (lambda: kg.Driver(measure="j.angle", value=law), "Driver.value"),
        (lambda: kg.Guidance(measure="j.angle", value=law), "Guidance.value"),
        (lambda: kg.Spring(acts_on="j.angle", stiffness=law), "Spring.stiffness"),
        (lambda: kg.Force(at="a.q", value=[law, 0, 0]), r"Force.value\[0\]"),
        (lambda: kg.Torque(acts_on="j.angle", value=math.sin), "Torque.value"),
    ):
        with pytest.raises(kg.ModelError, match=f"{where} is .*a function, which is allowed only as"):
            make()
    for arguments, part in (
        (["q.angle"], "q.angle"),
        (["j.angle.acceleration"], "a force uses t"),
        (["a.q.position"], "vec"),
    ):
        model = by_expressions()
        model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(math.sin, arguments))
        with pytest.raises(kg.ModelError, match=rf"forces.motor.value.arguments\[0\].*{part}"):
            model.check()
    with pytest.raises(kg.KinegradError, match="no argument of a law"):
        kg.law(math.sin, ["1 +"])
    with pytest.raises(kg.KinegradError, match="give a list"):
        kg.law(math.sin, "t")
    with pytest.raises(kg.KinegradError, match="not of 'sin'"):
        kg.law("sin", ["t"])


def test_no_file_of_functions(tmp_path):
    with pytest.raises(
        kg.ModelError, match=r"force 'motor' is the function motor\(\).*objective 'end'".replace(".*", "[^$]*")
    ):
        by_functions().to_yaml()
    with pytest.raises(kg.ModelError, match="force 'motor'"):
        simulate(by_functions()).save(tmp_path / "motion.nc")
    assert not list(tmp_path.iterdir())


def test_slowness_is_said_once(capfd, monkeypatch):
    monkeypatch.delenv("KINEGRAD_QUIET", raising=False)
    model = by_functions()
    for _ in range(2):
        simulate(model)
    lines = [line for line in capfd.readouterr().err.splitlines() if "called in every step" in line]
    assert len(lines) == 5 and "force 'motor' is the Python function motor()" in lines[0]


def test_a_joint_that_a_function_uses_is_not_cut():
    model = by_expressions()
    law = kg.law(lambda x: x, ["i.angle"])
    model.forces = {"motor": kg.Torque(acts_on="j.angle", value=law)}
    model.objectives = {}
    model.degrees_of_freedom = {}
    assert model.used_joints == {"i", "j"}


@pytest.mark.parametrize("s", [1e-7, 1e4])
def test_differences_in_the_size_of_the_model(s):
    """A function that refuses complex numbers has the same derivatives in a mechanism of another size."""

    def slope(s):
        model = kg.Model.from_yaml_text(f"""
        kinegrad: 1
        parameters: {{m: 1.0}}
        ground: {{markers: {{O: [0, 0, 0]}}}}
        bodies: {{b: {{mass: m, inertia: {[0.1 * s * s] * 3}, markers: {{O: [0, 0, 0], P: [{s!r}, 0, 0]}}}}}}
        joints: {{j: {{type: prismatic, between: [ground.O, b.O], axis: [1, 0, 0]}}}}
        degrees_of_freedom: {{j.distance: {{position: {0.5 * s!r}}}}}
        objectives: {{o: {{final: j.distance}}}}
        """)
        push = kg.law(
            lambda x, v: -3.0 * (float(x) / s) ** 3 * s - 0.1 * float(v), ["j.distance", "j.distance.velocity"]
        )
        model.forces["push"] = {"type": "force", "acts_on": "j.distance", "value": push}
        with pytest.warns(kg.DerivativeWarning):
            return kg.gradient(kg.simulate(kg.joint(model), t_end=0.01), wrt=["m"])["o", "m"] / s

    assert slope(s) == pytest.approx(slope(1.0), rel=1e-8)
