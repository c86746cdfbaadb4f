"""Saved motions that were damaged, changed or made by somebody else: a sentence, never other numbers without a word."""

import json
import os
import random
import warnings

import h5py
import numpy as np
import pytest

import kinegrad as kg
from kinegrad import checksum, hdf5_probe
from kinegrad.errors import UncheckedFileWarning

MODEL = """\
kinegrad: 1
parameters: {m: 2}
ground: {markers: {O: [0, 0, 0]}}
bodies: {bob: {mass: m, com: [1, 0, 0], inertia: [0, 1, 1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, bob.O], axis: [0, 0, 1]}}
forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}, d: {type: torque, acts_on: hinge.angle, value: -hinge.angle.velocity}}
degrees_of_freedom: {hinge.angle: {position: 0, velocity: 1}}
objectives: {o: {final: bob.P.x}}
simulation: {t_end: 0.1, step: 0.01}
"""


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))


@pytest.fixture
def saved(motion, tmp_path):
    return motion.save(tmp_path / "motion.nc")


@pytest.fixture
def quick(monkeypatch):
    """Without a process for each file: nothing here hangs HDF5."""
    monkeypatch.setattr("kinegrad.results.comes_to_an_end", lambda path: True)


def refused(path) -> str:
    """The one sentence of a file that is not loaded."""
    with pytest.raises(kg.KinegradError) as error:
        kg.load(path)
    (problem,) = error.value.problems
    assert str(path) in problem.sentence and "\n" not in problem.sentence and problem.sentence.endswith(".")
    return problem.sentence


def test_every_damage_is_seen(saved):
    """Bits and bytes changed, blocks exchanged or lost: none of them is loaded."""
    data, rng = saved.read_bytes(), random.Random(1)
    assert kg.load(saved)
    for kind in ("bit", "byte", "swap", "zero") * 100:
        changed = bytearray(data)
        i, j = rng.randrange(len(data) - 64 - checksum.SIZE), rng.randrange(len(data) - 64)
        if kind == "bit":
            changed[j] ^= 1 << rng.randrange(8)
        elif kind == "byte":
            changed[j] = (changed[j] + rng.randrange(1, 256)) % 256
        elif kind == "swap":
            changed[i : i + 64], changed[j : j + 64] = changed[j : j + 64], changed[i : i + 64]
        else:
            changed[i : i + 64] = bytes(64)
        if changed != data:
            saved.write_bytes(changed)
            assert "is damaged: its checksum does not suit its contents" in refused(saved)


def test_a_file_that_was_cut_off(saved, quick):
    data = saved.read_bytes()
    for size in (0, 8, 100, 5000, len(data) // 2, len(data) - checksum.SIZE - 1):
        saved.write_bytes(data[:size])
        refused(saved)


def test_damaged_numbers_without_the_checksum(motion, saved, quick):
    """HDF5 checks each block of numbers for itself, also when another program reads them."""
    with h5py.File(saved) as file:
        names = [name for name, d in file.items() if d.dtype.kind == "f"]
        places = [file[name].id.get_chunk_info(0).byte_offset for name in names]
    assert {"q", "state_value", "time", "slot_value", "marker_position", "kinetic_energy"} <= set(names)
    data = saved.read_bytes()[: -checksum.SIZE]
    for name, place in zip(names, places, strict=True):
        changed = bytearray(data)
        changed[place + 3] ^= 4
        saved.write_bytes(changed)
        with h5py.File(saved) as file, pytest.raises(OSError):
            file[name][()]
    saved.write_bytes(data)
    with pytest.warns(UncheckedFileWarning, match="was changed after it was saved and has no checksum"):
        np.testing.assert_array_equal(kg.load(saved).traj, motion.traj)


def test_a_file_of_the_format_before(motion, saved):
    with h5py.File(saved, "a") as file:
        file.attrs["format"] = 2
    with pytest.warns(UncheckedFileWarning, match="older version and has no checksum") as found:
        loaded = kg.load(saved)
    assert len(found) == 1 and loaded.objectives == motion.objectives


def test_a_sound_file_is_loaded_without_a_word(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.load(saved)


def replaced(name, value, **options):
    def change(file):
        del file[name]
        file.create_dataset(name, data=value, **options)

    return change


def attribute(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


def group(file):
    del file["state_value"]
    file.create_group("state_value")


def link_elsewhere(file):
    del file["time"]
    file["time"] = h5py.ExternalLink("/dev/zero", "/time")


def stored_elsewhere(file):
    del file["time"]
    file.create_dataset("time", (11,), float, external=[("/dev/zero", 0, 88)])


def virtual(file):
    del file["time"]
    layout = h5py.VirtualLayout((11,), float)
    layout[:] = h5py.VirtualSource(".", "work", (11,))
    file.create_virtual_dataset("time", layout)


def claimed(file):
    for name in ("time", "state_value", "step_end", "step_size", "iterations", "flags"):
        del file[name]
        file.create_dataset(name, (10**12,), float)
    file.attrs["steps"] = 10**12 - 1


HOSTILE = {
    "text": replaced("state_value", [["a"] * 5] * 11, dtype=h5py.string_dtype()),
    "complex": replaced("state_value", np.ones((11, 5), complex)),
    "shape": replaced("state_value", np.ones((11, 4))),
    "times that do not increase": replaced("time", np.zeros(11)),
    "times that are no numbers": replaced("time", np.full(11, np.nan)),
    "a number for a list": replaced("time", 1.0),
    "slots that are infinite": lambda file: file["slot_value"].__setitem__(0, np.inf),
    "iterations that are no whole numbers": replaced("iterations", np.ones(10)),
    "group": group,
    "link to elsewhere": link_elsewhere,
    "numbers elsewhere": stored_elsewhere,
    "virtual": virtual,
    "more than there is": claimed,
    "model is a number": replaced("model", 1.0),
    "model is a list": replaced("model", ["a", "b"], dtype=h5py.string_dtype()),
    "model is no model": replaced("model", "kinegrad: 1\nbodies: {a: {mass: -1}, b: {mass: x}}", dtype=h5py.string_dtype()),
    "model of another mechanism": replaced("model", MODEL.replace("revolute", "screw"), dtype=h5py.string_dtype()),
    "no step": attribute("step", 0.0),
    "step is no number": attribute("step", np.nan),
    "step is tiny": lambda file: file.attrs.update(step=1e-300, stride=2),
    "steps below zero": attribute("steps", -1),
    "too many steps": attribute("steps", 2**63 - 1),
    "stride 0": attribute("stride", 0),
    "stride is a text": attribute("stride", "1"),
    "end is infinite": attribute("t_end", np.inf),
    "status without meaning": attribute("status", 77),
    "status is a list": attribute("status", [0, 0]),
    "deep JSON": attribute("coordinate_options", "[" * 10_000 + "]" * 10_000),
    "no JSON": attribute("formulation", "{"),
    "formulation is a list": attribute("formulation", "[]"),
    "formulation is unknown": attribute("formulation", json.dumps({"type": "magic"})),
    "integrator with other options": attribute("integrator", json.dumps({"type": "newmark", "speed": 3})),
    "options are a list": attribute("coordinate_options", "[]"),
    "cut is a number": attribute("coordinate_options", json.dumps({"cut": 3})),
    "other coordinates": attribute("coordinates", "magic"),
    "version is a list": attribute("format", [1, 2]),
    "version is a text": attribute("format", "3"),
    "fingerprint is a number": attribute("fingerprint", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_somebody_made(saved, quick, name):
    with h5py.File(saved, "a") as file:
        HOSTILE[name](file)
    checksum.append(saved)
    refused(saved)


def test_an_error_of_the_model_is_one_sentence(saved, quick):
    with h5py.File(saved, "a") as file:
        HOSTILE["model is no model"](file)
    assert "cannot be read as a result of kinegrad: " in refused(saved)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.nc")
    (tmp_path / "folder.nc").mkdir()
    for path in (tmp_path / "pipe.nc", tmp_path / "folder.nc", "/dev/zero", "/dev/null"):
        assert "it is not a file" in refused(path)
    assert "There is no file" in refused(tmp_path / "missing.nc")
    with pytest.raises(kg.KinegradError):
        kg.load("null\0")


def test_a_file_that_hdf5_does_not_come_to_an_end_with(saved, monkeypatch):
    """A process of its own reads a file without a checksum first: neither a hang nor a crash of it reaches this one."""
    saved.write_bytes(saved.read_bytes()[: -checksum.SIZE])
    assert hdf5_probe.comes_to_an_end(saved)
    for command in ("import time; time.sleep(60)", "import os; os.abort()"):
        program = saved.with_name("program.py")
        program.write_text(command)
        monkeypatch.setattr(hdf5_probe, "__file__", str(program))
        monkeypatch.setattr(hdf5_probe, "PATIENCE", 1.0)
        assert "does not come to an end" in refused(saved)
