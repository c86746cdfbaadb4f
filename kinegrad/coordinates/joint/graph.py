"""Small algorithms on a graph with named nodes: paths, distances, blocks, spanning forests.

Two nodes may be joined by several edges, so edges are objects and not pairs. No function recurses over nodes,
because chains of a thousand bodies are usual.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Edge:
    """An edge between the nodes `a` and `b`; `index` orders the edges."""

    name: str
    a: str
    b: str
    index: int

    def other(self, node: str) -> str:
        """The end of the edge that is not `node`."""
        return self.b if node == self.a else self.a


class Partition:
    """Sets of nodes that grow together (union-find)."""

    def __init__(self, edges: Iterable[Edge] = ()):
        self._above: dict[str, str] = {}
        for edge in edges:
            self.join(edge.a, edge.b)

    def find(self, node: str) -> str:
        """The node that stands for the set of `node`."""
        root = node
        while (above := self._above.get(root, root)) != root:
            root = above
        while node != root:
            self._above[node], node = root, self._above[node]
        return root

    def join(self, a: str, b: str) -> bool:
        """Whether `a` and `b` were apart; afterwards they are together."""
        a, b = self.find(a), self.find(b)
        if a != b:
            self._above[a] = b
        return a != b


def neighbours(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Edges at each node, in the order given."""
    at: dict[str, list[Edge]] = {}
    for edge in edges:
        at.setdefault(edge.a, []).append(edge)
        at.setdefault(edge.b, []).append(edge)
    return at


def walk(edges: Iterable[Edge], start: str) -> dict[str, tuple[int, Edge | None]]:
    """Distance from `start` and last edge on the way, for each node within reach, nearest first."""
    at = neighbours(edges)
    seen: dict[str, tuple[int, Edge | None]] = {start: (0, None)}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for edge in at.get(node, ()):
            there = edge.other(node)
            if there not in seen:
                seen[there] = (seen[node][0] + 1, edge)
                queue.append(there)
    return seen


def path(edges: Iterable[Edge], start: str, goal: str) -> list[Edge] | None:
    """Edges of a shortest path from `start` to `goal`; None when there is none."""
    seen = walk(edges, start)
    if goal not in seen:
        return None
    steps, node = [], goal
    while (edge := seen[node][1]) is not None:
        steps.append(edge)
        node = edge.other(node)
    return steps[::-1]


def middle(edges: Sequence[Edge], start: str) -> list[str]:
    """The one or two nodes in the middle of a long path without detours (the longest one, if there are no loops)."""
    end = list(walk(edges, start))[-1]
    node = list(walk(edges, end))[-1]
    line = [node]
    for edge in path(edges, node, end):
        node = edge.other(node)
        line.append(node)
    return line[(len(line) - 1) // 2 : len(line) // 2 + 1]


def blocks(edges: Iterable[Edge], root: str) -> Iterator[tuple[str, list[Edge]]]:
    """Blocks (biconnected parts) within reach of `root`, each with its node nearest to the root, outer blocks first.

    A depth-first search numbers the nodes; `low` is the smallest number a subtree reaches by one edge that is not in
    the search tree. A subtree that does not reach above its root closes a block there.
    """
    at = neighbours(edges)
    number = {root: 0}
    low = {root: 0}
    stack: list[Edge] = []
    trail = [(root, None, iter(at.get(root, ())), 0)]
    while trail:
        node, arrival, ahead, start = trail[-1]
        for edge in ahead:
            there = edge.other(node)
            if edge is arrival:
                continue
            if there not in number:
                number[there] = low[there] = len(number)
                trail.append((there, edge, iter(at[there]), len(stack)))
                stack.append(edge)
                break
            if number[there] < number[node]:
                stack.append(edge)
                low[node] = min(low[node], number[there])
        else:
            trail.pop()
            if trail:
                above = trail[-1][0]
                low[above] = min(low[above], low[node])
                if low[node] >= number[above]:
                    yield above, stack[start:]
                    del stack[start:]


def log_forests(pairs: Sequence[tuple[str, str]]) -> float:
    """Logarithm of the number of spanning forests of the graph of these node pairs (matrix-tree theorem)."""
    together = Partition()
    nodes: dict[str, int] = {}
    for a, b in pairs:
        together.join(a, b)
    for node in dict.fromkeys(node for pair in pairs for node in pair):
        if together.find(node) != node:  # one node of each component is left out
            nodes[node] = len(nodes)
    laplacian = np.zeros((len(nodes), len(nodes)))
    for a, b in pairs:
        i, j = nodes.get(a), nodes.get(b)
        for k in (i, j):
            if k is not None:
                laplacian[k, k] += 1
        if i is not None and j is not None:
            laplacian[i, j] -= 1
            laplacian[j, i] -= 1
    return float(np.linalg.slogdet(laplacian)[1]) if nodes else math.log(1)


def forests(edges: Sequence[Edge], pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Edge, ...]]:
    """All spanning forests of `edges`, where edge k joins the two nodes ``pairs[k]``."""
    if not edges:
        yield ()
        return
    (a, b), rest = pairs[0], pairs[1:]
    merged = [(a if p == b else p, a if q == b else q) for p, q in rest]
    if a != b:
        for forest in forests(edges[1:], merged):
            yield (edges[0], *forest)
    together = Partition()
    for p, q in rest:
        together.join(p, q)
    if together.find(a) == together.find(b):
        yield from forests(edges[1:], rest)
