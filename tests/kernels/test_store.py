"""Kept code: whatever happens to the folder, processes get the right numbers, and at most a sentence."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from mini_package import HELPER, USE, finished, notices

RIGHT = "6.0 7.0 True"
BOTH = ["the mini package", "a C function"]
# in a process of its own: the folder of the cache cannot be written, whoever runs the tests
READ_ONLY = "from mini import folders as f; w = f._writable; f._writable = lambda p: 'cache' not in p.parts and w(p)\n"


def test_quiet_and_a_temporary_cache_when_the_folder_cannot_be_written(mini):
    (mini.folder / "file").touch()
    show = USE + "; from mini import folders; print(folders.cache_folder())"
    variables = {"NUMBA_CACHE_DIR": str(mini.folder / "file" / "cache"), "TMPDIR": str(mini.folder)}
    out, err = mini.run(show, KINEGRAD_QUIET="1", **variables)
    first, folder = out.splitlines()
    assert (first, err) == (RIGHT, "")
    assert Path(folder).is_relative_to(mini.folder)
    assert len([*Path(folder).glob("*.o")]) == 3


def test_default_folder_is_the_users_cache(mini):
    show = "from mini import folders; print(folders.cache_folder())"
    out, _ = mini.run(show, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(mini.folder / "xdg"))
    assert re.fullmatch(r"kinegrad-[0-9a-f]{16}", Path(out).name)
    assert Path(out).parent == mini.folder / "xdg" / "kinegrad"


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-100], lambda code: b"", lambda code: code[:200] + b"x" + code[201:]]
)
def test_a_damaged_file_is_compiled_anew(mini, damage):
    mini.run()
    for path in mini.cache.rglob("*.o"):
        path.write_bytes(damage(path.read_bytes()))
    out, err = mini.run()
    assert out == RIGHT
    assert notices(err) == BOTH
    assert mini.run() == (RIGHT, "")


def test_object_files_under_each_others_names_are_compiled_anew(mini):
    mini.run()
    one, two = sorted(mini.cache.rglob("*main.run*.o"))
    code = one.read_bytes()
    shutil.copy(two, one)
    two.write_bytes(code)
    out, err = mini.run()
    assert out == RIGHT
    assert notices(err) == BOTH[:1]
    assert mini.run() == (RIGHT, "")


def test_code_of_a_foreign_folder_is_compiled_anew(mini):
    """Another version's folder under this one's name, as when caches are copied between machines."""
    mini.run()
    (older,) = mini.cache.iterdir()
    mini.write("helper", HELPER.replace("2.0", "5.0"))
    mini.run()
    (newer,) = set(mini.cache.iterdir()) - {older}
    shutil.rmtree(newer)
    older.rename(newer)
    out, err = mini.run()
    assert out == "15.0 16.0 True"
    assert notices(err) == BOTH


def test_a_folder_deleted_meanwhile_is_made_again(mini):
    out, err = mini.run(
        "from mini.main import *; import shutil; from mini.folders import cache_folder\n"
        "print(run(3.0)); shutil.rmtree(cache_folder().parent); print(run_again(3.0), nothing.address > 0)"
    )
    assert out == "6.0\n7.0 True"
    assert len([*mini.cache.rglob("*.o")]) == 2
    assert notices(mini.run()[1]) == BOTH[:1]


def test_a_folder_that_cannot_be_written_is_still_read(mini):
    mini.run()
    count = "import mini.folders; print(len([*mini.folders.cache_folder().glob('*.o')]))"
    out, err = mini.run(f"{READ_ONLY}{USE}\n{count}", TMPDIR=str(mini.folder))
    assert (out, err) == (f"{RIGHT}\n0", "")
    next(mini.cache.rglob("*nothing*.o")).unlink()
    out, err = mini.run(f"{READ_ONLY}{USE}\n{count}", TMPDIR=str(mini.folder))
    assert out == f"{RIGHT}\n1"
    compiling, elsewhere = err.splitlines()
    assert notices(compiling) == BOTH[1:]
    assert elsewhere == (
        f"kinegrad: {mini.cache} cannot be written to keep compiled code, so it goes to {mini.folder}/kinegrad-{os.getuid()}; "
        "set NUMBA_CACHE_DIR to a folder you can write"
    )


def test_without_any_folder_code_is_compiled_and_not_kept(mini):
    nowhere = (
        "import tempfile; tempfile.tempdir = '/nowhere'\nfrom mini import folders as f; f._writable = lambda p: False\n"
    )
    out, err = mini.run(nowhere + USE)
    assert out == RIGHT
    assert notices(err) == BOTH
    assert len(err.splitlines()) == 3
    assert "compiled in every process" in err


def test_a_full_disk_leaves_no_half_files(mini):
    full = "import os\ndef full(*_): raise OSError(28, 'no space')\nos.replace = full\n"
    assert mini.run(full + USE)[0] == RIGHT
    (folder,) = mini.cache.iterdir()
    assert [path.name for path in folder.iterdir()] == ["turns"]


def test_eight_processes_at_once_compile_each_function_once(mini):
    count = (
        "from mini import compiler; made = compiler.machine_code; done = []\n"
        "compiler.machine_code = lambda *a, **k: (done.append(1), made(*a, **k))[1]\n"
    )
    outputs = [finished(p) for p in [mini.start(f"{count}{USE}; print(len(done))") for _ in range(8)]]
    assert {out.splitlines()[0] for out, _ in outputs} == {RIGHT}
    assert sum(int(out.splitlines()[1]) for out, _ in outputs) == 3
    for _, err in outputs:
        lines = err.splitlines()
        assert len(lines) == len(set(lines))
        assert all(re.match("kinegrad: (compiling|another process compiles) (the mini|a C)", line) for line in lines)


def test_a_process_that_holds_its_turn_for_too_long_is_not_waited_for(mini):
    out, err = mini.run(
        "from mini import store; store._LONGEST_WAIT = 0.05; import os, sys\n"
        "with store.turn('name', lambda: None):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        told = []\n"
        "        with store.turn('other', lambda: told.append(1)): pass\n"
        "        assert not told\n"
        "        with store.turn('name', lambda: told.append(1)): print(len(told) > 0, flush=True)\n"
        "        os._exit(0)\n"
        "    print(os.waitpid(child, 0)[1])"
    )
    assert out == "True\n0"


def test_folders_are_kept_while_they_are_used(mini):
    now, day = time.time(), 86400
    used = {f"kinegrad-{k:016x}": now - age * day for k, age in enumerate((0.1, 1, 2, 5, 30, 89, 91, 400))}
    for name, at in used.items():
        (mini.cache / name).mkdir(parents=True)
        os.utime(mini.cache / name, (at, at))
    (mini.cache / "kinegrad-notes").mkdir()
    os.utime(mini.cache / "kinegrad-notes", (0, 0))
    mini.run()
    own = {path.name for path in mini.cache.iterdir()} - used.keys() - {"kinegrad-notes"}
    assert len(own) == 1
    assert {path.name for path in mini.cache.iterdir()} == own | {"kinegrad-notes"} | set([*used][:6])

    for name in [*used][:3]:
        (mini.cache / name / "f.o").write_bytes(bytes(1_000_000))
        os.utime(mini.cache / name, (used[name], used[name]))
    mini.write("helper", HELPER + "\n")
    mini.run("from mini import folders; folders._BYTES_KEPT = 2_500_000; folders.remove_unused_folders()")
    assert all((mini.cache / name).exists() for name in [*used][:2])
    assert not any((mini.cache / name).exists() for name in [*used][2:])
    assert (mini.cache / "kinegrad-notes").exists()
