"""Coordinates that elements own: angles of cut joints with all their turns (OWN-1), states (OWN-2), actuators (OWN-3)."""

import numpy as np
import own_models
import pytest

import kinegrad as kg
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs need the compiler")
SCHEMES = [
    ("ali3p", "newmark"), ("ali3p", "hht"), ("ali3p", "generalized-alpha"), ("matrix-r", "newmark"), ("matrix-r", "rk4"),
    ("index1", "newmark"), ("index1", "rk4"), ("index1", "rk54"), ("penalty", "rk4"), ("recursive", "rk4"),
    ("recursive", "newmark"),
]  # fmt: skip
CUTS = ["JA", "JB", "JC", "JD"]


def exact(T, m, L, tau, u0, y0):
    """Angle, rate and integral of the angle of the rod under the actuator alone, from rest."""
    inertia, fading = m * L**2 / 3.0, tau * (1.0 - np.exp(-T / tau))
    rate = u0 * T + (y0 - u0) * fading
    angle = u0 * T**2 / 2.0 + (y0 - u0) * tau * (T - fading)
    path = u0 * T**3 / 6.0 + (y0 - u0) * tau * (T**2 / 2.0 - tau * (T - fading))
    return np.array([angle, rate, path]) / inertia


def exact_gradient(T, *numbers):
    """By differences that are good to ten digits."""
    columns = []
    for k, x in enumerate(numbers):
        h = 1e-3 * x
        at = [exact(T, *numbers[:k], x + j * h, *numbers[k + 1 :]) for j in (-2, -1, 1, 2)]
        columns.append((at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h))
    return np.array(columns).T


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
def test_an_actuator_is_a_delay_of_first_order(scheme):
    """Value and gradients by tau, u and the start converge to the closed form with the order of the scheme."""
    numbers, T = (2.0, 0.5, 0.08, 3.0, 0.5), 0.4
    system = kg.lower(own_models.motor())
    errors = []
    for step in (4e-3, 2e-3):
        motion = kg.simulate(system, *scheme, t_end=T, step=step)
        gradient = kg.gradient(motion, method="discrete-adjoint")
        found = np.array(list(motion.objectives.values()))
        by = np.abs(gradient.matrix - exact_gradient(T, *numbers)) / np.abs(gradient.matrix).max(axis=1, keepdims=True)
        errors.append((np.abs(found - exact(T, *numbers)).max(), by.max()))
    if scheme[1] == "rk54":
        assert max(errors[1]) < 1e-7
        return
    order = 4 if scheme[1] == "rk4" else 2
    for coarse, fine in zip(*errors, strict=True):
        assert fine < (1e-8 if order == 4 else 1e-4)
        assert coarse / fine > 0.8 * 2**order or fine < 1e-10


def test_an_actuator_is_no_freedom_and_its_power_is_that_of_its_force():
    system = kg.lower(own_models.motor())
    assert kg.mobility(system).dof == 1 and kg.mobility(system).given == 1 and not kg.mobility(system).problems
    assert system.coordinates == ("hinge.angle", "motor.impulse") and system.coordinates[1].owner == "motor"
    motion = kg.simulate(system, "matrix-r", "rk4", t_end=0.4, step=1e-3)
    force = motion.qd[:, 1]
    assert np.abs(force - (3.0 - 2.5 * np.exp(-motion.t / 0.08))).max() < 1e-7
    assert motion.energies.drift < 1e-9
    assert motion.energies.work[-1] == pytest.approx(np.trapezoid(force * motion.qd[:, 0], motion.t), rel=1e-5)


def test_a_command_may_be_a_function():
    model = own_models.motor()
    model.forces["motor"] = model.forces["motor"].with_(value=kg.law(lambda t: 3.0 + 0.0 * t, ["t"]))
    motion = kg.simulate(kg.lower(model), "matrix-r", "rk4", t_end=0.4, step=1e-3)
    assert np.abs(np.array(list(motion.objectives.values())) - exact(0.4, 2.0, 0.5, 0.08, 3.0, 0.5)).max() < 1e-8
    assert motion.energies.drift < 1e-9


@pytest.mark.parametrize(("tau", "words"), [("0", "time_constant"), ("-0.1", "time_constant")])
def test_a_delay_of_no_time_is_refused(tau, words):
    model = own_models.motor()
    model.forces["motor"] = model.forces["motor"].with_(time_constant=float(tau))
    with pytest.raises(kg.ModelError, match=rf"forces\.motor\.{words} is .*above zero"):
        kg.lower(model)


def test_an_own_coordinate_that_nothing_determines_is_named():
    system = kg.lower(own_models.motor()).with_parameters({"tau": 0.0})
    with pytest.raises(
        kg.SimulationError, match=r"Nothing determines 'motor\.impulse'.*forces\.motor\.time_constant is 0"
    ):
        kg.simulate(system, t_end=0.1)


@pytest.mark.parametrize("analysis", [kg.equilibrium, kg.drive, kg.inverse], ids=["equilibrium", "drive", "inverse"])
def test_what_has_no_time_refuses_states_by_name(analysis):
    with pytest.raises(kg.KinegradError, match="The actuator 'motor' has a state of its own"):
        analysis(kg.lower(own_models.motor()))


# --- angles of joints that are not in the tree ---


def test_a_loop_whose_every_coordinate_is_used_opens_by_itself():
    system = kg.lower(own_models.four_bar())
    (cut,) = system.set.tree.cut
    own = system.coordinates[system.own[0].k]
    assert (own, own.owner, own.unit) == (f"{cut}.angle", cut, "rad") and system.n == 4
    assert kg.mobility(system).dof == 1 and not kg.mobility(system).problems


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme[1] != "rk54"], ids="-".join)
@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_gives_one_motion_one_gradient_and_one_reaction(cut, scheme):
    """Torsion springs act on all four angles; references are cut where the rule cuts."""
    found = []
    for cuts in ((), (cut,)):
        system = kg.joint(own_models.four_bar(), cut=cuts)
        assert not cuts or system.set.tree.cut == (cut,)
        motion = kg.simulate(system, *scheme, t_end=0.2, step=5e-4)
        found.append((motion, kg.gradient(motion, method="discrete-adjoint"), motion.reactions_at_end()))
    (one, by_one, held), (two, by_two, also_held) = found
    tolerance = 1e-8 if scheme[1].startswith("rk") else 1e-5
    assert np.abs(one.marker("rod.C").position - two.marker("rod.C").position).max() < tolerance
    scale = np.abs(by_one.matrix).max(axis=1, keepdims=True)
    assert (np.abs(by_one.matrix - by_two.matrix) / scale).max() < 30.0 * tolerance
    for name in CUTS:
        assert np.abs(held[name] - also_held[name]).max() < 1e4 * tolerance
        assert also_held.residual.max() < (1e-9 if scheme[1].startswith("rk") else 1e-6)
    names = [name for name in two.system.coordinates if name in one.system.coordinates]
    assert len(names) == 4
    for name in names:
        k, j = one.system.number_of[name], two.system.number_of[name]
        assert np.abs(one.q[:, k] - two.q[:, j]).max() < 10.0 * tolerance


@pytest.mark.parametrize("cut", ["knee", "tube"])
@pytest.mark.parametrize(
    "scheme", [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", "rk4"), ("recursive", "rk4")], ids="-".join
)
def test_cardan_and_cylindrical_angles(cut, scheme):
    reference = kg.simulate(kg.joint(own_models.spatial(), cut=("ball",)), "matrix-r", "rk4", t_end=0.3, step=2.5e-4)
    system = kg.joint(own_models.spatial(), cut=(cut,))
    assert len(system.own) == {"knee": 2, "tube": 1}[cut]
    motion = kg.simulate(system, *scheme, t_end=0.3, step=2.5e-4)
    tolerance = 1e-8 if scheme[1] == "rk4" else 2e-6
    for marker in ("d.E", "b.Q"):
        assert np.abs(motion.marker(marker).position - reference.marker(marker).position).max() < tolerance
    for name in ("knee.angle1", "knee.angle2", "tube.angle"):
        if name in motion.system.coordinates and name in reference.system.coordinates:
            k, j = motion.system.number_of[name], reference.system.number_of[name]
            assert np.abs(motion.q[:, k] - reference.q[:, j]).max() < 10.0 * tolerance


def test_a_driver_of_a_cut_angle_turns_ten_times():
    model = own_models.four_bar()
    model.forces = {"gravity": model.forces["gravity"], "sc": model.forces["sc"]}
    model.degrees_of_freedom = {}
    model.objectives = {}
    model.drivers = {"motor": {"measure": "JA.angle", "value": "0.9 + 20*pi*t"}}
    free, cut = (kg.drive(kg.joint(model, cut=(name,)), t_end=1.0, step=2.5e-3) for name in ("JC", "JA"))
    k = cut.system.number_of["JA.angle"]
    assert cut.q[-1, k] == pytest.approx(0.9 + 20.0 * np.pi, abs=1e-10)
    for quantity, tolerance in (("position", 1e-11), ("velocity", 1e-8), ("acceleration", 1e-5)):
        a, b = (getattr(motion.marker("rod.C"), quantity) for motion in (free, cut))
        assert np.abs(a - b).max() < tolerance
    forces = [motion.reactions().forces["motor"] for motion in (free, cut)]
    assert np.abs(forces[0] - forces[1]).max() < 1e-9 * np.abs(forces[0]).max()


def test_a_spring_on_a_cut_angle_counts_turns_at_the_start():
    """An angle that starts two turns further is two turns further from its natural value."""
    model = own_models.four_bar()
    model.parameters["turn"] = 0.9 + 4.0 * np.pi
    a, b = (kg.assemble(kg.joint(model, cut=(cut,))) for cut in ("JC", "JA"))
    assert b.coordinates["JA.angle"] == pytest.approx(0.9 + 4.0 * np.pi, abs=1e-12)
    assert np.abs(a.markers()["rod.C"].acceleration - b.markers()["rod.C"].acceleration).max() < 1e-9


def test_an_equilibrium_with_cut_angles():
    model = own_models.four_bar()
    model.forces["sd"] = {"type": "torque", "acts_on": "JD.angle", "value": "1 + 0.1*JC.angle"}
    found = [kg.equilibrium(kg.joint(model, cut=(cut,))) for cut in CUTS]
    first = found[0]
    for other in found[1:]:
        assert np.abs(other.markers()["rod.C"].position - first.markers()["rod.C"].position).max() < 1e-9
        assert other.frequencies[0] == pytest.approx(first.frequencies[0], rel=1e-8)
        a, b = (x.gradient(wrt=["k", "a"], method="adjoint").matrix for x in (first, other))
        assert np.abs(a - b).max() < 1e-8 * np.abs(a).max()


def test_an_open_tree_by_itself_refuses_own_coordinates():
    from kinegrad.coordinates.joint.recursive import Recursive

    with pytest.raises(kg.KinegradError, match=r"do not know the coordinate 'motor\.impulse'"):
        Recursive(kg.lower(own_models.motor()))
