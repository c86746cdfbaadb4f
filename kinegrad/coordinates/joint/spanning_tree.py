"""The tree of joints that carries the joint coordinates, and the joints cut to get it.

Bodies, the ground among them, are the nodes of a graph, and joints its edges; links are rows and never edges. Every
loop is opened at one joint, by this rule:

1. never a joint whose coordinate the model uses, unless the user asks for it or the model uses all of its loop;
2. a spherical joint first, then the joint with most coordinates (a floating joint holds nothing and goes before all);
3. the cut that leaves the shallowest tree;
4. the last joint in the file.

`loop_cutting` tells how the rule is applied to loops that share joints. A chain that no joint ties to the ground gets a
floating joint at the body that makes it shallowest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kinegrad.coordinates.joint.graph import Edge, Partition, middle, neighbours
from kinegrad.coordinates.joint.loop_cutting import open_loops, refuse_used_loops, shallowest_tree
from kinegrad.coordinates.joints import FREE, KINDS
from kinegrad.errors import ModelError, Problem

if TYPE_CHECKING:
    from kinegrad.model.model import Model

GROUND = "ground"

TRY_ALL_ROOTS = 16  # bodies of a free chain; in longer ones only the middle, which is exact where there are no loops


class JointLike(Protocol):
    """What is asked of a joint: its type, its two markers written ``body.marker``, and whether the file cuts it."""

    type: str
    between: Sequence[str]
    cut: bool


@dataclass(frozen=True)
class TreeEdge:
    """A joint of the tree; `reversed` when it leads from its second body to its first."""

    joint: str
    type: str
    parent: str
    child: str
    reversed: bool


@dataclass(frozen=True)
class SpanningTree:
    """The joints that carry coordinates, and what became of the others.

    Attributes
    ----------
    edges : tuple of TreeEdge
        One per moving body; parents come before children and every subtree is contiguous.
    cut : tuple of str
        Joints replaced by closure rows, in the order of the file.
    free : tuple of str
        Floating joints added for chains that no joint ties to the ground.
    links : tuple of str
        Joints that are rows in any case.
    measured : tuple of str
        Cut joints whose coordinate the model uses: it has to be measured from markers.
    closure_rows : int
        Rows of the cut joints and of the links.
    """

    edges: tuple[TreeEdge, ...]
    cut: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    closure_rows: int = 0

    @property
    def depths(self) -> dict[str, int]:
        """Number of joints between the ground and each body."""
        depths = {GROUND: 0}
        for edge in self.edges:
            depths[edge.child] = depths[edge.parent] + 1
        return depths

    @property
    def depth(self) -> int:
        """Number of joints between the ground and the farthest body."""
        return max(self.depths.values())

    def on_ways(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """Joints of the tree between the bodies of pairs, in the order of the tree."""
        up, found = {edge.child: edge for edge in self.edges}, set()
        for pair in pairs:
            on_way: set[str] = set()
            for body in pair:
                while body in up:
                    on_way ^= {up[body].joint}  # what both ways to the ground have is on none
                    body = up[body].parent
            found |= on_way
        return [edge.joint for edge in self.edges if edge.joint in found]

    @property
    def n_coordinates(self) -> int:
        """Length of q."""
        return sum(len(KINDS[edge.type].coordinates) for edge in self.edges)

    @property
    def n_rows(self) -> int:
        """Rows the topology asks for: norms of Euler parameters, closures of cut joints, links."""
        return self.closure_rows + sum(KINDS[edge.type].n_norms for edge in self.edges)


def spanning_tree(model: Model, cut: Collection[str] = ()) -> SpanningTree:
    """The spanning tree of `model`, with the joints in `cut` cut by request."""
    return span(list(model.bodies), model.joints, used=model.used_joints, cut=cut)


def span(
    bodies: Sequence[str],
    joints: Mapping[str, JointLike],
    *,
    used: Collection[str] = (),
    cut: Collection[str] = (),
) -> SpanningTree:
    """The spanning tree of `bodies` and `joints` by the rule of this module.

    Parameters
    ----------
    bodies : sequence of str
        The moving bodies in the order of the file, without the ground.
    joints : mapping of str to joint
        In the order of the file.
    used : collection of str
        Joints whose coordinate the model uses; they are cut when asked for, or when all joints of a loop are used.
    cut : collection of str
        Joints to cut. They go before the joints the file marks with ``cut: true``, and a mark gives way when its loop
        is open already.
    """
    types = {name: joint.type for name, joint in joints.items()}
    edges = _edges(bodies, joints)
    _refuse_unknown_cuts(edges, joints, cut)
    marked = [edge.name for edge in edges if joints[edge.name].cut and edge.name not in cut]
    opened = set(open_loops(edges, cut, marked))
    remaining = [edge for edge in edges if edge not in opened]
    turned = [name for name in used if KINDS[types[name]].n_norms]  # their orientation cannot be measured
    refuse_used_loops(remaining, turned)

    def preference(edge: Edge) -> tuple[int, int]:
        """Class of a joint: the smaller, the more it should stay in the tree."""
        kind = KINDS[types[edge.name]]
        if edge.name in used:
            return (0, 0 if edge.name in turned else 1)
        return (kind.cutting, len(kind.coordinates))

    tree, free = [], []
    for members, chain in _chains(bodies, remaining):
        if GROUND in members:
            tree += shallowest_tree(chain, GROUND, preference)[1]
            continue
        roots = members if len(members) <= TRY_ALL_ROOTS else sorted(middle(chain, members[0]), key=members.index)
        trees = {root: shallowest_tree(chain, root, preference) for root in roots}
        root = min(roots, key=lambda body: trees[body][0])  # the first in the file among equals
        name = f"{root}_free"
        while name in types or name in bodies:
            name += "_"
        types[name] = FREE.type
        free.append(name)
        tree += [Edge(name, GROUND, root, len(types)), *trees[root][1]]

    kept = {edge.name for edge in tree}
    left_out = tuple(edge.name for edge in edges if edge.name not in kept)
    links = tuple(name for name, joint in joints.items() if not KINDS[joint.type].in_tree)
    return SpanningTree(
        edges=_from_the_ground(tree, types),
        cut=left_out,
        free=tuple(free),
        links=links,
        measured=tuple(name for name in left_out if name in used),
        closure_rows=sum(KINDS[types[name]].n_rows for name in left_out + links),
    )


def _edges(bodies: Sequence[str], joints: Mapping[str, JointLike]) -> list[Edge]:
    """Edges of all joints but links."""
    known = {GROUND, *bodies}
    edges, problems = [], []
    for index, (name, joint) in enumerate(joints.items()):
        a, b = (marker.split(".")[0] for marker in joint.between)
        sentence = ""
        if joint.type not in KINDS:
            sentence = f"has the type {joint.type!r}; choose one of {', '.join(KINDS)}."
        elif not {a, b} <= known:
            sentence = f"names the body {b if a in known else a!r}, which the model lacks."
        elif a == b:
            sentence = f"connects the body {a!r} to itself; name two different bodies."
        elif KINDS[joint.type].in_tree:
            edges.append(Edge(name, a, b, index))
        if sentence:
            problems.append(Problem(f"joint {name!r} {sentence}", f"joints.{name}"))
    if problems:
        raise ModelError(*problems)
    return edges


def _refuse_unknown_cuts(edges: list[Edge], joints: Mapping[str, JointLike], cut: Collection[str]) -> None:
    """Raise for each name in `cut` that is no joint, or a joint that is never in the tree."""
    problems = []
    for name in cut:
        if name not in joints:
            problems.append(f"there is no joint {name!r} to cut; the joints are {', '.join(joints) or 'none at all'}.")
        elif all(edge.name != name for edge in edges):
            problems.append(
                f"joint {name!r} is a {joints[name].type}: it is never in the tree, so there is nothing to cut."
            )
    if problems:
        raise ModelError(*problems)


def _chains(bodies: Sequence[str], edges: list[Edge]) -> list[tuple[list[str], list[Edge]]]:
    """Bodies that joints tie together, with these joints; the chain of the ground first."""
    together = Partition(edges)
    chains: dict[str, tuple[list[str], list[Edge]]] = {}
    for body in (GROUND, *bodies):
        chains.setdefault(together.find(body), ([], []))[0].append(body)
    for edge in edges:
        chains[together.find(edge.a)][1].append(edge)
    return list(chains.values())


def _from_the_ground(tree: list[Edge], types: Mapping[str, str]) -> tuple[TreeEdge, ...]:
    """The edges of `tree` in depth-first order, joints of one body in the order of the file."""
    at = neighbours(sorted(tree, key=lambda edge: edge.index, reverse=True))
    ordered: list[TreeEdge] = []
    stack: list[tuple[str, Edge | None]] = [(GROUND, None)]
    while stack:
        body, arrival = stack.pop()
        if arrival is not None:
            parent = arrival.other(body)
            ordered.append(TreeEdge(arrival.name, types[arrival.name], parent, body, reversed=parent != arrival.a))
        stack += [(edge.other(body), edge) for edge in at.get(body, ()) if edge is not arrival]
    return tuple(ordered)
