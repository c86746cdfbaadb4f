"""Maps of graphs and the sparse matrices of their derivatives."""

import numpy as np
from helpers import assert_close, complex_step
from random_expressions import resolver, smooth_text

from kinegrad.expressions import Graph, parse, scalarise
from kinegrad.expressions.maps import Assembly, GraphMap, Product, SparseColumns


def random_map(rng):
    graph = Graph()
    inputs = [graph.input(name) for name in ("a", "b", "t", "unused")]
    computed = [scalarise(parse(smooth_text(rng, 3)), graph, resolver(graph)) for _ in range(5)]
    return GraphMap([inputs[2], *computed, graph.constant(3.0), inputs[0], inputs[2]], inputs)


def test_values_and_derivatives_of_a_map(rng):
    for _ in range(20):
        f = random_map(rng)
        x = rng.uniform(-1.0, 1.0, 4)
        y = f(x)
        assert y[0] == y[8] == x[2] and y[6] == 3.0 and y[7] == x[0]
        assert_close(f(x.astype(complex)), y, 1e-14)
        partials = f.partials()
        jacobian = Assembly(partials.rows, partials.columns, (9, 4))(partials.values(x)).dense()
        assert_close(jacobian, complex_step(f, x), 1e-12)


def test_derivatives_by_chosen_inputs_only(rng):
    f = random_map(rng)
    x = rng.uniform(-1.0, 1.0, 4)
    partials = f.partials(np.array([False, True, False, True]))
    assert set(partials.columns) == {1}
    jacobian = Assembly(partials.rows, partials.columns, (9, 4))(partials.values(x)).dense()
    assert_close(jacobian[:, 1], complex_step(f, x)[:, 1], 1e-12)


def test_origins():
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    f = GraphMap([a * c, b, graph.constant(1.0)], [a, b, c])
    assert [f.origins(k) for k in range(3)] == [[0, 2], [1], []]


def test_assembly_adds_entries_of_one_place(rng):
    rows, columns = rng.integers(0, 5, 40), rng.integers(0, 7, 40)
    values = rng.normal(size=40) + 1j * rng.normal(size=40)
    expected = np.zeros((5, 7), complex)
    np.add.at(expected, (rows, columns), values)
    matrix = Assembly(rows, columns, (5, 7))(values)
    assert_close(matrix.dense(), expected, 1e-15)
    assert len(matrix.indptr) == 8 and matrix.indptr[-1] == len(matrix.values) == len(
        set(zip(rows, columns, strict=True))
    )
    for j in range(7):
        assert (np.diff(matrix.rows[matrix.indptr[j] : matrix.indptr[j + 1]]) > 0).all()


def test_product_and_pull(rng):
    left = rng.normal(size=(6, 5)) * (rng.uniform(size=(6, 5)) < 0.4)
    right = rng.normal(size=(5, 4)) * (rng.uniform(size=(5, 4)) < 0.5)
    i, k = np.nonzero(left)
    assembly = Assembly(i, k, left.shape)
    k2, j = np.nonzero(right)
    matrix = Product(assembly, k2, j, 4)(assembly(left[i, k]).values, right[k2, j])
    assert_close(matrix.dense(), left @ right, 1e-15)
    gradient = rng.normal(size=(3, 6))
    assert_close(matrix.pull(gradient), gradient @ matrix.dense(), 1e-15)
    assert_close(matrix.pull(gradient[0]), gradient[0] @ matrix.dense(), 1e-15)


def test_empty():
    none = np.zeros(0, np.int64)
    matrix = Assembly(none, none, (3, 0))(np.zeros(0))
    assert isinstance(matrix, SparseColumns) and matrix.dense().shape == (3, 0) and matrix.pull(np.ones(3)).size == 0
    assert Product(Assembly(none, none, (3, 2)), none, none, 4)(np.zeros(0), np.zeros(0)).dense().shape == (3, 4)
    assert GraphMap([], [])(np.zeros(0)).size == 0
