"""Calls with other values of parameters, one after the other: what is remembered between them changes no digit."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"


def fresh(name, rho=None, t_end=0.02):
    """A system that remembers nothing, with these values."""
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    model.simulation = model.simulation.model_copy(update={"t_end": t_end})
    system = kg.joint(model)
    return system if rho is None else system.with_parameters(rho)


@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "ball_joint", "cart_pole"])
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_the_digits_of_a_system_that_is_new(name, method):
    system, rng = fresh(name), np.random.default_rng(1)
    for change in (1.0, 1e-3, 1e-2, 0.0):  # the last one is the first system again
        rho = system.rho * (1.0 + change * 1e-2 * rng.uniform(-1.0, 1.0, len(system.rho)))
        again, once = (kg.simulate(one) for one in (system.with_parameters(rho), fresh(name, rho)))
        assert np.array_equal(again.traj, once.traj) and again.objectives == once.objectives
        by_many, by_one = (kg.gradient(motion, method=method) for motion in (again, once))
        assert np.array_equal(by_many.matrix, by_one.matrix)


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_of_a_system_with_one_run(method):
    system = fresh("five_bar")
    found, expected = kg.gradient(system, method=method), kg.gradient(kg.simulate(system), method=method)
    assert found.runs == 0 and expected.runs == 1
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-10)
    assert found.values == pytest.approx(expected.values, rel=1e-13)
    assert found.motion.formulation.tolerance == 1e-16


def test_of_a_system_whose_states_are_not_all_kept_or_whose_method_is_not_exact():
    system = fresh("five_bar")
    expected = kg.gradient(system).matrix
    section = system.model.simulation
    system.model.simulation = section.model_copy(update={"output_step": 5.0 * section.step})
    np.testing.assert_allclose(kg.gradient(system).matrix, expected, rtol=1e-10)
    system.model.simulation = section
    np.testing.assert_allclose(kg.gradient(system, method="continuous-adjoint").matrix, expected, rtol=1e-2, atol=1e-2)


def test_what_is_asked_for_may_change():
    system = fresh("five_bar")
    motion = kg.simulate(system)
    both = kg.gradient(motion, wrt=["L_s1", "m_A1"])
    system.model.design = ["L_s1"]
    assert kg.gradient(motion).wrt == ("L_s1",)
    assert np.array_equal(kg.gradient(motion).matrix[:, 0], both.matrix[:, 0])
    longer = kg.simulate(system, t_end=0.04)
    assert longer.ts[-1] == 0.04 and kg.simulate(system, step=0.005).hs[0] == 0.005
    assert kg.simulate(system).ts[-1] == 0.02
    longer.t[0] = 7.0  # times of a motion are its own
    assert kg.simulate(system, t_end=0.04).t[0] == 0.0


def test_options_and_times_that_follow_parameters():
    description = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml").to_dict()
    description["parameters"] |= {"p": 1e8, "T": 0.01}
    description["simulation"] |= {"formulation": {"type": "ali3p", "penalty": "10*p"}, "t_end": "2*T"}
    system = kg.joint(kg.Model.from_dict(description))
    for p, T in ((1e8, 0.01), (1e7, 0.01), (1e8, 0.005)):
        motion = kg.simulate(system.with_parameters({"p": p, "T": T}))
        assert motion.scheme.options["penalty"] == 10.0 * p and motion.ts[-1] == 2.0 * T


def test_axes_that_move_with_a_parameter_move_the_guess():
    """Coordinates that are turns alone are remembered for the axes and frames that they were found with."""
    model = kg.Model.from_dict(
        {
            "kinegrad": 1,
            "parameters": {"tilt": 0.0},
            "bodies": {
                "rod": {
                    "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "markers": {"a": [0, 0, 0]},
                    "pose": {"origin": [0, 0, 0], "x_axis": [0.6, 0.8, 0.0], "z_axis": [0, 0, 1]},
                }
            },
            "ground": {"markers": {"o": [0, 0, 0]}},
            "joints": {"pin": {"type": "revolute", "between": ["ground.o", "rod.a"], "axis": ["sin(tilt)", 0, "cos(tilt)"]}},
            "simulation": {"t_end": 0.01, "step": 0.01},
        }
    )  # fmt: skip
    from kinegrad.coordinates.joint.initial_guess import from_poses, initial_guess, poses_of

    system = kg.joint(model)
    for tilt in (0.0, 0.3, 0.3, 0.0):
        s = system.with_parameters({"tilt": tilt}).s
        assert np.array_equal(initial_guess(system, s), from_poses(system, s, poses_of(system)))
    assert initial_guess(system, s)[0] == pytest.approx(np.arctan2(0.8, 0.6))


def test_threads_that_ask_for_different_columns_at_once():
    from concurrent.futures import ThreadPoolExecutor

    system = fresh("five_bar", t_end=0.005)
    choices = [["L_s1"], ["m_A1", "L_s1"], ["r_G"], ["L_A1", "m_A1"]]
    expected = [kg.gradient(system, wrt=wrt).matrix for wrt in choices]

    def asked(k):
        return kg.gradient(system.with_parameters(system.rho), wrt=choices[k % 4]).matrix

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(asked, range(80))):
            assert np.array_equal(found, expected[k % 4])


def test_what_is_told_is_told_every_time():
    system = fresh("five_bar")
    longer = system.with_parameters({"L_12": 50.0})  # a bar that closes no loop
    unused = kg.Index1(tolerance=1e-9)
    for _ in range(4):
        kg.simulate(system)
        with pytest.raises(kg.AssemblyError):
            kg.simulate(longer)
        with pytest.raises(kg.AssemblyError):
            kg.gradient(longer)
        with pytest.warns(kg.UnusedOptionWarning):
            kg.simulate(system, unused, kg.RungeKutta4())


def test_bodies_far_from_the_origin_are_told_every_time():
    model = kg.Model.from_dict(
        {
            "kinegrad": 1,
            "parameters": {"x": 0.0},
            "ground": {"markers": {"O": ["x", 0, 0]}},
            "bodies": {"rod": {"mass": 1.0, "inertia": [1e-3, 1e-3, 1e-3], "markers": {"O": [0, 0, 0]}}},
            "joints": {"hinge": {"type": "revolute", "between": ["ground.O", "rod.O"], "axis": [0, 0, 1]}},
            "forces": {"gravity": {"type": "gravity", "acceleration": [0, -9.81, 0]}},
            "degrees_of_freedom": {"hinge.angle": {"position": 0.3, "velocity": 1.0}},
            "objectives": {"turn": {"final": "hinge.angle"}},
            "simulation": {"t_end": 0.01, "step": 0.001},
        }
    )
    system = kg.joint(model, body_point="origin")
    for _ in range(4):
        kg.simulate(system)
        with pytest.warns(kg.AccuracyWarning, match="from the origin"):
            kg.simulate(system.with_parameters({"x": 1e6}))


def test_jumps_at_times_that_follow_parameters():
    """Steps end where something jumps, wherever that is with the values at hand."""
    description = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml").to_dict()
    description["parameters"]["T"] = 0.0041
    description["simulation"] |= {"t_end": 0.02, "step": 0.001}
    description["objectives"] = {"late": {"integral": "bar_12.P2.velocity.x*step(t - T)"}}
    model = kg.Model.from_dict(description)
    system, variables = kg.joint(model), {"L_s1": {}}
    study = kg.Study(
        model, variables=variables, minimise="late", cases={"a": {}, "b": {"set": {"T": 0.0063}}}
    ).problem()
    for T in (0.0041, 0.0052, 0.0063, 0.0063):
        motion = kg.simulate(system.with_parameters({"T": T}))
        assert np.abs(motion.ts - T).min() < 1e-7
        found = kg.gradient(motion, wrt=["L_s1"])
        assert np.array_equal(found.motion.ts, motion.ts)
        designs = study.evaluate(study.start).objectives
    assert designs["late@b"] == pytest.approx(found.values["late"], rel=1e-12)


def test_threads_that_simulate_at_once():
    from concurrent.futures import ThreadPoolExecutor

    system = fresh("five_bar", t_end=0.005)
    values = [system.rho * (1.0 + 1e-3 * k) for k in range(5)]
    expected = [kg.simulate(fresh("five_bar", rho, t_end=0.005)).traj for rho in values]

    def asked(k):
        return kg.simulate(system.with_parameters(values[k % 5])).traj

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(asked, range(80))):
            assert np.array_equal(found, expected[k % 5])


def test_elements_with_the_same_options_are_one():
    system = fresh("five_bar", t_end=0.005)
    one, other = (kg.simulate(system, *pair) for pair in ((kg.ALI3P(), kg.Newmark()), ("ali3p", "newmark")))
    assert one.formulation is other.formulation and one.integrator is other.integrator
    assert kg.simulate(system, kg.ALI3P(tolerance=1e-9)).formulation.tolerance == 1e-9
    # an option that is given has its meaning, though it has the value that it would have
    given = kg.simulate(system, kg.ALI3P(penalty=1e9))
    assert given.scheme.formulation.given == {"penalty"} and one.scheme.formulation.given == set()
