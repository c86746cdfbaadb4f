"""Ctrl-C: exit code 130, and with --out the motion so far is saved."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.status import INTERRUPTED


def interruptible():
    """A process started in the background of a shell ignores interrupts; this one shall not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class InterruptsAt:
    """A function of progress that presses Ctrl-C once so much is done."""

    def __init__(self, fraction: float):
        self.fraction = fraction

    def __call__(self, done: float) -> None:
        if done >= self.fraction:
            self.fraction = 2.0
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def listening():
    """The usual reaction to Ctrl-C, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "options", [{}, {"output_step": 0.01}, {"integrator": kg.RungeKutta54(tolerance=1e-12)}], ids=str
)
def test_what_was_done_comes_with_the_interrupt(pendulum, listening, options):
    system = kg.joint(kg.Model.from_yaml(pendulum()))
    scheme = {"formulation": "recursive"} if "integrator" in options else {}
    whole = kg.simulate(system, t_end=20.0, **scheme, **options)
    with pytest.raises(KeyboardInterrupt) as error:
        kg.simulate(system, t_end=20.0, **scheme, **options, progress=InterruptsAt(0.3))
    motion = error.value.motion
    count = len(motion.t)
    assert 6.0 <= motion.t[-1] < 20.0 and motion.status == INTERRUPTED
    np.testing.assert_array_equal(motion.traj, whole.traj[:count])
    assert len(motion.hs) < len(whole.hs)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_ends_at_once(listening):
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.came
        os.kill(os.getpid(), signal.SIGINT)


def test_other_listeners_and_threads_are_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
        assert heard == [1] and not interrupts.came
        thread = threading.Thread(target=lambda: Interrupts().__enter__())
        thread.start()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


PROGRAM = """\
import os, signal, sys
import kinegrad.cli.progress as progress

class Presses(progress.Progress):
    def __call__(self, fraction):
        if fraction > 0.2:
            os.kill(os.getpid(), signal.SIGINT)

progress.Progress = Presses
from kinegrad.cli import main
main()
"""


@pytest.mark.parametrize("out", [True, False])
def test_the_command_saves_what_was_done(pendulum, tmp_path, out):
    path = tmp_path / "m.nc"
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "run",
        str(pendulum()),
        "--t-end",
        "10",
        *(["--out", str(path)] if out else []),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=interruptible, env=os.environ | {"KINEGRAD_QUIET": "1"}
    )
    assert (done.returncode, done.stdout) == (130, "")
    if not out:
        assert done.stderr == "stopped.\n"
        return
    motion = kg.load(path)
    assert 2.0 < motion.t[-1] < 10.0 and motion.status == INTERRUPTED
    assert done.stderr == f"stopped at t = {motion.t[-1]:.6g} s. The motion up to then is in {str(path)!r}.\n"


def test_an_interrupt_while_the_motion_is_written(pendulum, tmp_path):
    """It is written to the end."""
    path = tmp_path / "m.nc"
    program = """\
import os, signal
import kinegrad.checksum as checksum
append = checksum.append
checksum.append = lambda path: (os.kill(os.getpid(), signal.SIGINT), append(path))
from kinegrad.cli import main
main()
"""
    command = [sys.executable, "-c", program, "run", str(pendulum()), "--out", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=interruptible, env=os.environ | {"KINEGRAD_QUIET": "1"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"stopped. The motion is in {str(path)!r}.\n")
    assert kg.load(path).t[-1] == pytest.approx(0.5)
