"""Memory is looked for before it is used: a sentence with the remedy, not a process that the system ends."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kinegrad as kg
from kinegrad import memory

MODEL = """\
kinegrad: 1
parameters: {m: 1}
design: [m]
ground: {markers: {O: [0, 0, 0]}}
bodies: {bar: {mass: m, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0], markers: {O: [0, 0, 0], P: [0, 0, -1]}}}
joints: {j: {type: revolute, between: [ground.O, bar.O], axis: [0, 1, 0]}}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
{freedoms}
objectives: {o: {final: bar.P.x}}
simulation: {t_end: 1000, step: 1.0e-6}
"""
FREE = MODEL.replace("{freedoms}", "degrees_of_freedom: {j.angle: {position: 0.1}}")
DRIVEN = MODEL.replace("{freedoms}", "drivers: {d: {measure: j.angle, value: sin(t)}}")


@pytest.fixture
def system():
    return kg.joint(kg.Model.from_yaml_text(FREE))


@pytest.fixture
def machine(monkeypatch):
    """A machine with so much memory."""
    return lambda size: monkeypatch.setattr(memory, "available", lambda: size)


def test_what_is_free_is_known():
    found = memory.available()
    assert 1e7 < found < 1e14
    memory.require(1e6, "A little", "do less")
    with pytest.raises(
        kg.KinegradError, match=r"^All of it takes about 1000000000 GB of memory, and .* are free; do less.$"
    ):
        memory.require(1e18, "All of it", "do less")


def test_numbers_of_the_sentence(machine):
    machine(12.3e9)
    with pytest.raises(kg.KinegradError) as error:
        memory.require(80e9, "Keeping this", "keep less")
    assert str(error.value) == "Keeping this takes about 80 GB of memory, and 12 GB are free; keep less."
    memory.require(12e9, "Keeping this", "keep less")
    machine(None)  # nobody tells
    memory.require(1e18, "Keeping this", "keep less")


def test_all_states_of_a_long_run(system, machine):
    """A thousand million states of 17 numbers are 136 GB; every hundredth is a tenth of 10 GB."""
    machine(10e9)
    with pytest.raises(kg.KinegradError) as error:
        kg.simulate(system)
    assert str(error.value) == (
        "Keeping 1000000001 states takes about 136 GB of memory, and 10 GB are free; keep fewer, by an output_step "
        "(--output-step) such as 0.0001 s."
    )
    with pytest.raises(kg.KinegradError, match="Keeping 500000001 states"):
        kg.simulate(system, output_step=2e-6)
    assert len(kg.simulate(system, t_end=1e-3, output_step=1e-4).t) == 11


def test_a_gradient_takes_what_there_is(system, machine, monkeypatch):
    """Half of what is free, and then pieces; the sentence tells when nothing helps."""
    motion = kg.simulate(system, t_end=2.0, step=1e-3)
    monkeypatch.setattr(memory, "LARGE", 0.0)
    machine(1e5)
    assert kg.gradient(motion, method="adjoint").runs == 2.0
    with pytest.raises(kg.KinegradError, match=r"A gradient of 2000 steps in 1 kB of memory .* allow .* kB or more"):
        kg.gradient(motion, method="adjoint", memory=1e-3)


def test_the_command_for_gradients_refuses_before_the_run(tmp_path, capsys, machine):
    from kinegrad.cli import main

    machine(10e9)
    path = tmp_path / "m.yaml"
    path.write_text(FREE)
    with pytest.raises(SystemExit) as exit:
        main(["gradient", str(path)])
    said = capsys.readouterr()
    assert (exit.value.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "keep fewer, by an output_step" in said.err


def test_the_command_for_gradients_does_runs_again(tmp_path, capsys):
    from kinegrad.cli import main

    path = tmp_path / "m.yaml"
    path.write_text(FREE)
    times = ["--t-end", "0.5", "--step", "0.001", "--output-step", "0.1", "--method", "adjoint"]
    with pytest.raises(SystemExit) as exit:
        main(["gradient", str(path), *times, "--memory", "0.003"])
    said = capsys.readouterr()
    assert exit.value.code == 0 and "the run was done 3 times again" in " ".join(said.out.split())


def test_motions_by_drivers(machine):
    machine(1e9)
    driven = kg.joint(kg.Model.from_yaml_text(DRIVEN))
    with pytest.raises(kg.KinegradError, match=r"Moving through 1000000000 steps takes about .* larger steps"):
        kg.drive(driven)
    assert len(kg.drive(driven, t_end=0.01, step=1e-3).t) == 11


def test_markers_and_steps_with_error_control(system, machine, monkeypatch):
    motion = kg.simulate(system, t_end=0.1, step=1e-3)
    long = kg.joint(kg.Model.from_yaml_text(FREE))
    machine(2e4)
    monkeypatch.setattr(memory, "LARGE", 0.0)
    with pytest.raises(kg.KinegradError, match=r"Keeping markers and energies of 101 states .* larger output_step"):
        motion.marker("bar.P")
    machine(1e5)
    with pytest.raises(kg.KinegradError, match=r"Keeping more than 256 states .* raise the tolerance"):
        kg.simulate(long, "recursive", kg.RungeKutta54(tolerance=1e-13), t_end=100.0)


def test_equations_of_a_large_model(system, machine, monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 0.0)
    machine(100.0)
    with pytest.raises(
        kg.KinegradError, match="Setting up the equations of 1 coordinates and 0 constraint rows takes about"
    ):
        system.workspace()


LIMITED = """\
import resource, sys
import kinegrad as kg
model = kg.Model.from_yaml_text(sys.argv[1])
kg.simulate(kg.joint(model), t_end=1e-3)
used = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")][0] * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000, used + 200_000_000))
try:
    kg.simulate(kg.joint(model), t_end=10.0)
except kg.KinegradError as error:
    print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="limits are compared with what this file tells")
def test_a_process_with_a_limit():
    done = subprocess.run([sys.executable, "-c", LIMITED, FREE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Keeping 10000001 states takes about 1.4 GB of memory, and ")
    free = float(done.stdout.split(", and ")[1].split()[0])
    assert 150 < free <= 200


def test_thinned_times_are_those_of_the_steps(system):
    for steps in (7, 10, 12):
        motion = kg.simulate(system, t_end=steps * 1e-3, step=1e-3, output_step=5e-3)
        expected = [*range(0, steps, 5), steps]
        np.testing.assert_allclose(motion.t, 1e-3 * np.array(expected), rtol=1e-14)
