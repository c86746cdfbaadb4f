"""The checked mode: an index outside its array is an error that names kernel and index."""

import pytest

KERNELS = """
import numpy as np
from mini.jit import cfunction, entry, intrinsic, kernel, record

ROW = record([("k", "i8"), ("x", "num", 3)])
view, rows = intrinsic("view", 0, np.dtype("f8"), 2, 4), intrinsic("view", 1, ROW, 1, 4)
call, load, store = intrinsic("call"), intrinsic("load_lanes", 4), intrinsic("store_lanes", 4)

@kernel
def element(x, i):
    return x[i]

@entry
def twice(x, i):
    s = 0.0
    for k in range(2):
        s += element(x, i + k)
    return s

@entry
def put(A, i, j):
    A[i, j] += 1.0
    return A[i, j]

@entry
def row(A, i, j):
    r = A[i]
    return r[j]

@entry
def lanes(A, i, j):
    store(A, i, j, 2.0 * load(A, i, j))
    return 0

@cfunction
def fill(ctx):
    r = rows(ctx)
    for i in range(r.shape[0]):
        r[i]["x"][r[i]["k"]] = 1.0
    view(ctx)[0, 0] += 1.0

@entry
def run(functions, k, ctx):
    call(functions[k], ctx)
    return view(ctx)[0, 0]
"""
TRY = """
from mini.main import *
def told(f, *arguments):
    try: print(f(*arguments))
    except IndexError as error: print(error)
x, A = np.arange(4.0), np.arange(12.0).reshape(2, 6)
R = np.zeros(2, ROW)
words = np.array([[A.ctypes.data, 2, 6, 0], [R.ctypes.data, 2, 0, 0]])
ctx = words.ctypes.data
"""
LINE = {name: KERNELS[: KERNELS.index(text)].count("\n") + 1 for name, text in [
    ("element", "return x[i]"), ("put", "A[i, j] += 1"), ("row", "r = A[i]"), ("row[j]", "return r[j]"),
    ("lanes", "store(A, i, j, 2"), ("fill", 'r[i]["x"]'), ("run", "call(functions"),
]}  # fmt: skip


def said(kernel: str, rest: str) -> str:
    return f"mini.main.{kernel.partition('[')[0]}, line {LINE[kernel]}: {rest}"


@pytest.mark.parametrize(
    ("use", "answers"),
    [
        (["twice, x, 2", "twice, x, 0"], ["5.0", "1.0"]),
        (
            ["twice, x, -1", "twice, x, 3", "twice, x, 1"],
            [
                said("element", "index -1 of axis 0, which has 4 elements"),
                said("element", "index 4 of axis 0, which has 4 elements"),
                "3.0",
            ],
        ),
        (
            ["put, A, 1, 6", "put, A, 2, 0", "put, A, -1, 5", "put, A, 1, 5"],
            [
                said("put", "index 6 of axis 1, which has 6 elements"),
                said("put", "index 2 of axis 0, which has 2 elements"),
                said("put", "index -1 of axis 0, which has 2 elements"),
                "12.0",
            ],
        ),
        (
            ["row, A, 2, 0", "row, A, -1, 0", "row, A, 1, 6", "row, A, 1, 1"],
            [
                said("row", "index 2 of axis 0, which has 2 elements"),
                said("row", "index -1 of axis 0, which has 2 elements"),
                said("row[j]", "index 6 of axis 0, which has 6 elements"),
                "7.0",
            ],
        ),
        (
            ["lanes, A, 1, 2", "lanes, A, 1, 3", "lanes, A, 1, -2", "lanes, A, 2, 0"],
            [
                "0",
                said("lanes", "index 6 of axis 1, which has 6 elements"),
                said("lanes", "index -2 of axis 1, which has 6 elements"),
                said("lanes", "index 2 of axis 0, which has 2 elements"),
            ],
        ),
    ],
)
def test_an_index_outside_is_named(mini, use, answers):
    mini.write("main", KERNELS)
    source = TRY + "\n".join(f"told({arguments})" for arguments in use)
    assert mini.run(source, KINEGRAD_CHECK="1")[0].splitlines() == answers


def test_an_error_behind_the_table_ends_the_entry(mini):
    mini.write("main", KERNELS)
    source = TRY + (
        "functions = np.array([fill.address, 0])\n"
        "told(run, functions, 0, ctx); told(run, functions, 1, ctx); told(run, functions, 2, ctx)\n"
        "R['k'][1] = 3; told(run, functions, 0, ctx); told(fill.from_python, ctx); print(A[0, 0])\n"
        "R['k'][1] = -1; told(fill.from_python, ctx); R['k'][1] = 2; told(run, functions, 0, ctx); print(R['x'].tolist())"
    )
    assert mini.run(source, KINEGRAD_CHECK="1")[0].splitlines() == [
        "1.0",
        said("run", "a function is called that is not in its table"),
        said("run", "index 2 of axis 0, which has 2 elements"),
        said("fill", "index 3 of axis 0, which has 3 elements"),
        said("fill", "index 3 of axis 0, which has 3 elements"),
        "1.0",
        said("fill", "index -1 of axis 0, which has 3 elements"),
        "2.0",
        "[[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]",
    ]


def test_checked_code_is_kept_apart(mini):
    mini.write("main", KERNELS)
    use = TRY + "told(twice, x, 0)\nimport sys; print('numba' in sys.modules)"
    for _ in range(2):
        assert mini.run(use)[0].splitlines()[0] == "1.0"
        out = mini.run(use.replace("x, 0)", "x, -1)"), KINEGRAD_CHECK="1")[0].splitlines()
        assert out[0] == said("element", "index -1 of axis 0, which has 4 elements")
    assert out[1] == "False"
    assert len([*mini.cache.iterdir()]) == 2


def test_checks_are_not_dropped_where_the_plain_way_would_take_over(mini):
    out, _ = mini.run(
        "from mini.errors import KinegradError; from mini.main import run\n"
        "try: run(3.0)\nexcept KinegradError as error: print(error)",
        KINEGRAD_CHECK="1",
        KINEGRAD_COMPILER="plain",
    )
    assert out.startswith("The checked mode (KINEGRAD_CHECK=1) cannot be set up with Numba ")


UNCOMPILED = """
import numpy as np
from kinegrad.kernels.table import Layout
from kinegrad.kernels.jit import cfunction
layout = Layout([("q", "f8", 1), ("M", "f8", 2)])
q, M = layout.viewers("q", "M")

@cfunction
def last(ctx):
    M(ctx)[0, 0] = q(ctx)[int(M(ctx)[0, 1])]

arrays = {"q": np.array([3.0, 5.0, 7.0]), "M": np.zeros((2, 2))}
context = layout.context(arrays)
for k in (2, -1, 3):
    arrays["M"][0, 1] = k
    try:
        last(context)
        print(arrays["M"][0, 0])
    except IndexError as error:
        print(error)
"""


def test_uncompiled_nothing_is_counted_from_the_end(mini):
    variables = {"NUMBA_DISABLE_JIT": "1"}
    assert mini.run(UNCOMPILED, **variables)[0].splitlines()[:2] == ["7.0", "7.0"]
    assert mini.run(UNCOMPILED, KINEGRAD_CHECK="1", **variables)[0].splitlines() == [
        "7.0",
        "index -1 of axis 0, which has 3 elements",
        "index 3 is out of bounds for axis 0 with size 3",
    ]
