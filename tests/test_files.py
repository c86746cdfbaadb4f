"""Files that are written: whole or not at all, and nothing that was there is destroyed."""

import os
import resource
import subprocess
import sys
import threading

import pytest

import kinegrad as kg
from kinegrad import files
from kinegrad.errors import KinegradError
from kinegrad.files import check_writable, complete

MODEL = """\
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies: {bob: {mass: 1, com: [1, 0, 0], inertia: [0, 1, 1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, bob.O], axis: [0, 0, 1]}}
degrees_of_freedom: {hinge.angle: {position: 0, velocity: 1}}
simulation: {t_end: 0.1, step: 0.01}
"""


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))


def write(path, text="new"):
    with complete(path) as part:
        part.write_text(text)


def test_a_new_file_and_one_that_is_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write(path, "first")
    path.chmod(0o640)
    before = path.stat()
    write(path, "second")
    assert path.read_text() == "second" and list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode == before.st_mode and path.stat().st_ino != before.st_ino


def test_rights_of_a_new_file_are_those_of_any_other(tmp_path):
    write(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text("")
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("no"), KeyboardInterrupt()])
def test_what_was_there_stays_when_writing_fails(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("older")
    expected = KinegradError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected), complete(path) as part:
        part.write_text("half")
        raise error
    assert path.read_text() == "older" and list(tmp_path.iterdir()) == [path]


def test_the_longest_name_there_is(tmp_path):
    path = tmp_path / ("x" * 255)
    assert check_writable(path) == path
    write(path)
    assert path.read_text() == "new"


def test_links_are_written_through(tmp_path):
    target, soft, hard, nowhere = (tmp_path / name for name in ("target", "soft", "hard", "nowhere"))
    target.write_text("a longer text that was there before")
    soft.symlink_to(target)
    hard.hardlink_to(target)
    nowhere.symlink_to(tmp_path / "made")
    inode = target.stat().st_ino
    for path in (soft, hard, target):
        write(path, path.name)
        assert target.read_text() == hard.read_text() == soft.read_text() == path.name
    assert soft.is_symlink() and target.stat().st_ino == hard.stat().st_ino == inode
    write(nowhere)
    assert nowhere.is_symlink() and (tmp_path / "made").read_text() == "new"


def test_devices_are_written_through(motion):
    device = os.stat("/dev/null").st_rdev
    check_writable("/dev/null")
    motion.save("/dev/null")
    assert os.stat("/dev/null").st_rdev == device
    with pytest.raises(KinegradError, match="'/dev/full' cannot be written: No space left on device"):
        motion.save("/dev/full")


def test_pipes_are_written_through(motion, tmp_path):
    """The reader gets the whole file, and sees its end once, though the pipe was looked at before."""
    pipe, read = tmp_path / "pipe.nc", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert check_writable(pipe) == pipe
    motion.save(pipe)
    reader.join(30)
    (tmp_path / "copy.nc").write_bytes(read[0])
    assert kg.load(tmp_path / "copy.nc").t[-1] == motion.t[-1]
    assert pipe.is_fifo() and sorted(tmp_path.iterdir()) == [tmp_path / "copy.nc", pipe]


def test_a_pipe_that_nobody_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.0)
    os.mkfifo(tmp_path / "pipe")
    for act in (check_writable, write):
        with pytest.raises(KinegradError, match="nobody reads from this pipe"):
            act(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_is_read_only(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("older")
    path.chmod(0o444)
    with pytest.raises(KinegradError, match="Permission denied"):
        check_writable(path)
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    write(path)  # the folder takes no new files, and the file may be written
    with pytest.raises(KinegradError, match="Permission denied"):
        check_writable(tmp_path / "b.txt")
    tmp_path.chmod(0o755)
    assert path.read_text() == "new"


FULL = """\
import resource, sys
import kinegrad as kg
motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(sys.argv[1])))
motion.save("/dev/null")  # compiles, or loads, what it needs
import matplotlib.font_manager
{before}
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
try:
    {act}
except kg.KinegradError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("size", [0, 1000, 20_000, 60_000])
def test_a_disk_that_runs_full_under_hdf5(tmp_path, size):
    """A limit on the size of files stands for the disk: the sentence, no crash, no words of HDF5, the older file."""
    path = tmp_path / "m.nc"
    path.write_text("older")
    program = FULL.format(before="", size=size, act=f"motion.save({str(path)!r})")
    done = subprocess.run([sys.executable, "-c", program, MODEL], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == f"{str(path)!r} cannot be written: File too large; name another file.\n"
    assert path.read_text() == "older" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("m.png", "motion.plot(path=path)"),
        ("m.pdf", "motion.plot(path=path)"),
        ("m.svg", "motion.plot(path=path)"),
        ("m.html", "motion.to_html(path)"),
        ("m.yaml", "motion.system.model.to_yaml(path)"),
    ],
)
def test_a_disk_that_runs_full_under_other_files(tmp_path, name, act):
    path = tmp_path / name
    path.write_text("older")
    program = FULL.format(before=f"path = {str(path)!r}", size=100, act=act)
    done = subprocess.run([sys.executable, "-c", program, MODEL], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == f"{str(path)!r} cannot be written: File too large; name another file.\n"
    assert path.read_text() == "older" and list(tmp_path.iterdir()) == [path]


def test_limits_do_not_reach_this_process():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


LEAVES = """\
import os, signal, sys
from pathlib import Path
from kinegrad.files import complete
with complete(Path(sys.argv[1])) as part:
    part.write_text("half")
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print(part.name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def unseen(monkeypatch):
    """Folders in which nothing was looked for."""
    monkeypatch.setattr(files, "_looked_at", set())


def test_what_a_killed_process_left_is_removed_by_the_next_one_that_writes_there(tmp_path, unseen):
    command = [sys.executable, "-c", LEAVES, str(tmp_path / "a.txt")]
    subprocess.run([*command, "die"])
    (left,) = tmp_path.iterdir()
    with subprocess.Popen([*command, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writing:
        held = tmp_path / writing.stdout.readline().strip()
        assert not left.exists()
        write(tmp_path / "b.txt")
        assert held.read_text() == "half" and sorted(tmp_path.iterdir()) == sorted([held, tmp_path / "b.txt"])
        writing.stdin.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_parts_of_others_stay(tmp_path, unseen):
    """Of another host, of a live process of an older version, and what only looks alike; those of the dead go."""
    stay = [
        "kinegrad-1-00000000-01234567.part", f"kinegrad-{os.getpid()}-01234567.part", "kinegrad-x-01234567.part",
        "kinegrad-999999999-01234567.part.txt",
    ]  # fmt: skip
    go = [
        "kinegrad-999999999-01234567.part",
        f"kinegrad-{os.getpid()}-{files.HOST}-01234567.part",
    ]  # a number used again
    for name in (*stay, *go):
        (tmp_path / name).write_text("half")
    (tmp_path / "kinegrad-999999998-01234567.part").symlink_to(tmp_path / "kinegrad-x-01234567.part")
    (tmp_path / "kinegrad-999999997-01234567.part").mkdir()
    write(tmp_path / "a.txt")
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {*stay, "a.txt", "kinegrad-999999998-01234567.part", "kinegrad-999999997-01234567.part"}
