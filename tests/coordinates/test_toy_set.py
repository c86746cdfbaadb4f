"""A coordinate set that kinegrad does not have, registered from outside: everything works with it as with joint coordinates.

Its coordinates are linear in those of the joint set, so steps of both are the same steps but for the constraints that the
joint set does not need: with exact constraints they agree to rounding, with penalties to what these leave.
"""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from toy_set import CARRIAGES, RAILS, GantrySet, register

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.coordinates.sets import SETS
from kinegrad.errors import KinegradError, ModelError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE

POINTS = ("bridge.P", "trolley.P", "hoist.tip")
# (formulation, integrator): differences of positions, velocities and accelerations that are allowed
SCHEMES = {
    (kg.ALI3P(), "newmark"): (1e-10, 1e-9, 1e-7),
    (kg.ALI3P(), "hht"): (1e-10, 1e-9, 1e-7),
    (kg.Index1(frequency=20.0, damping=0.7), "newmark"): (1e-13, 1e-12, 1e-11),
    (kg.Index1(), "rk4"): (1e-13, 1e-12, 1e-11),
    (kg.MatrixR(), "newmark"): (1e-13, 1e-12, 1e-11),
    (kg.MatrixR(), "rk4"): (1e-13, 1e-12, 1e-11),
    (kg.Penalty(penalty=1e11), "newmark"): (1e-10, 1e-9, 1e-8),
    (kg.Penalty(penalty=1e11), "rk4"): (1e-10, 1e-9, 1e-8),
}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme[0].type}, {scheme[1]}")
EVERY = ("direct", "discrete-adjoint")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    register(monkeypatch)


def lowered(text=CARRIAGES, **changes):
    """The model in joint coordinates and in those of the toy set."""
    model = kg.Model.from_dict(kg.Model.from_yaml_text(text).to_dict() | changes)
    return kg.joint(model), kg.lower(model, "gantry")


def motions(scheme=("index1", "rk4"), text=CARRIAGES, **times):
    times = {"t_end": 0.1, "step": 2e-3} | times
    return [kg.simulate(system, *scheme, **times) for system in lowered(text)]


def apart(first, second, level, names=POINTS):
    """The largest distance of points of two motions, at a level."""
    return max(np.abs(getattr(first.marker(n), level) - getattr(second.marker(n), level)).max() for n in names)


# --- what it is ---


def test_its_coordinates_have_names_units_and_owners():
    _, toy = lowered()
    assert toy.kind == "gantry" and toy.n == 10 and toy.m == 8
    assert toy.coordinates[:4] == ("bridge.x", "bridge.y", "bridge.z", "trolley.x")
    assert toy.coordinates[9] == "winch.impulse"  # an element owns it: behind those of the set
    assert {(c.owner, c.unit) for c in toy.coordinates[:9]} == {(body, "m") for body in ("bridge", "trolley", "hoist")}
    assert toy.lengths[:9].all() and toy.alike.shape == (0, 4)


def test_rows_that_say_nothing_are_left_out():
    _, toy = lowered()
    assert toy.row_names[:2] == ["rail alignment.x", "rail alignment.y"]
    assert [row.name for row in toy.rows if row.number < 0][:3] == ["rail axis.x", "rail axis.y", "rail axis.z"]


def evaluated(system):
    """Phi, Phi_q and the products of LINEARISE at a random state."""
    rng = np.random.default_rng(3)
    work = system.workspace(ds=system.directions(system.parameters.independent))
    for name in ("q", "v", "a", "vp", "ap"):
        work[name][:] = rng.normal(size=system.n)
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    Phi, J = work["Phi"].copy(), work["J"].copy()
    work.call(LINEARISE)
    return Phi, J, *(work[name].copy() for name in ("M", "R_z", "Phi_z", "Phid_z", "Phidd_z", "g_z"))


def test_joint_systems_stay_as_they_are(monkeypatch):
    """Nothing of a second set reaches the first, in workspaces made before and after it was used."""
    monkeypatch.delitem(SETS, "gantry")
    joint = kg.joint(kg.Model.from_yaml_text(CARRIAGES))
    before = evaluated(joint)
    assert np.abs(before[0]).max() > 0.1 and np.abs(before[1]).max() > 0.1
    monkeypatch.setitem(SETS, "gantry", GantrySet)
    again, toy = lowered()
    for _ in range(2):
        found = evaluated(toy)
        assert np.abs(found[0]).max() > 0.1 and found[1].shape == (toy.m + len(toy.freedoms), toy.n)
    for system in (joint, again):
        for now, then in zip(evaluated(system), before, strict=True):
            assert_array_equal(now, then)


# --- motions ---


@pytest.mark.parametrize("text", [CARRIAGES, RAILS], ids=["carriages", "rails"])
def test_it_starts_alike(text):
    one, other = (kg.assemble(system) for system in lowered(text))
    assert other.residual < 1e-14
    first, second = one.markers(), other.markers()
    assert set(first) == set(second)
    for name, marker in first.items():
        assert_allclose(second[name].position, marker.position, rtol=0, atol=1e-14)
        assert_allclose(second[name].velocity, marker.velocity, rtol=0, atol=1e-14)
        assert_allclose(second[name].acceleration, marker.acceleration, rtol=0, atol=1e-12)
    largest = max(np.abs(marker.acceleration).max() for marker in first.values())
    assert largest > 0.5


@each_scheme
def test_it_moves_alike(scheme):
    one, other = motions(scheme, t_end=0.3)
    assert np.ptp(one.marker("hoist.tip").position, axis=0).max() > 0.02
    for level, allowed in zip(("position", "velocity", "acceleration"), SCHEMES[scheme], strict=True):
        assert apart(one, other, level) < allowed
    for name, value in one.objectives.items():
        assert other.objectives[name] == pytest.approx(value, rel=1e-7)


def test_newmark_has_order_two_in_it():
    exact, _ = motions(("index1", "rk4"), t_end=0.2, step=1e-3)
    errors = []
    for step in (8e-3, 4e-3, 2e-3):
        motion = kg.simulate(lowered()[1], "ali3p", "newmark", t_end=0.2, step=step)
        errors.append(np.abs(motion.marker("hoist.tip").position[-1] - exact.marker("hoist.tip").position[-1]).max())
    assert errors[0] > 1e-7
    assert_allclose(np.log2([errors[0] / errors[1], errors[1] / errors[2]]), 2.0, atol=0.1)


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("index1", "rk4"), ("matrix-r", "rk4")], ids=", ".join)
def test_redundant_rows_are_harmless(scheme):
    one, other = motions(scheme, RAILS, t_end=0.3)
    assert apart(one, other, "position", ("clip.P", "bridge.G")) < 1e-9
    assert apart(one, other, "acceleration", ("clip.P", "bridge.G")) < 1e-6


def test_energies_are_those_of_the_joint_set():
    one, other = (motion.energies for motion in motions())
    assert_allclose(other.kinetic, one.kinetic, rtol=1e-12)
    assert_allclose(other.potential, one.potential, rtol=1e-12)
    assert_allclose(other.work, one.work, rtol=0, atol=1e-12)
    assert np.ptp(one.potential) > 1e-3 and np.abs(one.work).max() > 1e-3


# --- derivatives ---


def assert_like(found, expected, tolerance):
    """Each entry, by the size of what the parameter does to the objective and of what others do."""
    size = np.maximum(np.abs(expected), 1e-4 * np.abs(expected).max(axis=1, keepdims=True))
    assert np.all(size > 0.0)
    assert (np.abs(found - expected) / size).max() < tolerance


@each_scheme
def test_its_gradients_are_those_of_the_joint_set(scheme):
    """By masses, marker positions, stiffnesses, gravity, axes, times and values at the start."""
    one, other = motions(scheme, t_end=0.05)
    wrt = list(one.system.parameters.independent)
    assert {"m1", "m3", "tip", "h", "k", "g", "tilt", "D", "z0", "zd0", "lag"} <= set(wrt)
    expected = kg.gradient(one, wrt=wrt).matrix
    direct, adjoint = (kg.gradient(other, wrt=wrt, method=method).matrix for method in EVERY)
    assert_like(direct, adjoint, 1e-10)
    assert_like(direct, expected, 1e-8)


def test_differences_agree_with_its_gradient():
    assert kg.gradient(motions(t_end=0.02)[1], wrt=["m1", "tip", "zd0"]).check().relative.max() < 1e-6


# --- what is refused ---


def test_recursive_refuses_it_by_name():
    with pytest.raises(
        KinegradError, match=r"'recursive' sweeps over a tree of joints.*joint coordinates, not gantry\."
    ):
        kg.simulate(lowered()[1], "recursive", "rk4", t_end=0.1)


def test_wrong_names_are_answered():
    model = kg.Model.from_yaml_text(CARRIAGES)
    with pytest.raises(
        KinegradError,
        match=r"^There are no coordinates 'gantri' \(did you mean 'gantry'\?\); choose one of joint, .*gantry\.$",
    ):
        kg.lower(model, "gantri")
    with pytest.raises(KinegradError, match=r"^Gantry coordinates have no option 'cut'; they have none\.$"):
        kg.lower(model, "gantry", cut=["rail"])
    with pytest.raises(
        KinegradError, match=r"^Joint coordinates have no option 'cuts'.*; they have cut, body_point\.$"
    ):
        kg.lower(model, "joint", cuts=["rail"])


def test_a_joint_that_turns_is_refused():
    joints = kg.Model.from_yaml_text(RAILS).to_dict()["joints"]
    joints["weld"] |= {"type": "revolute", "axis": [0, 0, 1]}
    with pytest.raises(ModelError, match=r"joint 'weld' \(revolute\) lets bodies turn, and gantry coordinates only"):
        lowered(RAILS, joints=joints)


# --- files, processes, tables ---


def test_a_model_text_chooses_it():
    for chosen in ("gantry", "{type: gantry}"):
        text = CARRIAGES.replace("simulation: {", f"simulation: {{coordinates: {chosen}, ")
        model = kg.Model.from_yaml_text(text)
        assert kg.lower(model).kind == "gantry" and kg.joint(model).kind == "joint"
        again = kg.Model.from_yaml_text(model.to_yaml())
        assert again.simulation.coordinates.type == "gantry" and kg.lower(again).n == 10
    wrong = CARRIAGES.replace("simulation: {", "simulation: {coordinates: {type: gantry, cut: [rail]}, ")
    with pytest.raises(ModelError, match="cut"):
        kg.Model.from_yaml_text(wrong)
    wrong = CARRIAGES.replace("simulation: {", "simulation: {coordinates: {type: gantri}, ")
    with pytest.raises(ModelError, match=r"unknown type 'gantri' \(did you mean 'gantry'\?\)"):
        kg.Model.from_yaml_text(wrong)


def test_systems_and_motions_travel():
    _, toy = lowered()
    toy = toy.with_parameters({"m1": 3.5})
    back = pickle.loads(pickle.dumps(toy))
    assert back.kind == "gantry" and back.coordinates == toy.coordinates and type(back.set) is GantrySet
    assert_array_equal(back.s, toy.s)
    motion = kg.simulate(toy, "index1", "rk4", t_end=0.02)
    assert_array_equal(kg.simulate(back, "index1", "rk4", t_end=0.02).q, motion.q)
    assert_array_equal(pickle.loads(pickle.dumps(motion)).q, motion.q)


def test_results_are_saved_and_loaded(tmp_path):
    _, motion = motions()
    path = motion.save(tmp_path / "motion.nc", reactions=True)
    back = kg.load(path)
    assert back.system.kind == "gantry"
    assert_array_equal(back.q, motion.q)
    wrt = ["m1", "z0"]
    assert_allclose(kg.gradient(back, wrt=wrt).matrix, kg.gradient(motion, wrt=wrt).matrix, rtol=1e-13)


def test_tables_and_figures_have_its_names_and_units(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    _, motion = motions()
    table = motion.to_dataframe()
    assert_array_equal(table["trolley.y"], motion.q[:, 4])
    assert table.attrs["units"]["trolley.y"] == "m"
    figure = motion.plot("trolley.y", "hoist.tip", "reactions", path=tmp_path / "motion.png")
    texts = [text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert "trolley.y [m]" in texts
    assert motion.to_html(tmp_path / "motion.html").stat().st_size > 10_000


# --- mobility, rest, reactions, comparison ---


@pytest.mark.parametrize("text, dof", [(CARRIAGES, 1), (RAILS, 2)], ids=["carriages", "rails"])
def test_mobility(text, dof):
    found = [kg.mobility(system) for system in lowered(text)]
    assert [x.dof for x in found] == [dof, dof] and found[1].nearby == (dof, dof)
    assert not found[1].problems and found[1].coordinates == "gantry"
    assert {"guide alignment.x", "guide alignment.y"} <= set(found[1].redundant) or text is CARRIAGES


def test_equilibrium():
    forces = kg.Model.from_yaml_text(CARRIAGES).to_dict()["forces"]
    forces.pop("winch")
    one, other = (kg.equilibrium(system) for system in lowered(forces=forces))
    assert other.stable and set(other.coordinates) == {
        f"{b}.{c}" for b in ("bridge", "trolley", "hoist") for c in "xyz"
    }
    assert_allclose(other.markers()["hoist.tip"].position, one.markers()["hoist.tip"].position, atol=1e-9)
    assert_allclose(other.frequencies, one.frequencies, rtol=1e-8)
    assert_reactions(other.reactions(), one.reactions(), 1e-6)
    assert_allclose(other.gradient(wrt=["k", "m3"]).matrix, one.gradient(wrt=["k", "m3"]).matrix, rtol=1e-6)


def assert_reactions(found, expected, tolerance):
    """Wrenches where they are unique, forces of drivers, their powers, and what is unique."""
    size = max(np.abs(wrench).max() for wrench in expected.values())
    assert list(found) == list(expected) and size > 1.0
    for name, wrench in expected.items():
        assert_array_equal(found.unique[name], expected.unique[name])
        unique = expected.unique[name]
        assert np.abs(found[name] - wrench)[:, unique].max(initial=0.0) < tolerance * size, name
    assert list(found.forces) == list(expected.forces)
    for name, force in expected.forces.items():
        assert_allclose(found.forces[name], force, rtol=0, atol=tolerance * size)
        assert_allclose(found.powers[name], expected.powers[name], rtol=0, atol=tolerance * size)
    assert found.residual.max() < tolerance * size


@pytest.mark.parametrize("text", [CARRIAGES, RAILS], ids=["carriages", "rails"])
def test_reactions(text):
    one, other = (motion.reactions() for motion in motions(text=text))
    assert_reactions(other, one, 1e-10)
    assert all(unique.all() for unique in one.unique.values()) == (text is CARRIAGES)


def test_reactions_where_the_model_cuts_a_joint():
    joints = kg.Model.from_yaml_text(RAILS).to_dict()["joints"]
    joints["rail"]["cut"] = True
    one, other = (kg.simulate(s, "index1", "rk4", t_end=0.05).reactions() for s in lowered(RAILS, joints=joints))
    assert_reactions(other, one, 1e-10)


def test_motions_that_are_given():
    """Drivers in the place of freedoms: motions without dynamics, and the forces that they take."""
    drivers = {"go": {"measure": "rail.distance", "value": "0.1*sin(2*t)"}}
    drivers["out"] = {"measure": "beam.distance", "value": "0.15 + 0.1*t**2"}
    forces = kg.Model.from_yaml_text(CARRIAGES).to_dict()["forces"]
    forces.pop("winch")
    systems = lowered(drivers=drivers, forces=forces, degrees_of_freedom={})
    one, other = (kg.drive(system, t_end=0.1, step=0.01) for system in systems)
    assert apart(one, other, "position") < 1e-12 and apart(one, other, "acceleration") < 1e-9
    assert_reactions(other.reactions(), one.reactions(), 1e-9)
    runs = [kg.simulate(system, "index1", "rk4", t_end=0.05) for system in lowered(forces=forces)]
    needed = [kg.inverse(run.system, run).forces for run in runs]
    assert set(needed[0]) == set(needed[1]) == {"go", "beam.distance"}
    for name, force in needed[0].items():
        assert_allclose(needed[1][name], force, rtol=0, atol=1e-8)


def test_it_is_compared_with_the_joint_set():
    found = kg.compare(
        kg.Model.from_yaml_text(CARRIAGES), coordinates=["joint", "gantry"], body_points=["origin", "com"],
        formulations=["index1", "recursive"], integrators=["rk4"], t_end=0.02,
    )  # fmt: skip
    assert [(row.coordinates, row.body_point, row.agrees) for row in found.rows] == [
        ("joint", "origin", True), ("joint", "origin", True), ("joint", "com", True), ("joint", "com", True),
        ("gantry", "", True), ("gantry", "", None),
    ]  # fmt: skip
    assert "not gantry" in found.rows[-1].problem
    text = CARRIAGES.replace("simulation: {", "simulation: {coordinates: gantry, ")
    found = kg.compare(kg.Model.from_yaml_text(text), formulations=["index1"], integrators=["rk4"], t_end=0.02)
    assert {row.coordinates for row in found.rows} == {"joint", "reference-point", "natural", "gantry"}
    assert all(row.agrees for row in found.rows)


# --- the command line ---


@pytest.fixture
def command(capsys, tmp_path):
    """The object that a command prints with --json for the carriages, whose file chooses the toy set, and its exit code."""
    path = tmp_path / "carriages.yaml"
    path.write_text(CARRIAGES.replace("simulation: {", "simulation: {coordinates: gantry, "))

    def run(name, *arguments):
        with pytest.raises(SystemExit) as exit:
            main([name, str(path), *arguments, "--json"])
        return exit.value.code, json.loads(capsys.readouterr().out)

    return run


def test_check_tells_the_size_of_its_equations(command, capsys, tmp_path):
    code, found = command("check")
    assert code == 0 and found["dof"] == 1 and found["cut_joints"] == found["free_joints"] == []
    assert found["sets"]["gantry"] == {"n": 10, "m": 29, "redundant": 21}
    assert list(found["sets"]) == ["gantry", "joint", "reference-point", "natural"]
    with pytest.raises(SystemExit):
        main(["check", str(tmp_path / "carriages.yaml")])
    assert "gantry" in capsys.readouterr().out


def test_run_and_gradient(command):
    code, found = command("gradient", "--objective", "end", "--wrt", "m1,k", "--t-end", "0.02")
    assert code == 0
    code, joint = command(
        "gradient", "--objective", "end", "--wrt", "m1,k", "--t-end", "0.02", "--coordinates", "joint"
    )
    assert code == 0 and found["gradient"].keys() == {"end"}
    for name, value in joint["gradient"]["end"].items():
        assert found["gradient"]["end"][name] == pytest.approx(value, rel=1e-6)
    code, found = command("run", "--cut", "rail")
    assert code != 0 and "Gantry coordinates have no option 'cut'" in json.dumps(found)
