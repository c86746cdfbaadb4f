"""The edges at which loops are opened: where the user asks for it, and elsewhere by the loop-cutting rule.

The rule finds the best spanning tree of a connected graph with a root. Edges come in classes: the smaller its class,
the more an edge should stay in the tree. Among the trees that are best in this respect the shallowest is taken (least
depth, then the least sum of the depths of all nodes), and among those the one that leaves out the last edges. Loops may
share edges, so the rule is applied to all of them at once:

* A tree that takes as many edges as it can from each class in turn is best in the first respect. What the first classes
  connect does not depend on the choices made inside them; so each class is chosen for itself, in the graph in which the
  classes before it are contracted.
* Loops without a common edge lie in different blocks, and a block meets the rest of the graph in single nodes. Each
  block is decided for itself, the outer ones first, to be shallowest together with all that hangs on it. The whole
  tree then has the least depth, and a loop added elsewhere does not move the cut here.
* In a block the trees that are best by class are counted. Up to `EXACT_TREES` of them are all looked at. Beyond that a
  search starts from a tree close to breadth first and exchanges a left-out edge for one of the same class in its loop
  as long as that is better, within `SEARCH_VISITS`. One loop of any length is still decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from itertools import groupby, product

from kinegrad.coordinates.joint.graph import Edge, Partition, blocks, forests, log_forests, path, walk
from kinegrad.errors import ModelError, Problem

EXACT_TREES = 2000
EXACT_EDGES = 200
SEARCH_VISITS = 1_000_000


def shallowest_tree(
    edges: Sequence[Edge], root: str, preference: Callable[[Edge], tuple]
) -> tuple[tuple[int, int], list[Edge]]:
    """The best tree from `root`, after its depth and the sum of the depths of its nodes."""
    height: dict[str, int] = {}  # depth of what hangs on a node, in the blocks done so far
    hanging: dict[str, int] = {}  # number of nodes there
    total, tree = 0, []
    for start, block in blocks(edges, root):
        choice = _Block(block, start, preference, height, hanging)
        kept = choice.best()
        tree += kept
        depth, weighted = choice.shape(kept)
        total += weighted
        height[start] = max(height.get(start, 0), depth)
        hanging[start] = hanging.get(start, 0) + sum(1 + hanging.get(node, 0) for node in choice.nodes)
    return (height.get(root, 0), total), tree


class _Block:
    """The choice of a tree in one block, seen from its node nearest to the root."""

    def __init__(self, edges, start, preference, height, hanging):
        self.edges = sorted(edges, key=lambda edge: edge.index)
        self.start = start
        self.nodes = sorted({node for edge in edges for node in (edge.a, edge.b)} - {start})
        self.load = {node: (height.get(node, 0), 1 + hanging.get(node, 0)) for node in self.nodes}
        self.preference = preference
        by_class = sorted(self.edges, key=preference)  # stable: in a class the order of the file
        self.classes = [list(group) for _, group in groupby(by_class, key=preference)]

    def best(self) -> list[Edge]:
        """The edges of the best tree of this block."""
        if len(self.edges) == 1:
            return self.edges
        together, pairs = Partition(), []
        for group in self.classes:
            pairs.append([(together.find(edge.a), together.find(edge.b)) for edge in group])
            for edge in group:
                together.join(edge.a, edge.b)
        if len(self.edges) <= EXACT_EDGES and sum(map(log_forests, pairs)) <= math.log(EXACT_TREES):
            choices = product(*(forests(group, ends) for group, ends in zip(self.classes, pairs, strict=True)))
            return min(([edge for part in choice for edge in part] for choice in choices), key=self._key)
        return self._search()

    def shape(self, tree: Sequence[Edge]) -> tuple[int, int]:
        """Depth of `tree` with what hangs on it, and its share in the sum of all depths."""
        deepest, total = 0, 0
        for node, (depth, _) in walk(tree, self.start).items():
            if node != self.start:
                below, nodes = self.load[node]
                deepest = max(deepest, depth + below)
                total += depth * nodes
        return deepest, total

    def _key(self, tree: Sequence[Edge]) -> tuple:
        """Smaller is better: depth, sum of depths, then the last edges left out."""
        kept = set(tree)
        return (*self.shape(tree), sorted(-edge.index for edge in self.edges if edge not in kept))

    def _search(self) -> list[Edge]:
        """A tree no exchange of two edges improves, unless the work runs out first."""
        distance = {node: steps for node, (steps, _) in walk(self.edges, self.start).items()}
        together, tree = Partition(), []
        for group in self.classes:
            near_first = sorted(group, key=lambda edge: distance[edge.a] + distance[edge.b])
            tree += [edge for edge in near_first if together.join(edge.a, edge.b)]
        key, visits, improved = self._key(tree), 0, True
        while improved and visits < SEARCH_VISITS:
            improved = False
            kept = set(tree)
            for left_out in [edge for edge in reversed(self.edges) if edge not in kept]:
                loop = path(tree, left_out.a, left_out.b)
                same = [edge for edge in loop if self.preference(edge) == self.preference(left_out)]
                candidates = [[left_out if e is edge else e for e in tree] for edge in same]
                visits += len(candidates) * len(tree)
                better = min(
                    ((self._key(other), other) for other in candidates), default=(key, tree), key=lambda c: c[0]
                )
                if better[0] < key:
                    (key, tree), improved = better, True
                if visits >= SEARCH_VISITS:
                    break
        return tree


def open_loops(edges: Sequence[Edge], asked: Collection[str], marked: Collection[str]) -> list[Edge]:
    """Edges cut by request; one that opens no loop is refused, but a mark gives way to what was asked."""
    by_name = {edge.name: edge for edge in edges}
    order = [by_name[name] for name in dict.fromkeys([*asked, *marked])]
    # taken out one after another an edge goes if the rest still joins its ends; put back, the last first, it joins nothing new
    named = set(order)
    together = Partition(edge for edge in edges if edge not in named)
    loose = {edge for edge in reversed(order) if not together.join(edge.a, edge.b)}
    opened: list[Edge] = []
    problems = []
    for edge in order:
        if edge in loose:
            opened.append(edge)
        elif edge.name in asked or not asked:
            problems.append(_why_not_cut(edge, edges, opened))
    if problems:
        raise ModelError(*problems)
    return opened


def _why_not_cut(edge: Edge, edges: Sequence[Edge], opened: Sequence[Edge]) -> Problem:
    """What is wrong with cutting `edge` after those in `opened`."""
    if path([other for other in edges if other is not edge], edge.a, edge.b) is None:
        reason = f"it is in no loop, and nothing else ties {edge.a!r} to {edge.b!r}. Leave it uncut."
    else:
        names = " and ".join(repr(other.name) for other in opened)
        reason = f"cutting {names} has opened its loop already. Cut one joint per loop."
    return Problem(f"joint {edge.name!r} cannot be cut: {reason}", f"joints.{edge.name}")


def refuse_used_loops(edges: Sequence[Edge], used: Collection[str]) -> None:
    """Raise for each loop in which the model gives the orientation of every joint at the start."""
    together, kept, problems = Partition(), [], []
    for edge in (edge for edge in edges if edge.name in used):
        if together.join(edge.a, edge.b):
            kept.append(edge)
            continue
        loop = sorted([edge, *path(kept, edge.a, edge.b)], key=lambda joint: joint.index)
        sentence = (
            f"the loop of joints {', '.join(repr(joint.name) for joint in loop)} cannot be opened by itself, because "
            "the model gives the orientation of each at the start. Leave one out of degrees_of_freedom."
        )
        problems.append(Problem(sentence, f"joints.{edge.name}"))
    if problems:
        raise ModelError(*problems)
