import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kinegrad.kernels.jit import JIT, cfunction, entry, record
from kinegrad.kernels.table import Layout, Slab, addresses, call

NODE = [("parent", "i8"), ("x", "num", 3), ("A", "num", (2, 2))]
COMMON = Layout([("q", "f8", 1), ("M", "f8", 2)])
SET = COMMON.extend([("count", "i8", 1), ("node", record(NODE), 1), ("blocks", "f8", 3)])

q, M = COMMON.viewers("q", "M")
count, node, blocks = SET.viewers("count", "node", "blocks")


@cfunction(what="a test")
def fill(ctx):
    """M = i + 10 j + q_i, from the arrays every user of the layout knows."""
    for i in range(M(ctx).shape[0]):
        for j in range(M(ctx).shape[1]):
            M(ctx)[i, j] = i + 10 * j + q(ctx)[i]


@cfunction(what="a test")
def walk(ctx):
    """The records of the set: positions summed from parent to child."""
    nodes = node(ctx)
    for i in range(1, nodes.shape[0]):
        p = nodes[i]["parent"]
        for k in range(3):
            nodes[i]["x"][k] += nodes[p]["x"][k]
        nodes[i]["A"][1, 0] = i
    count(ctx)[0] += nodes.shape[0]
    b = blocks(ctx)
    b[1, 2, 3] = b.shape[0] * 100 + b.shape[1] * 10 + b.shape[2]


@entry
def run(functions, ctx, times):
    for _ in range(times):
        for k in range(2):
            call(functions[k], ctx)
    return q(ctx).shape[0]


def arrays(number="f8"):
    nodes = np.zeros(3, record(NODE, number))
    nodes["parent"] = [0, 0, 1]
    nodes["x"] = [[0, 0, 0], [1, 2, 3], [10, 20, 30]]
    return {
        "q": np.arange(4.0).astype(number),
        "M": np.zeros((4, 3), number),
        "count": np.zeros(1, np.int64),
        "node": nodes,
        "blocks": np.zeros((2, 3, 4), number),
    }


@pytest.mark.parametrize("number", ["f8"] if JIT else ["f8", "c16"])
def test_functions_reach_the_arrays_through_the_table(number):
    given = arrays(number)
    context = SET.context(given)
    assert run(addresses([fill, walk, None]), context.pointer, 1) == 4
    i, j = np.mgrid[:4, :3]
    assert_array_equal(given["M"], 2.0 * i + 10.0 * j)
    assert_array_equal(given["node"]["x"][2], [11, 22, 33])
    assert_array_equal(given["node"]["A"][:, 1, 0], [0, 1, 2])
    assert given["count"][0] == 3
    assert given["blocks"][1, 2, 3] == 234
    assert np.count_nonzero(given["blocks"]) == 1


def test_the_context_keeps_the_arrays_alive():
    context = SET.context(arrays())
    run(addresses([fill, walk]), context.pointer, 5)
    assert context.arrays[SET.index["count"]][0] == 15


def test_two_contexts_do_not_disturb_each_other():
    one, two = arrays(), arrays()
    two["q"] += 100.0
    a, b = SET.context(one), SET.context(two)
    run(addresses([fill, walk]), a.pointer, 1)
    run(addresses([fill, walk]), b.pointer, 1)
    assert one["M"][0, 0] == 0.0
    assert two["M"][0, 0] == 100.0


def test_all_viewers_as_attributes():
    views = SET.viewers()
    assert list(vars(views)) == ["q", "M", "count", "node", "blocks"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("M", lambda a: a.T),
        ("M", lambda a: a[0]),
        ("M", lambda a: a.astype("f4")),
        ("count", lambda a: a.astype("f8")),
        ("node", lambda a: a["x"].copy()),
        ("q", lambda a: a[::2]),
    ],
    ids=["by columns", "dimensions", "single", "float for integer", "not a record", "stride"],
)
def test_an_array_that_does_not_fit_is_named(name, change):
    given = arrays()
    given[name] = change(given[name])
    with pytest.raises(ValueError, match=f"array '{name}'"):
        SET.context(given)


@pytest.mark.parametrize("number", ["f8"] if JIT else ["f8", "c16"])
def test_a_slab_gives_arrays_that_are_alike_and_apart(number):
    given = arrays(number)
    blank = {name: (given[name].shape, given[name].dtype) for name in ("M", "count", "blocks")}
    slab = Slab(SET, {name: given[name] for name in ("q", "node")}, blank)
    given["q"][:] = 99.0
    _, one, context, _ = room = slab.room()
    run(addresses([fill, walk]), context.pointer, 1)
    assert_array_equal(one["node"]["x"][2], [11, 22, 33])
    two = slab.room().arrays
    assert_array_equal(two["q"], np.arange(4.0))
    assert_array_equal(two["node"]["x"][2], [10, 20, 30])
    assert not two["M"].any()
    assert {a.ctypes.data % 64 for a in (*one.values(), *two.values())} == {0}
    assert all(a.shape == given[name].shape and a.dtype == given[name].dtype for name, a in two.items())
    one["M"][:] = 5.0
    slab.begin_with({"q": np.full(4, 7.0)})
    slab.clean(room)
    assert_array_equal(one["q"], np.full(4, 7.0))
    assert_array_equal(one["node"]["x"][2], [10, 20, 30])
    assert not one["M"].any()
    assert_array_equal(two["q"], np.arange(4.0))


def test_a_slab_refuses_what_is_not_in_the_layout():
    given = arrays()
    with pytest.raises(ValueError, match="array 'M' is float32"):
        Slab(SET, {name: a for name, a in given.items() if name != "M"}, {"M": ((4, 3), "f4")})


def test_missing_and_unknown_arrays_are_named():
    given = arrays()
    given["other"] = given.pop("q")
    with pytest.raises(ValueError, match=r"missing: \['q'\].*not in the layout: \['other'\]"):
        SET.context(given)


def test_names_are_unique_and_ranks_small():
    with pytest.raises(ValueError, match="one name"):
        COMMON.extend([("q", "f8", 1)])
    with pytest.raises(ValueError, match="1 to 3 dimensions"):
        COMMON.extend([("z", "f8", 4)])


@pytest.mark.skipif(not JIT, reason="an uncompiled table takes complex arrays")
def test_compiled_code_takes_no_complex_array():
    with pytest.raises(ValueError, match="array 'q'"):
        SET.context(arrays("c16"))
