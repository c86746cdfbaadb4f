"""Signals in tables and files, of motions, given ones and positions; on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from signal_models import MODEL

import kinegrad as kg
from kinegrad.cli import main

SOME = ("strut.force", "pin.angle", "drum.rotation.z", "hinge.reaction.force.x", "feed.force", "work", "tension")


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)), t_end=0.02)


def the_same(one, other):
    assert_array_equal(other.t, one.t)
    assert_array_equal(other.signals(*SOME).values, one.signals(*SOME).values)


@pytest.mark.parametrize("kind", ["joint", "reference-point", "natural"])
def test_saved_is_loaded(motion, kind, tmp_path):
    """A motion, and one that was converted; xarray finds each signal by its name, with its unit."""
    xarray = pytest.importorskip("xarray")
    one = motion if kind == "joint" else motion.in_coordinates(kind)
    one.save(tmp_path / "m.nc", signals=SOME)
    the_same(one, kg.load(tmp_path / "m.nc"))
    with xarray.open_dataset(tmp_path / "m.nc", engine="h5netcdf") as data:
        for name, values in one.signals(*SOME).items():
            assert_array_equal(data[name], values)
            assert data[name].attrs.get("units", "") == one.catalogue[name].unit


def test_given_and_still(motion, tmp_path):
    free = kg.simulate(kg.joint(kg.Model.from_yaml_text(PENDULUM)), t_end=0.02)
    given = kg.inverse(free.system, t=free.t, q=free.q, qd=free.qd, qdd=free.qdd).motion
    assert_array_equal(given["strut.force"], free["strut.force"])
    for found in (given, kg.equilibrium(free.system).motion, kg.assemble(free.system).motion):
        found.save(tmp_path / "m.nc", signals="all")
        assert_array_equal(kg.load(tmp_path / "m.nc").signals().values, found.signals().values)
    rest = kg.equilibrium(free.system)
    assert rest["strut.force"] == rest.signals("strut.force")["strut.force"]
    assert kg.assemble(free.system)["arm.B.position"].shape == (3,)


def test_the_unit_of_what_reads_a_table_is_that_of_the_rest():
    model = kg.Model.from_yaml_text(PENDULUM + "tables: {rise: {x: [0, 1, 2], y: [0, 1, 3], outside: hold}}\n")
    document = model.to_dict()
    document["objectives"] = {
        "gap": {"final": "table(t, rise) + arm.B.x"},
        "scaled": {"final": "abs(table(t, rise))"},
    }
    signals = kg.Model.from_dict(document).signals
    assert (signals["gap"].unit, signals["scaled"].unit) == ("m", "")


def test_tables(motion):
    pytest.importorskip("pandas")
    table = motion.to_dataframe(signals=["strut.force", "camber"])
    assert list(table) == ["strut.force", "camber"] and table.attrs["units"] == {
        "time": "s",
        "strut.force": "N",
        "camber": "rad",
    }
    assert_array_equal(table["strut.force"], motion["strut.force"])
    table = motion.to_dataframe("rod.b", "strut.power")
    assert "rod.b.x" in table and table.attrs["units"]["strut.power"] == "W"


PENDULUM = """
kinegrad: 1
title: Arm
ground: {markers: {O: [0, 0, 0], Q: [0.4, -0.3, 0]}}
bodies:
  arm: {mass: 2, com: [0.3, 0, 0], inertia: [0, 0.06, 0.06], markers: {O: [0, 0, 0], B: [0.6, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  strut: {type: spring, between: [ground.Q, arm.B], stiffness: 200, natural_length: 0.5}
degrees_of_freedom: {hinge.angle: {position: 0.3}}
simulation: {t_end: 0.01}
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(PENDULUM)
    return path


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main([str(argument) for argument in arguments])
    return exit.value.code, *capsys.readouterr()


def test_list(arm, capsys):
    code, out, _ = command(capsys, "signals", arm, "--json")
    found = json.loads(out)["signals"]
    assert code == 0 and list(found) == list(kg.Model.from_yaml_text(PENDULUM).signals)
    assert found["strut.force"] == {
        "unit": "N", "dimension": "force", "group": "force", "owner": "strut", "use": "objective",
        "meaning": "Force of spring and damper, positive in tension.",
    }  # fmt: skip
    code, out, _ = command(capsys, "signals", arm)
    assert code == 0 and "hinge.reaction.force.norm" in out


def test_run(arm, capsys, tmp_path):
    text = "strut.force, hinge.angle; arm.B.velocity.x"
    code, out, _ = command(
        capsys, "run", arm, "--signals", text, "--json", "--plot", tmp_path / "a.png", "--out", tmp_path / "a.nc"
    )
    found = json.loads(out)["signals"]
    motion = kg.load(tmp_path / "a.nc")
    assert code == 0 and list(found) == ["strut.force", "hinge.angle", "arm.B.x.velocity"]
    x = motion["strut.force"]
    assert found["strut.force"] == {"unit": "N", "final": x[-1], "min": x.min(), "max": x.max()}
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = command(capsys, "run", arm, "--signals", "all")
    assert code == 0 and "angular_momentum.norm" in out


def test_equilibrium(arm, capsys):
    code, out, _ = command(capsys, "equilibrium", arm, "--signals", "strut.force", "--json")
    found = json.loads(out)["signals"]["strut.force"]
    assert code == 0 and found["final"] == found["min"] == found["max"]
    assert np.isclose(
        found["final"], kg.equilibrium(kg.joint(kg.Model.from_yaml_text(PENDULUM)))["strut.force"], rtol=1e-14
    )


@pytest.mark.parametrize("verb", ["run", "equilibrium"])
def test_no_such_signal(arm, capsys, verb):
    code, out, err = command(capsys, verb, arm, "--signals", "strut.forse")
    assert code == 2 and out == ""
    assert err.strip() == "There is no signal 'strut.forse'; the nearest are strut.force, strut.rate, strut.power."
    code, out, err = command(capsys, verb, arm, "--signals", " ;, ")
    assert code == 2 and "No signal is named" in err
