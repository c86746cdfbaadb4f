"""In which order coordinates are eliminated, and the dense fronts that this makes of a pattern (LIN-9).

Coordinates that stand beside each other and have the same columns are a node.  The node with the smallest front is eliminated
first; what it leaves joins its neighbours.  A node whose remainder is all of the front after it, or nearly all of a small one,
goes into that front.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

SMALL = 12  # coordinates of a front into which a smaller one is drawn, zeros and all


@dataclass(frozen=True)
class Front:
    """Coordinates that are eliminated here, those that they leave something to, and the front after this one, or -1."""

    pivots: tuple[int, ...]
    rest: tuple[int, ...]
    parent: int

    @property
    def columns(self) -> tuple[int, ...]:
        """All its coordinates, in the order of its rows."""
        return self.pivots + self.rest


def nodes_of(neighbours: Sequence[Iterable[int]]) -> list[tuple[int, ...]]:
    """Runs of coordinates with the same neighbours, themselves included."""
    nodes: list[list[int]] = []
    last = None
    for i, columns in enumerate(neighbours):
        columns = frozenset(columns)
        if nodes and columns == last and i in columns:
            nodes[-1].append(i)
        else:
            nodes.append([i])
        last = columns
    return [tuple(node) for node in nodes]


def eliminated(sizes: Sequence[int], neighbours: list[set[int]]) -> tuple[list[int], list[set[int]]]:
    """Nodes in the order of elimination, the smallest front first, and what each is joined to when its turn comes."""
    neighbours = [set(other) for other in neighbours]
    degree = [sum(sizes[b] for b in other) for other in neighbours]
    heap = [(d, a) for a, d in enumerate(degree)]
    heapq.heapify(heap)
    order, done = [], [False] * len(sizes)
    while heap:
        d, a = heapq.heappop(heap)
        if done[a] or d != degree[a]:
            continue
        done[a] = True
        order.append(a)
        for b in neighbours[a]:
            neighbours[b] |= neighbours[a]
            neighbours[b] -= {a, b}
            degree[b] = sum(sizes[c] for c in neighbours[b])
            heapq.heappush(heap, (degree[b], b))
    return order, neighbours


def fronts_of(columns: Sequence[Iterable[int]]) -> list[Front]:
    """The fronts of a symmetric pattern, given by the columns of its rows; each stands before its parent."""
    nodes = nodes_of(columns)
    node_of = {k: a for a, node in enumerate(nodes) for k in node}
    sizes = [len(node) for node in nodes]
    graph = [{node_of[j] for i in node for j in columns[i]} - {a} for a, node in enumerate(nodes)]
    order, left = eliminated(sizes, graph)
    rank = {a: i for i, a in enumerate(order)}
    # from the last one on: a node begins a front, or is the first pivot of the one after it
    pivots: list[list[int]] = []
    rests: list[list[int]] = []
    front_of: dict[int, int] = {}
    for a in reversed(order):
        rest = sorted(left[a], key=rank.__getitem__)
        if rest:
            f = front_of[rest[0]]
            size = sum(sizes[b] for b in pivots[f] + rests[f])
            if size == sum(sizes[b] for b in rest) or size + sizes[a] <= SMALL:
                pivots[f].insert(0, a)
                front_of[a] = f
                continue
        front_of[a] = len(pivots)
        pivots.append([a])
        rests.append(rest)
    last = len(pivots) - 1
    made = []
    for f in range(last, -1, -1):
        parent = last - front_of[rests[f][0]] if rests[f] else -1
        own, rest = (tuple(k for a in group for k in nodes[a]) for group in (pivots[f], rests[f]))
        made.append(Front(own, rest, parent))
    return made


def cost_of(fronts: Sequence[Front]) -> float:
    """Multiplications of a symmetric factorisation."""
    total = 0.0
    for front in fronts:
        p, r = len(front.pivots), len(front.rest)
        total += p**3 / 6 + p**2 * r / 2 + p * r**2 / 2
    return total


def tables_of(fronts: Sequence[Front], square: Sequence[Sequence[int]], wide: Sequence[Sequence[int]]) -> dict:
    """The tables of `kinegrad.kernels.solvers.fronts`, for matrices whose rows have these columns, in this order."""
    first = np.zeros(len(square), np.int64)  # the front in which a coordinate is eliminated
    n = len(square)
    sizes = [len(front.columns) for front in fronts]
    offsets = np.cumsum([0, *(size**2 for size in sizes)])
    at_columns, at_places = np.cumsum([0, *sizes]), np.cumsum([0, *(len(front.rest) for front in fronts)])
    columns = np.array([k for front in fronts for k in front.columns], np.int64)
    keys = np.repeat(np.arange(len(fronts)), sizes) * n + columns
    order = np.argsort(keys)
    keys, places = keys[order], (np.arange(len(columns)) - np.repeat(at_columns[:-1], sizes))[order]

    def local(f, k):
        """Where coordinates k stand in fronts f."""
        return places[np.searchsorted(keys, f * n + k)]

    rows = []
    for f, front in enumerate(fronts):
        first[list(front.pivots)] = f
        rows.append([offsets[f], sizes[f], len(front.pivots), front.parent, at_columns[f], at_places[f]])
    rest = np.array([(front.parent, k) for front in fronts for k in front.rest], np.int64).reshape(-1, 2)
    i, j = entries_of(square)
    f = np.minimum(first[i], first[j])
    a, b = local(f, i), local(f, j)
    size = np.array(sizes, np.int64)[f] if fronts else f
    of_row = [min((int(first[j]) for j in row), default=0) for row in wide]
    l, k = entries_of(wide)
    return {
        "front": np.array(rows, np.int64).reshape(-1, 6),
        "front_columns": columns,
        "front_places": local(*rest.T),
        "front_of_entry": offsets[f] + a * size + b,
        # of the lower triangle of the matrix, in the lower triangle of the front; -1 above the diagonal
        "front_of_lower": np.where(i >= j, offsets[f] + np.maximum(a, b) * size + np.minimum(a, b), -1),
        "front_of_row": np.array(of_row, np.int64),
        "front_in_row": local(np.array(of_row, np.int64)[l], k),
    }


def entries_of(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of a matrix whose rows have these columns."""
    columns = np.fromiter((j for row in rows for j in row), np.int64)
    return np.repeat(np.arange(len(rows)), np.fromiter(map(len, rows), np.int64, len(rows))), columns
