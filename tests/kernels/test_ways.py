"""Where the compiler cannot be set up, Numba's own takes over, and a sentence tells the versions."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from mini_package import USE

from kinegrad.kernels.compiler import versions
from kinegrad.kernels.folders import installed

RIGHT = "6.0 7.0 True"
TOLD = re.escape(f"Numba {installed('numba')} (tried: {', '.join(versions.TRIED)})")
REMEDY = re.escape(versions.remedy())

MORE = """
from typing import NamedTuple
import numpy as np
from mini.jit import cfunction, entry, inlined, intrinsic, kernel

class Pair(NamedTuple):
    x: np.ndarray
    k: int

view, call = intrinsic("view", 0, np.dtype("f8"), 2, 4), intrinsic("call")
load, store, lane = intrinsic("load_lanes", 4), intrinsic("store_lanes", 4), intrinsic("lane")

@inlined
def halves(x):
    return 0.5 * x, x - 0.5 * x

@cfunction
def doubled(ctx):
    A = view(ctx)
    for i in range(A.shape[0]):
        store(A, i, 0, 2.0 * load(A, i, 0) + load(A, i, 1) - load(A, i, 1) * 1.0)

@entry
def everything(functions, ctx, pair, flag, h):
    call(functions[pair.k], ctx)
    a, b = halves(pair.x[pair.k])
    pair.x[0] = h
    return pair.x.shape[0] if flag else 0, a + b, lane(load(view(ctx), 1, 0), 3), flag

A, x = np.arange(10.0).reshape(2, 5), np.array([3.0, 5.0])
x.flags.writeable = False
words = np.array([A.ctypes.data, 2, 5, 0])
functions = np.array([0, doubled.address])
"""
USE_MORE = "from mini.helper import *; print(everything(functions, words.ctypes.data, Pair(x, 1), True, 0.5), A.tolist(), x[0])"


def without(name: str) -> str:
    """The start of a program in which a name of Numba, or of LLVM's binding, is gone."""
    module = name.rpartition(".")[0]
    return f"import {module}\ndel {name}\n"


@pytest.mark.parametrize(
    "name",
    [
        "numba.core.ssa.reconstruct_ssa",
        "numba.core.typed_passes.PreLowerStripPhis",
        "llvmlite.binding.ObjectFileRef",  # missed only when the code is loaded
    ],
)
def test_the_plain_way_takes_over_where_a_name_is_gone(mini, name):
    for _ in range(2):
        out, err = mini.run(without(name) + USE)
        assert out == RIGHT
        (sentence,) = [line for line in err.splitlines() if "compiling" not in line]
        assert re.fullmatch(
            rf"kinegrad: the compiler is not set up with {TOLD}: .*{name.rpartition('.')[2]}.*\. Numba's own takes over, .*; "
            rf"better: {REMEDY}",
            sentence,
        )
        assert "in this process alone" in err
    assert not [*mini.cache.rglob("*.o")]


def test_where_numba_itself_fails_a_sentence_is_left(mini):
    """Without a method that every way needs."""
    out, _ = mini.run(
        "import numba.core.codegen as c; del c.CPUCodeLibrary.add_ir_module\nfrom mini.errors import KinegradError\n"
        f"try: {USE}\nexcept KinegradError as error: print(error)"
    )
    assert re.fullmatch(rf"{TOLD} cannot compile on this machine: .*\. Install another: {REMEDY}; or set .*\.", out)


def test_both_ways_give_the_same_for_all_that_kernels_use(mini):
    mini.write("helper", MORE)
    right = "(2, 5.0, 16.0, 1) [[0.0, 2.0, 4.0, 6.0, 4.0], [10.0, 12.0, 14.0, 16.0, 9.0]] 0.5"
    assert mini.run(USE_MORE)[0] == right
    out, err = mini.run(USE_MORE, KINEGRAD_COMPILER="plain")
    assert out == right
    assert "KINEGRAD_COMPILER=plain asks not to" in err


def test_a_fault_of_a_kernel_is_no_reason_for_the_plain_way(mini):
    mini.write("main", "from mini.jit import entry\n@entry\ndef run(x): return x.nothing\n")
    for asked in ("", "plain"):
        out, err = mini.run(
            "from mini.main import run; from mini import compiler\n"
            "try: run(1.0)\nexcept Exception as error: print('nothing' in str(error), compiler.way().__name__)",
            KINEGRAD_COMPILER=asked,
        )
        assert out == f"True mini.compiler.{asked or 'pipeline'}"


def test_an_untried_numba_is_told_and_used(mini):
    newer = (
        "from mini import folders; told = folders.installed\n"
        "folders.installed = lambda name: '0.99.1' if name == 'numba' else told(name)\n"
    )
    out, err = mini.run(newer + USE)
    assert out == RIGHT
    (sentence,) = [line for line in err.splitlines() if "compiling" not in line]
    tried = ", ".join(versions.TRIED)
    assert sentence == (
        f"kinegrad: Numba 0.99.1 (tried: {tried}) is new to kinegrad, and did a small trial well; if something fails: "
        f"{versions.remedy()}"
    )
    assert len([*mini.cache.rglob("*.o")]) == 3
    assert mini.run(newer + USE) == (RIGHT, "")

    out, err = mini.run(
        "import mini.compiler.probe as p; p.works = lambda _: False\n" + newer.replace("99.1", "60.0") + USE
    )
    assert out == RIGHT
    assert re.search(r"Numba 0\.60\.0 \(tried: .*\): a small trial failed\. Numba's own takes over", err)


def test_a_numba_that_cannot_be_imported_is_a_sentence(mini):
    out, _ = mini.run(
        "import sys; sys.modules['numba'] = None\nfrom mini.errors import KinegradError\n"
        f"try: {USE}\nexcept KinegradError as error: print(error)"
    )
    assert re.fullmatch(
        rf"{TOLD} cannot compile on this machine: ModuleNotFoundError, .*; or set NUMBA_DISABLE_JIT=1, .*", out
    )


def test_the_command_line_tells_it_and_ends_with_2(tmp_path):
    model = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
    source = f"import sys; sys.modules['numba'] = None; from kinegrad.cli import main; main(['run', {str(model)!r}])"
    env = {k: v for k, v in os.environ.items() if not k.startswith("KINEGRAD_") and k != "NUMBA_DISABLE_JIT"}
    env["NUMBA_CACHE_DIR"] = str(tmp_path)
    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"{TOLD} cannot compile on this machine: .*\n", done.stderr)


def test_a_compiler_that_does_not_exist_is_refused(mini):
    out, _ = mini.run(f"try: {USE}\nexcept Exception as error: print(error)", KINEGRAD_COMPILER="planar")
    assert out == "KINEGRAD_COMPILER is 'planar'; set it to 'plain' for Numba's own compiler, or leave it out."


def test_the_bounds_of_the_package_are_the_versions_tried():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (bounds,) = [text for text in project["dependencies"] if text.startswith("numba>")]
    assert f"pip install '{bounds}'" == versions.remedy()
    assert list(versions.TRIED) == sorted(versions.TRIED, key=lambda v: [int(k) for k in v.split(".")])
    assert versions.is_tried()
