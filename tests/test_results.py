"""Motions on disk: what is saved comes back, opens elsewhere, and broken files are told in sentences."""

import h5py
import numpy as np
import pytest

import kinegrad as kg

MODEL = """\
kinegrad: 1
title: Crank → slider
parameters: {L: 0.3, m: 1.5, u: [2, 0.5]}
ground: {markers: {O: [0, 0, 0], n: {vector: [0, 1, 0]}}}
bodies:
  crank:
    {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {O: [0, 0, 0], P: [L, 0, 0]}}
  rod:
    {mass: 1, com: [0.4, 0, 0], inertia: [0.01, 0.05, 0.05], markers: {P: [0, 0, 0], Q: [0.8, 0, 0]},
     pose: {origin: [0.2, 0.2, 0], x_axis: [1, -0.3, 0]}}
  slider: {mass: 0.5, inertia: [0.01, 0.01, 0.01], markers: {Q: [0, 0, 0]}, pose: {origin: [1, 0, 0]}}
joints:
  turn: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  end: {type: revolute, between: [rod.Q, slider.Q], axis: [0, 0, 1]}
  rail: {type: prismatic, between: [ground.O, slider.Q], axis: [1, 0, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  motor: {type: torque, acts_on: turn.angle, value: "u[0] - u[1]*turn.angle.velocity"}
degrees_of_freedom: {turn.angle: {position: 0.8, velocity: 1}}
objectives: {way: {integral: norm2(slider.Q.velocity)}, last: {final: slider.Q.x}}
simulation: {t_end: 0.2, step: 2.0e-3}
"""


@pytest.fixture(scope="module")
def motion():
    model = kg.Model.from_yaml_text(MODEL)
    return kg.simulate(kg.joint(model, cut=["pin"], values={"m": 1.7, "u[1]": 0.6}), kg.ALI3P(penalty=1e8))


@pytest.fixture
def saved(motion, tmp_path):
    path = tmp_path / "motion.nc"
    assert motion.save(path) == path
    return path


def test_everything_comes_back(motion, saved):
    loaded = kg.load(saved)
    for name in ("t", "q", "qd", "qdd", "lam", "ts", "hs", "s", "iterations", "flags", "traj"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(motion, name), err_msg=name)
    for name in ("formulation", "integrator", "objectives", "status", "step", "t_end", "stride", "cpu_s"):
        assert getattr(loaded, name) == getattr(motion, name), name
    assert loaded.system.set.tree.cut == ("pin",) and loaded.system.model == motion.system.model
    np.testing.assert_array_equal(loaded.system.rho, motion.system.rho)
    assert loaded.energies.drift == motion.energies.drift
    np.testing.assert_array_equal(loaded.marker("rod.Q").acceleration, motion.marker("rod.Q").acceleration)


def test_times_come_back_with_what_they_follow(tmp_path):
    """So that another run of a loaded motion has the same steps, and its end moves with the parameter."""
    model = kg.Model.from_yaml_text(MODEL.replace("t_end: 0.2", "t_end: L/3").replace("2.0e-3", "0.01"))
    model.objectives["at"] = {"sum": "slider.Q.x", "times": [0.0613]}
    system = kg.joint(model.check())
    for options in ({}, {"output_step": 0.03}, {"t_end": 0.1}):
        run = kg.simulate(system, **options)
        loaded = kg.load(run.save(tmp_path / "run.nc"))
        assert (
            loaded.follows == run.follows
            and loaded.output_step == run.output_step
            and bool(run.follows) == ("t_end" not in options)
        )
        for method in ("direct", "adjoint"):
            found, expected = (kg.gradient(x, wrt=["L", "m"], method=method) for x in (loaded, run))
            np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-12)
            assert np.array_equal(found.motion.ts, run.ts) and found.check().good


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_a_loaded_motion_can_be_differentiated(motion, saved, method):
    found = kg.gradient(kg.load(saved), wrt=["L", "m", "u"], method=method)
    np.testing.assert_array_equal(found.matrix, kg.gradient(motion, wrt=["L", "m", "u"], method=method).matrix)


def test_a_thinned_motion_keeps_its_times(motion, tmp_path):
    thin = kg.simulate(motion.system, motion.formulation, output_step=0.02)
    thin.save(tmp_path / "thin.nc")
    loaded = kg.load(tmp_path / "thin.nc")
    assert loaded.stride == 10 and len(loaded.t) == 11 and len(loaded.hs) == 100
    np.testing.assert_array_equal(loaded.q, motion.q[::10])
    full = kg.gradient(motion, wrt=["L"]).matrix
    np.testing.assert_allclose(kg.gradient(loaded, wrt=["L"]).matrix, full, rtol=1e-12)


def test_xarray_opens_it_in_one_line(motion, saved):
    reason = "xarray and h5netcdf, which the extras [data] and [dev] install, are needed"
    xr = pytest.importorskip("xarray", reason=reason)
    pytest.importorskip("h5netcdf", reason=reason)
    with xr.open_dataset(saved, engine="h5netcdf") as data:
        assert dict(data.sizes) == {
            "time": 101, "step_end": 100, "coordinate": 3, "row": motion.system.m, "marker": len(motion.system.markers),
            "xyz": 3, "objective": 2, "parameter": 4, "slot": len(motion.s), "state": motion.traj.shape[1],
        }  # fmt: skip
        position = data.marker_position.sel(marker="slider.Q")
        np.testing.assert_array_equal(position, motion.marker("slider.Q").position)
        assert position.sel(xyz="x").isel(time=-1).item() == pytest.approx(motion.objectives["last"], rel=1e-11)
        assert list(data.q.coords["coordinate"].values) == list(motion.system.coordinates)
        assert list(data.lam.coords["row"].values) == motion.system.row_names
        assert data.objective_value.sel(objective="way").item() == motion.objectives["way"]
        assert data.parameter_value.sel(parameter="u[1]").item() == 0.6
        np.testing.assert_array_equal(data.kinetic_energy, motion.energies.kinetic)
        assert data.attrs["title"] == "Crank → slider" and data.attrs["status"] == 0
        assert data.time.attrs["units"] == "s" and data.marker_velocity.attrs["units"] == "m/s"
        assert all("long_name" in data[name].attrs for name in data.variables)
        assert kg.Model.from_yaml_text(str(data.model.values)) == motion.system.model


def test_models_without_rows_objectives_or_parameters(tmp_path):
    model = kg.Model(
        ground={"markers": {"O": (0, 0, 0)}},
        bodies={"bob": kg.Body(mass=1, com=(1, 0, 0), markers={"O": (0, 0, 0)})},
        joints={"hinge": kg.Revolute(between=("ground.O", "bob.O"), axis=(0, 0, 1))},
        forces={"gravity": kg.Gravity(acceleration=(0, -9.81, 0))},
        degrees_of_freedom={"hinge.angle": kg.Freedom(position=0)},
    )
    motion = kg.simulate(kg.joint(model), t_end=0.1, step=0.01)
    loaded = kg.load(motion.save(tmp_path / "bob.nc"))
    np.testing.assert_array_equal(loaded.q, motion.q)
    assert loaded.lam.shape == (11, 0) and loaded.objectives == {} and loaded.system.m == 0


def test_a_model_text_larger_than_an_attribute_may_be(tmp_path):
    """HDF5 holds at most 64 KiB in an attribute."""
    model = kg.Model.from_yaml_text(MODEL)
    model.parameters.update({f"spare_parameter_{k:05d}": k / 7 for k in range(3000)})
    assert len(model.to_yaml()) > 2**16
    motion = kg.simulate(kg.joint(model), t_end=0.01)
    loaded = kg.load(motion.save(tmp_path / "large.nc"))
    assert loaded.system.model == model


def test_a_file_is_replaced_only_by_a_complete_one(motion, saved, monkeypatch):
    before = saved.read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kinegrad.results._write", fails)
    with pytest.raises(kg.KinegradError, match="No space left on device"):
        motion.save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_paths_that_cannot_be_written(motion, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path, tmp_path / "missing" / "m.nc", loop, tmp_path / ("x" * 300), tmp_path / "null\0"):
        with pytest.raises(kg.KinegradError, match="cannot be written"):
            motion.save(path)
    assert list(tmp_path.iterdir()) == [loop]


def test_a_link_keeps_leading_to_the_file(motion, tmp_path):
    target, link = tmp_path / "target.nc", tmp_path / "link.nc"
    link.symlink_to(target)
    assert motion.save(link) == target
    assert link.is_symlink() and kg.load(link).t[-1] == motion.t[-1]


def test_files_that_are_no_results(saved, tmp_path):
    text = tmp_path / "text.nc"
    text.write_text("no HDF5")
    other = tmp_path / "other.nc"
    h5py.File(other, "w").close()
    cut = tmp_path / "cut.nc"
    cut.write_bytes(saved.read_bytes()[:5000])
    for path in (text, other, cut, tmp_path, tmp_path / "missing.nc"):
        with pytest.raises(kg.KinegradError) as error:
            kg.load(path)
        assert path.name in str(error.value) and len(error.value.problems) == 1


@pytest.mark.parametrize("name", ["model", "state_value", "time", "parameter_value", "step_size", "slot_value"])
def test_results_with_a_part_missing(saved, name):
    with h5py.File(saved, "a") as file:
        del file[name]
    with pytest.raises(kg.KinegradError, match=r"motion\.nc"):
        kg.load(saved)


def test_results_of_other_versions(saved):
    with h5py.File(saved, "a") as file:
        file.attrs["fingerprint"] = "0" * 16
    with pytest.raises(kg.KinegradError, match="another way"):
        kg.load(saved)
    with h5py.File(saved, "a") as file:
        file.attrs["format"] = 99
    with pytest.raises(kg.KinegradError, match="format 99"):
        kg.load(saved)


@pytest.mark.parametrize("integrator", [kg.Newmark(), kg.RungeKutta4()], ids=lambda integrator: integrator.type)
def test_other_schemes_come_back_with_their_own_states(motion, tmp_path, integrator):
    run = kg.simulate(motion.system, kg.MatrixR(tolerance=1e-11), integrator)
    loaded = kg.load(run.save(tmp_path / "run.nc"))
    assert (loaded.formulation, loaded.integrator) == (run.formulation, run.integrator)
    np.testing.assert_array_equal(loaded.qdd, run.qdd)
    found, expected = (kg.gradient(m, wrt=["L"], method="discrete-adjoint").matrix for m in (loaded, run))
    np.testing.assert_array_equal(found, expected)
