"""The order of elimination: fronts that hold every entry and row, each before its parent."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.bench.large_models import windows
from kinegrad.coordinates.elimination import cost_of, fronts_of, nodes_of, tables_of


def columns_of(n, cliques):
    met = [{i} for i in range(n)]
    for clique in cliques:
        for i in clique:
            met[i] |= set(clique)
    return [sorted(row) for row in met]


def random_cliques(rng, n):
    return [sorted(rng.choice(n, size=rng.integers(1, min(n, 5) + 1), replace=False).tolist()) for _ in range(n)]


def test_nodes_are_neighbours_with_the_same_columns():
    assert nodes_of(columns_of(6, [(0, 1, 2), (2, 3), (4, 5)])) == [(0, 1), (2,), (3,), (4, 5)]


@pytest.mark.parametrize("seed", range(10))
def test_fronts_have_every_entry(seed):
    """Each coordinate is eliminated once; what it meets later is in its front, and the remainder is in the parent."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    cliques = random_cliques(rng, n)
    columns = columns_of(n, cliques)
    fronts = fronts_of(columns)
    first = {k: f for f, front in enumerate(fronts) for k in front.pivots}
    assert sorted(first) == list(range(n)) == sorted(k for front in fronts for k in front.pivots)
    for f, front in enumerate(fronts):
        assert set(front.pivots).isdisjoint(front.rest)
        assert (front.parent == -1) == (not front.rest)
        if front.rest:
            assert front.parent > f and set(front.rest) <= set(fronts[front.parent].columns)
    for clique in cliques:
        assert set(clique) <= set(fronts[min(first[k] for k in clique)].columns)


def test_a_chain_costs_what_its_links_cost():
    """Blocks of seven, each joined to the next: the cost of a link does not grow with their number."""
    costs = []
    for links in (20, 40, 80):
        blocks = [range(7 * i, 7 * i + 7) for i in range(links)]
        joined = [[*blocks[i], *blocks[i + 1]] for i in range(links - 1)]
        costs.append(cost_of(fronts_of(columns_of(7 * links, joined))) / links)
    assert costs[2] < 1.05 * costs[1] < 1.1 * costs[0]


def test_one_group_is_one_front():
    (front,) = fronts_of(columns_of(9, [range(9)]))
    assert front.pivots == tuple(range(9)) and front.rest == () and front.parent == -1


@pytest.mark.parametrize("seed", range(5))
def test_tables_point_at_the_right_places(seed):
    """Entries and rows, added where the tables say, make the matrix when fronts are spread out."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    rows = random_cliques(rng, n)
    columns = columns_of(n, [*random_cliques(rng, n), *rows])
    fronts = fronts_of(columns)
    tables = tables_of(fronts, columns, rows)
    front, held = tables["front"], np.zeros((n, n), int)
    where = np.full((int((front[:, 1] ** 2).sum()), 2), -1)
    for offset, size, _, _, at, _ in front:
        own = tables["front_columns"][at : at + size]
        for i in range(size):
            for j in range(size):
                where[offset + i * size + j] = own[i], own[j]
    entries = [(i, j) for i, row in enumerate(columns) for j in row]
    for (i, j), whole, lower in zip(entries, tables["front_of_entry"], tables["front_of_lower"], strict=True):
        assert tuple(where[whole]) == (i, j)
        held[i, j] += 1
        assert (lower < 0) == (i < j)
        if lower >= 0:
            assert set(where[lower]) == {i, j}
    assert held.max() == 1 and held.sum() == len(entries)
    p = 0
    for row, f in zip(rows, tables["front_of_row"], strict=True):
        at = front[f, 4]
        for j in row:
            assert tables["front_columns"][at + tables["front_in_row"][p]] == j
            p += 1


@pytest.mark.parametrize("kind", ["joint", "reference-point", "natural"])
def test_coordinates_that_only_signals_read_together_do_not_meet(kind):
    model = windows(6)
    plain = kg.lower(model, kind)
    names = [f"{body}.{marker}.{c}" for body in model.bodies for marker in model.bodies[body].markers for c in "xyz"]
    watched = kg.lower(model.watching(names), kind)
    square = [set(row) for row in plain.structure.square]
    assert [set(row) & set(range(plain.n)) for row in watched.structure.square[: plain.n]] == square
