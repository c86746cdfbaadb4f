"""Choice of the tree and of the cuts: the two examples, the rule against enumeration, forced cuts, free bodies."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegrad.coordinates.joint import loop_cutting
from kinegrad.coordinates.joint.graph import Edge, path
from kinegrad.coordinates.joint.loop_cutting import open_loops
from kinegrad.coordinates.joint.spanning_tree import (
    GROUND,
    TreeEdge,
    span,
    spanning_tree,
)
from kinegrad.coordinates.joints import KINDS
from kinegrad.errors import ModelError
from kinegrad.model.model import Model

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass
class Joint:
    type: str
    between: tuple[str, str]
    cut: bool = False


def revolutes(*pairs):
    """Revolute joints J0, J1... between pairs of bodies written "ab"; g is the ground."""
    return {
        f"J{k}": Joint("revolute", tuple(f"{GROUND if b == 'g' else b}.P" for b in pair))
        for k, pair in enumerate(pairs)
    }


FIVE_BAR = {
    "JA": Joint("revolute", ("ground.A", "bar_A1.A")),
    "J1": Joint("revolute", ("bar_A1.P1", "bar_12.P1")),
    "J2": Joint("revolute", ("bar_12.P2", "bar_23.P2")),
    "J3": Joint("revolute", ("bar_23.P3", "bar_3B.P3")),
    "JB": Joint("revolute", ("ground.B", "bar_3B.B")),
}
BARS = ["bar_A1", "bar_12", "bar_23", "bar_3B"]
SLIDER_CRANK = {
    "pivot": Joint("revolute", ("ground.A", "crank.A")),
    "ball": Joint("spherical", ("crank.B", "rod.B")),
    "universal": Joint("cardan", ("slider.C", "rod.C")),
    "rail": Joint("prismatic", ("ground.O", "slider.C")),
}
PARTS = ["crank", "rod", "slider"]


def test_five_bar_is_cut_in_the_middle():
    tree = span(BARS, FIVE_BAR, used={"JA", "J1"})
    assert tree.cut == ("J2",)
    assert tree.edges == (
        TreeEdge("JA", "revolute", "ground", "bar_A1", reversed=False),
        TreeEdge("J1", "revolute", "bar_A1", "bar_12", reversed=False),
        TreeEdge("JB", "revolute", "ground", "bar_3B", reversed=False),
        TreeEdge("J3", "revolute", "bar_3B", "bar_23", reversed=True),
    )
    assert (tree.n_coordinates, tree.n_rows, tree.depth) == (4, 6, 2)
    assert tree.free == tree.links == tree.measured == ()


@pytest.mark.parametrize(
    ("cut", "n", "m"), [(None, 4, 3), ("ball", 4, 3), ("pivot", 7, 7), ("universal", 6, 5), ("rail", 7, 10)]
)
def test_slider_crank_has_the_published_counts(cut, n, m):
    tree = span(PARTS, SLIDER_CRANK, used={"pivot"}, cut=[cut] if cut else [])
    assert (tree.n_coordinates, tree.n_rows) == (n, m)
    assert tree.cut == (cut or "ball",)
    assert tree.measured == (("pivot",) if cut == "pivot" else ())


def test_a_model_tells_which_joints_it_uses():
    five_bar, slider_crank = (Model.from_yaml(EXAMPLES / name / "model.yaml") for name in ("five_bar", "slider_crank"))
    assert spanning_tree(five_bar) == span(BARS, FIVE_BAR, used={"JA", "J1"})
    assert spanning_tree(slider_crank, cut=["pivot"]).measured == ("pivot",)
    assert spanning_tree(slider_crank).measured == ()
    slider_crank.degrees_of_freedom = {}
    slider_crank.measures["bend"] = "2*universal.angle2"
    assert spanning_tree(slider_crank, cut=["universal"]).measured == ("universal",)


def test_coordinates_and_rows_of_a_tree():
    tree = spanning_tree(Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml"))
    assert (tree.n_coordinates, tree.n_rows) == (4, 3)


def test_counts_of_every_joint_type():
    """Freedoms left by the closure rows are those of the coordinates, less what is redundant in the rows."""
    freedoms = {"fixed": 0, "revolute": 1, "prismatic": 1, "screw": 1, "cylindrical": 2, "cardan": 2, "planar": 3}
    freedoms |= {"spherical": 3, "floating": 6, "link": 5}
    redundant = {"revolute": 1, "prismatic": 4, "screw": 2, "cylindrical": 2, "planar": 1}
    assert {kind: KINDS[kind].n_rows for kind in freedoms} == {
        kind: 6 - free + redundant.get(kind, 0) for kind, free in freedoms.items()
    }
    assert not KINDS["link"].in_tree and all(KINDS[kind].in_tree for kind in freedoms if kind != "link")


def test_spherical_goes_before_a_joint_with_as_many_freedoms_and_most_coordinates_next():
    joints = revolutes("ga", "ab", "bc", "gc")
    joints["J0"].type, joints["J3"].type = "planar", "cylindrical"
    assert span("abc", joints).cut == ("J0",)
    joints["J1"].type = "spherical"
    assert span("abc", joints).cut == ("J1",)
    assert span("abc", joints, used={"J1"}).cut == ("J0",)
    assert span("abc", joints, used={"J0", "J1"}).cut == ("J3",)


def test_last_in_the_file_decides_between_equal_trees():
    four_bar = revolutes("ga", "ab", "bc", "gc")  # J1 and J2 leave depth 2 both
    assert span("abc", four_bar).cut == ("J2",)
    assert span("abc", dict(reversed(four_bar.items()))).cut == ("J1",)


def test_a_branch_makes_its_side_of_the_loop_deeper():
    """A long arm on body c pulls c nearer to the ground, away from the middle of the loop."""
    joints = revolutes("ga", "ab", "bc", "cd", "de", "ge", "cw", "wx", "xy")
    tree = span("abcdewxy", joints)
    assert tree.depth == 6
    assert tree.cut == ("J3",)


def test_two_loops_in_different_blocks_do_not_disturb_each_other():
    long_loop = ["ga", "ab", "bc", "cd", "de", "ef", "gf"]
    short_loop = ["gp", "pq", "qr", "gr"]
    alone = set(span("abcdef", revolutes(*long_loop)).cut)
    both = span("abcdefpqr", revolutes(*long_loop, *short_loop))
    assert set(both.cut) == alone | {"J9"}
    assert both.depths["q"] == 2


def test_two_hinges_on_one_door_leave_one_in_the_tree():
    tree = span("d", revolutes("gd", "gd"))
    assert tree.cut == ("J1",)
    assert (tree.n_coordinates, tree.n_rows) == (1, 6)


def test_links_are_rows_and_never_tree_edges():
    joints = revolutes("ga", "ab")
    joints["J1"].type = "link"
    tree = span("ab", joints)
    assert tree.links == ("J1",) and tree.cut == ()
    assert tree.free == ("b_free",)
    assert (tree.n_coordinates, tree.n_rows) == (1 + 7, 1 + 1)


def test_a_floating_joint_that_closes_a_loop_costs_nothing():
    joints = revolutes("ga", "ab", "gb")
    joints["J0"].type, joints["J1"].type = "floating", "spherical"
    tree = span("ab", joints)
    assert tree.cut == ("J0",)
    assert (tree.n_coordinates, tree.n_rows) == (5, 1)


def test_a_free_chain_floats_at_its_middle():
    tree = span(["rear", "frame", "fork", "front"], {
        "hub": Joint("revolute", ("rear.O", "frame.R")),
        "head": Joint("revolute", ("frame.H", "fork.H")),
        "axle": Joint("revolute", ("front.O", "fork.F")),
    })  # fmt: skip
    assert tree.free == ("frame_free",)  # frame and fork do equally well; the frame is first in the file
    assert tree.edges[0] == TreeEdge("frame_free", "floating", "ground", "frame", reversed=False)
    assert {edge.joint: edge.reversed for edge in tree.edges[1:]} == {"hub": True, "head": False, "axle": True}
    assert (tree.n_coordinates, tree.n_rows, tree.depth) == (10, 1, 3)


def test_a_long_free_chain_floats_at_its_middle():
    names = [f"b{k}" for k in range(101)]
    joints = {f"J{k}": Joint("cardan", (f"b{k}.B", f"b{k + 1}.A")) for k in range(100)}
    tree = span(names, joints)
    assert tree.free == ("b50_free",)
    assert tree.depth == 51


def test_every_free_body_gets_its_own_joint_with_an_unused_name():
    tree = span(["a", "a_free", "b"], {})
    assert tree.free == ("a_free_", "a_free_free", "b_free")
    assert (tree.n_coordinates, tree.n_rows, tree.depth) == (21, 3, 1)


def test_no_bodies():
    tree = span([], {})
    assert (tree.edges, tree.n_coordinates, tree.n_rows, tree.depth) == ((), 0, 0, 0)


def test_marks_in_the_file_force_a_cut_and_give_way_to_the_caller():
    joints = {name: Joint(j.type, j.between, cut=name == "JB") for name, j in FIVE_BAR.items()}
    assert span(BARS, joints, used={"JA", "J1"}).cut == ("JB",)
    assert span(BARS, joints, used={"JA", "J1"}, cut=["J3"]).cut == ("J3",)


def test_a_mark_in_another_loop_stays():
    joints = revolutes("ga", "ab", "gb", "gp", "pq", "gq")
    joints["J3"].cut = True
    assert span("abpq", joints, cut=["J0"]).cut == ("J0", "J3")


def sentence(*arguments, **options):
    with pytest.raises(ModelError) as caught:
        span(*arguments, **options)
    return [problem.sentence for problem in caught.value.problems]


def test_forced_cuts_that_open_nothing_are_refused_by_name():
    assert sentence(BARS, FIVE_BAR, cut=["J2", "J3"]) == [
        "joint 'J3' cannot be cut: cutting 'J2' has opened its loop already. Cut one joint per loop."
    ]
    assert sentence("ab", revolutes("ga", "ab"), cut=["J1"]) == [
        "joint 'J1' cannot be cut: it is in no loop, and nothing else ties 'a' to 'b'. Leave it uncut."
    ]
    marked = revolutes("ga", "ab")
    marked["J0"].cut = marked["J1"].cut = True
    assert len(sentence("ab", marked)) == 2


def test_unknown_cuts_are_refused_by_name():
    assert sentence(PARTS, SLIDER_CRANK, cut=["bal", "nut"]) == [
        "there is no joint 'bal' to cut; the joints are pivot, ball, universal, rail.",
        "there is no joint 'nut' to cut; the joints are pivot, ball, universal, rail.",
    ]
    rope = {"rope": Joint("link", ("ground.O", "a.P"))}
    assert "is a link" in sentence("a", rope, cut=["rope"])[0]
    assert "none at all" in sentence("a", {}, cut=["x"])[0]


def test_a_loop_of_used_joints_opens_by_the_same_rule():
    used = set(FIVE_BAR)
    tree = span(BARS, FIVE_BAR, used=used)
    assert tree.cut == tree.measured == span(BARS, FIVE_BAR).cut
    tree = span(BARS, FIVE_BAR, used=used, cut=["J3"])
    assert tree.cut == tree.measured == ("J3",)


def test_a_loop_of_joints_whose_orientation_is_given_is_refused_with_its_remedy():
    balls = {name: Joint("spherical", joint.between) for name, joint in FIVE_BAR.items()}
    (said,) = sentence(BARS, balls, used=set(balls))
    assert said.startswith("the loop of joints 'JA', 'J1', 'J2', 'J3', 'JB' cannot be opened by itself")
    assert "gives the orientation of each" in said and "Leave one out of degrees_of_freedom" in said
    assert span(BARS, balls, used=set(balls) - {"J2"}).cut == ("J2",)


def test_wrong_joints_are_all_named():
    joints = {
        "weld": Joint("glue", ("ground.O", "a.P")),
        "lost": Joint("revolute", ("a.P", "z.P")),
        "self": Joint("revolute", ("a.P", "a.Q")),
    }
    first, second, third = sentence("a", joints)
    assert "'weld'" in first and "'glue'" in first and "revolute" in first
    assert "'lost'" in second and "'z'" in second
    assert "'self'" in third and "itself" in third


def test_long_chains_do_not_recurse():
    n = 1000
    names = [f"b{k}" for k in range(n)]
    joints = {f"J{k}": Joint("revolute", (f"{names[k - 1] if k else GROUND}.A", f"{names[k]}.B")) for k in range(n)}
    tree = span(names, joints)
    assert tree.depth == n
    assert [edge.child for edge in tree.edges] == names


# --- the rule, against enumeration of all cuts ------------------------------------------------------------------------

TYPES = ["revolute", "prismatic", "cylindrical", "cardan", "planar", "spherical", "fixed"]


def depths_of(bodies, joints, cut):
    """Depth of each body, without any function of the package; None when the cut leaves no spanning tree."""
    depth, left = {GROUND: 0}, {n: [m.split(".")[0] for m in j.between] for n, j in joints.items() if n not in cut}
    if len(left) != len(bodies):
        return None
    while left:
        reached = [name for name, (a, b) in left.items() if (a in depth) != (b in depth)]
        level = min((depth[a] if a in depth else depth[b] for a, b in map(left.get, reached)), default=None)
        if level is None:
            return None
        for name in reached:
            a, b = left[name]
            if (a in depth) != (b in depth) and depth.get(a, depth.get(b)) == level:
                depth.setdefault(a, level + 1), depth.setdefault(b, level + 1)
                del left[name]
    return depth


def rank_of_cut(joints, used, cut):
    """Cut joints from the most to the least welcome; more welcome is smaller."""

    def rank(kind, is_used):
        if is_used:
            return True, kind.n_norms > 0, False, 0
        return False, False, kind.type != "spherical", -len(kind.coordinates)

    return sorted(rank(KINDS[joints[n].type], n in used) for n in cut)


def places(joints, cut):
    """Places of the cut joints in the file, the last first."""
    return sorted((list(joints).index(name) for name in cut), reverse=True)


@st.composite
def mechanisms(draw):
    """A connected mechanism with up to 6 bodies and 3 loops, and the joints it uses."""
    n = draw(st.integers(1, 6))
    bodies = [f"b{k}" for k in range(n)]
    pairs = [(draw(st.sampled_from([GROUND, *bodies[:k]])), bodies[k]) for k in range(n)]
    for _ in range(draw(st.integers(0, 3))):
        a, b = draw(st.integers(0, n)), draw(st.integers(0, n))
        if a != b:
            pairs.append(tuple([GROUND, *bodies][k] for k in (a, b)))
    pairs = draw(st.permutations(pairs))
    kinds = TYPES if draw(st.booleans()) else ["revolute", "spherical"]
    joints = {f"J{k}": Joint(draw(st.sampled_from(kinds)), (f"{a}.P", f"{b}.P")) for k, (a, b) in enumerate(pairs)}
    used = {name for name in joints if draw(st.integers(0, 3)) == 0}
    return bodies, joints, used


@given(mechanisms())
def test_the_rule_against_enumeration(mechanism):
    bodies, joints, used = mechanism
    spanning = {
        cut: depths
        for cut in combinations(joints, len(joints) - len(bodies))
        if (depths := depths_of(bodies, joints, cut)) is not None
    }
    best = min(rank_of_cut(joints, used, cut) for cut in spanning)
    if any(entry[1] for entry in best):
        assert "gives the orientation of each" in sentence(bodies, joints, used=used)[0]
        return
    tree = span(bodies, joints, used=used)
    assert tree.depths == spanning[tree.cut]
    assert rank_of_cut(joints, used, tree.cut) == best
    equals = {cut: depths for cut, depths in spanning.items() if rank_of_cut(joints, used, cut) == best}
    assert tree.depth == min(max(depths.values()) for depths in equals.values())
    for cut, depths in equals.items():
        shared = all(depths[body] <= tree.depths[body] for body in depths)
        if shared:  # nothing is shallower at every body, and among the same depths the last in the file are cut
            assert depths == tree.depths
            assert places(joints, cut) <= places(joints, tree.cut)


@given(mechanisms())
def test_edges_come_from_the_ground_and_subtrees_are_contiguous(mechanism):
    bodies, joints, used = mechanism
    try:
        tree = span(bodies, joints, used=used)
    except ModelError:
        return
    place = {edge.child: k for k, edge in enumerate(tree.edges)} | {GROUND: -1}
    assert sorted(place) == sorted([GROUND, *bodies])
    size = dict.fromkeys(place, 1)
    for k, edge in reversed(list(enumerate(tree.edges))):
        assert place[edge.parent] < k
        size[edge.parent] += size[edge.child]
        markers = [marker.split(".")[0] for marker in joints[edge.joint].between]
        assert markers == ([edge.child, edge.parent] if edge.reversed else [edge.parent, edge.child])
    for k, edge in enumerate(tree.edges):
        inside = range(k + 1, k + size[edge.child])
        for j, other in enumerate(tree.edges):
            below = other.child != edge.child and k <= place[other.parent] < k + size[edge.child]
            assert (j in inside) == below


@given(mechanisms())
def test_the_search_for_large_graphs_is_as_deep_as_enumeration_on_single_loops(mechanism):
    bodies, joints, used = mechanism
    exact = outcome(bodies, joints, used)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_cutting, "EXACT_TREES", 0.5)  # not even one tree
        searched = outcome(bodies, joints, used)
    if isinstance(exact, str) or len(joints) - len(bodies) <= 1:
        assert searched == exact
    else:
        assert rank_of_cut(joints, used, searched.cut) == rank_of_cut(joints, used, exact.cut)
        assert exact.depth <= searched.depth <= exact.depth + 1


def outcome(bodies, joints, used):
    """The tree, or the sentences of the error."""
    try:
        return span(bodies, joints, used=used)
    except ModelError as error:
        return str(error)


def test_a_ladder_with_many_loops_is_searched_in_bounded_time():
    """Two stiles of 40 bodies with a rung at each level: every rung but the lowest is a loop."""
    left, right = [f"l{k}" for k in range(40)], [f"r{k}" for k in range(40)]
    joints = {}
    for side in (left, right):
        for k, body in enumerate(side):
            joints[f"S{body}"] = Joint("revolute", (f"{side[k - 1] if k else GROUND}.A", f"{body}.B"))
    for a, b in zip(left, right, strict=True):
        joints[f"R{a}"] = Joint("revolute", (f"{a}.C", f"{b}.C"))
    tree = span(left + right, joints)
    assert tree.depth == 40
    assert tree.cut == tuple(f"R{body}" for body in left)


@pytest.mark.parametrize("seed", range(20))
def test_marks_open_loops_as_if_taken_out_one_after_another(seed):
    """A mark goes if what is left still joins its ends; against that rule taken literally, on random graphs."""
    rng = np.random.default_rng(seed)
    nodes = [f"b{k}" for k in range(9)]
    pairs = [rng.choice(nodes, 2, replace=False) for _ in range(16)]
    edges = [Edge(f"J{k}", str(a), str(b), k) for k, (a, b) in enumerate(pairs)]
    marked = [str(name) for name in rng.permutation([edge.name for edge in edges])[:10]]

    def taken_out(names):
        left, opened = list(edges), []
        for name in names:
            edge = edges[int(name[1:])]
            rest = [other for other in left if other is not edge]
            if path(rest, edge.a, edge.b) is not None:
                left, opened = rest, [*opened, name]
        return opened

    first = taken_out(marked)[0]
    rest = [name for name in marked if name != first]
    expected = taken_out([first, *rest])
    assert [edge.name for edge in open_loops(edges, [first], rest)] == expected
    assert len(expected) > 3
