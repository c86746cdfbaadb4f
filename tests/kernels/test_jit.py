import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mini_package import HELPER, NUMBA_IS_THERE, USE, notices
from numpy.testing import assert_allclose

from kinegrad.kernels import jit
from kinegrad.kernels.jit import JIT, absolute, atan2, entry, real, record, sqrt, tanh
from kinegrad.kernels.status import WORDS


def test_notice_once_on_a_miss_none_on_a_hit_and_an_edited_helper_is_seen(mini):
    out, err = mini.run()
    assert out == "6.0 7.0 True"
    assert notices(err) == ["the mini package", "a C function"]
    assert len(err.splitlines()) == 2

    out, err = mini.run()
    assert (out, err) == ("6.0 7.0 True", "")

    mini.write("helper", HELPER.replace("2.0", "5.0"))
    out, err = mini.run()
    assert out == "15.0 16.0 True"
    assert notices(err) == ["the mini package", "a C function"]


def test_importing_kernels_compiles_nothing(mini):
    out, err = mini.run(
        "import mini.main as m, sys; print(m.run._known, 'address' in vars(m.nothing), 'numba' in sys.modules)"
    )
    assert (out, err) == ("{} False False", "")


def test_a_process_that_finds_its_code_needs_no_numba(mini):
    assert mini.run(USE + NUMBA_IS_THERE)[0] == "6.0 7.0 True\nTrue"
    assert mini.run(USE + NUMBA_IS_THERE)[0] == "6.0 7.0 True\nFalse"


def test_kept_code_finds_lapack_wherever_it_is(mini):
    """The second process runs the code of the first, with the routines at other addresses."""
    mini.write(
        "main",
        "from mini.jit import entry\n"
        "from mini.lapack import fetch, potrf, serves\n"
        "@entry\ndef there(n):\n    return serves(n)\n"
        "@entry\ndef factor(A):\n    return potrf(A, A.shape[0])\n",
    )
    use = (
        "import numpy as np; from mini.main import *; before = there(100); fetch(); A = np.diag([4.0, 9.0])\n"
        "print(before, there(40), there(41), factor(A), A.diagonal())"
    )
    for compiled in (1, 0):
        out, err = mini.run(use)
        assert out == "0 0 1 0 [2. 3.]"
        assert len(notices(err)) == compiled


@pytest.mark.skipif(not JIT, reason="the compiler is switched off")
def test_a_warm_simulation_imports_neither_numba_nor_scipy():
    example = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
    source = (
        "import sys, kinegrad as kg\n"
        f"motion = kg.simulate(kg.joint(kg.Model.from_yaml({str(example)!r})), t_end=0.01)\n"
        "print(len(motion.t), [name for name in ('numba', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    for _ in range(2):  # the first one may have to compile
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "11 []\n"


def test_the_fingerprint_counts_every_source_and_its_name(mini):
    show = "from mini import folders; print(folders.fingerprint())"
    seen = {mini.run(show)[0]}
    mini.write("helper", HELPER + "\n")
    seen.add(mini.run(show)[0])
    (mini.package / "deeper").mkdir()
    shutil.move(mini.package / "helper.py", mini.package / "deeper" / "helper.py")
    seen.add(mini.run(show)[0])
    assert len(seen) == 3


def test_record_replaces_numbers_only():
    fields = [("k", "i8"), ("x", "num", 3), ("s", "num"), ("A", "num", (3, 3)), ("flag", "i1")]
    plain, twin = record(fields), record(fields, "c16")
    assert plain["x"].base == np.float64
    assert twin["x"].base == np.complex128
    assert plain["A"].shape == twin["A"].shape == (3, 3)
    assert twin["k"] == np.int64
    assert plain.itemsize % 8 == 0
    assert plain.isalignedstruct


@entry
def numbers(x, y):
    return real(x), absolute(x), atan2(y, x), sqrt(absolute(y)), tanh(x)


def test_numbers_of_reals():
    for x in (-2.0, -0.0, 0.5, 3.0):
        for y in (-1.5, 0.0, -0.0, 0.25, 4.0):
            expected = (x, abs(x), np.arctan2(y, x), np.sqrt(abs(y)), np.tanh(x))
            assert_allclose(numbers(x, y), expected, rtol=4e-16)


@pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1")
def test_functions_take_complex_steps():
    names = ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh", "sqrt"]
    for name, x in ((name, x) for name in names for x in (0.3, 0.8)):
        f = getattr(jit, name)
        h = 1e-4
        difference = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
        assert f(x + 1e-30j).imag / 1e-30 == pytest.approx(difference, rel=1e-9)
        assert f(x + 1e-30j).real == pytest.approx(f(x), rel=4e-16)


@pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1")
def test_atan2_continues_in_every_quadrant():
    for angle in np.linspace(-3.1, 3.1, 24):
        x, y = 2.0 * np.cos(angle), 2.0 * np.sin(angle)
        for dx, dy in ((1.0, 0.0), (0.0, 1.0), (0.7, -2.0)):
            z = atan2(y + 1e-30j * dy, x + 1e-30j * dx)
            assert z.real == pytest.approx(np.arctan2(y, x), abs=4e-16)
            assert z.imag / 1e-30 == pytest.approx((x * dy - y * dx) / 4.0, rel=1e-13)
    z = atan2(0.6 + 0.2j, -0.5 + 0.1j)  # far from the real numbers: tan gives the quotient back
    assert np.tan(z) == pytest.approx((0.6 + 0.2j) / (-0.5 + 0.1j), rel=1e-14)


def test_absolute_follows_the_real_part():
    if not JIT:
        assert absolute(-2.0 + 3.0j) == 2.0 - 3.0j
        assert real(-2.0 + 3.0j) == -2.0


def test_precompile_runs_each_feature_and_tells_the_seconds(monkeypatch, capsys):
    from kinegrad import precompile

    assert all(callable(use) for use in precompile.FEATURES.values())
    runs = []
    features = {"one": lambda: None, "another": lambda: runs.append(1)}
    monkeypatch.setattr(precompile, "FEATURES", features)
    told = []
    seconds = precompile.precompile(lambda name, s: told.append((name, s)))
    assert told == list(seconds.items())
    assert list(seconds) == ["one", "another"]
    assert min(seconds.values()) >= 0.0
    assert runs == [1]
    assert capsys.readouterr().out == ""
    precompile.precompile()
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == ["one", "another"]


def test_each_status_has_words():
    from kinegrad.kernels import status

    codes = [v for k, v in vars(status).items() if k.isupper() and k != "WORDS"]
    assert sorted(codes) == sorted(WORDS) == list(range(len(WORDS)))
