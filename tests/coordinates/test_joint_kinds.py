"""Every kind of joint on two bodies: its answers for the tree, for closures, reactions and the page are those of one joint."""

import ast
import re
from pathlib import Path

import joint_roles as roles
import numpy as np
import pytest
from helpers import assert_close

import kinegrad
from kinegrad import rotations
from kinegrad.coordinates.joints import FREE, KINDS
from kinegrad.coordinates.joints.base import JointKind
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError
from kinegrad.kernels.joint.records import EULER, SCREW, SLIDE, TURN
from kinegrad.kernels.products import EVALUATE, FREEDOMS, OBSERVE
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import Model
from kinegrad.reactions.solve import Balance

EXAMPLES = roles.KINDS | {"floating": {}, "link": {"length": 0.8}}
IN_TREE = [example for example in EXAMPLES if KINDS[example.split()[0]].in_tree]
UNITS = {TURN: "rad", SCREW: "rad", SLIDE: "m", EULER: "1"}
SOURCES = Path(kinegrad.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"


def kind_of(example):
    return KINDS[example.split()[0]]


def description(example, base="a"):
    """Two bodies with a joint between them, of which `base` floats."""
    inertia = {"mass": 1, "com": [0.1, 0, 0], "inertia": [1, 1, 1]}
    return {
        "kinegrad": 1,
        "ground": {"markers": {"O": [0.3, -0.2, 0.5]}},
        "bodies": {
            "a": inertia | {"markers": {"p": [0.3, 0.2, 0.1]}},
            "b": inertia | {"markers": {"p": [-0.2, 0.1, 0.4]}},
        },
        "joints": {
            f"{base}_air": {"type": "floating", "between": ["ground.O", f"{base}.p"]},
            "it": {"type": example.split()[0], "between": ["a.p", "b.p"], **EXAMPLES[example]},
        },
    }


def closed(d, starts=()):
    """The same with both bodies floating and the joint closed by rows; `starts` are coordinates that are measured."""
    floating = {f"{body}_air": {"type": "floating", "between": ["ground.O", f"{body}.p"]} for body in "ab"}
    it = d["joints"]["it"] | ({"cut": True} if KINDS[d["joints"]["it"]["type"]].in_tree else {})
    measured = {f"it.{part}": {"position": 0.0} for part in starts}
    return joint(Model.from_dict(d | {"joints": floating | {"it": it}, "degrees_of_freedom": measured}))


def random_coordinates(system, rng):
    """Coordinates of a tree, Euler parameters normalised; a screw has turned more than once."""
    q = rng.uniform(-1.4, 1.4, system.n)
    for k, _ in system.set.euler.values():
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    for node in system.set.nodes:
        if node["type"] == SCREW:
            q[node["k"]] += 4.0 * np.pi
    return q


def poses(system, q):
    """Orientation and origin of each body."""
    work = system.workspace()
    work["q"][:] = q
    work.call(EVALUATE)
    work.call(OBSERVE)
    A, r, _, _ = system.set.bodies(system, work)
    return {name: (A[i].copy(), r[i].copy()) for i, name in enumerate(system.model.bodies)}


def placed(d, place):
    """A description with the poses of its bodies."""
    for name, (A, r) in place.items():
        d["bodies"][name]["pose"] = {"origin": r.tolist(), "x_axis": A[:, 0].tolist(), "z_axis": A[:, 2].tolist()}
    return d


def somewhere(example, rng, base="a"):
    """A description with poses at which the joint is closed, the tree system and its coordinates there."""
    d = description(example, base)
    if not kind_of(example).in_tree:  # both bodies float
        system = joint(Model.from_dict(d))
        q = random_coordinates(system, rng)
        place = poses(system, q)
        (A1, r1), (A2, r2) = place["a"], place["b"]
        x1, x2 = r1 + A1 @ d["bodies"]["a"]["markers"]["p"], r2 + A2 @ d["bodies"]["b"]["markers"]["p"]
        d["joints"]["it"]["length"] = float(np.linalg.norm(x2 - x1))
        return placed(d, place), system, q
    system = joint(Model.from_dict(d))
    q = random_coordinates(system, rng)
    return placed(d, poses(system, q)), system, q


def free_of(system, q):
    """Coordinates of the free directions of the joint at q; motions S (6, f) and wrenches D at its second marker."""
    balance, rest = Balance(system), np.zeros((1, system.n))
    balance.run(np.zeros(1), q[None], rest, rest)
    own = balance.topology.joint[balance.tables.joints["it"]]
    free = balance.topology.direction[own["d0"] : own["d1"]]
    slides, x = (free["type"] == SLIDE)[:, None], own["x2"]
    v, omega = np.split(free["S"], 2, axis=1)
    S = np.hstack([v - np.cross(x, omega), omega])
    D = np.hstack([free["g"] * slides, free["g"] * ~slides])
    return [part for joint, part in balance.tables.parts if joint == "it"], S.T, D.T


def rotation(pose):
    x, z = np.array(pose["x_axis"]), np.array(pose["z_axis"])
    return np.column_stack([x, np.cross(z, x), z])


def test_every_class_of_the_model_has_a_kind_in_a_file_of_its_own():
    assert {name: kind.model for name, kind in KINDS.items()} == JOINTS
    for name, kind in KINDS.items():
        assert type(kind).__module__ == f"kinegrad.coordinates.joints.{name}"
        assert kind.type == name
        assert kind.model.n_coordinates == len(kind.coordinates)
        assert set(kind.model.coordinates) <= set(kind.coordinates)
    assert KINDS[FREE.type] is FREE
    assert {example.split()[0] for example in EXAMPLES} == set(KINDS)


def test_the_architecture_page_says_what_a_kind_answers_and_where_it_stands():
    page = (DOCS / "theory" / "architecture.md").read_text(encoding="utf-8")
    part = page[page.index("**A joint**") : page.index("**A coordinate set**")]
    answers = {name for name in (*vars(JointKind), *JointKind.__annotations__) if not name.startswith("_")}
    assert {name for name in answers if f"`{name}`" not in part} == {"model", "type"}
    for place in re.findall(r"^\| `([^|]*)` \|", part, re.MULTILINE)[:5]:
        for path in place.split("`, `"):
            root = DOCS.parent if path.startswith("docs") else SOURCES
            assert (root / path.replace("NAME", "revolute")).is_file(), path


def test_types_are_compared_nowhere_else():
    """No comparison with, and no table by, the type of a joint outside the kinds and the classes of the model.

    But for the table of joints that are found from points and vectors, which is one of types.
    """
    by_points = [SOURCES / "model" / name for name in ("points.py", "found_joints.py")]
    found = []
    for path in SOURCES.rglob("*.py"):
        if path.parent.name == "joints" or path in (SOURCES / "model" / "joints.py", *by_points):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                words = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
            elif isinstance(node, ast.Dict):
                words = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                words = words if len(set(words) & set(KINDS)) > 1 else []
            else:
                continue
            found += [(path.name, node.lineno, word) for word in words if isinstance(word, str) and word in KINDS]
    for path in SOURCES.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        found += [(path.name, word) for word in KINDS if re.search(rf"""["']{word}["']""", text)]
    assert not found


@pytest.mark.parametrize("example", IN_TREE)
def test_motions_have_the_coordinates_of_the_kind(example):
    kind, system = kind_of(example), joint(Model.from_dict(description(example)))
    own = [k for k, name in enumerate(system.coordinates) if name.startswith("it.")]
    assert [system.coordinates[k] for k in own] == [f"it.{name}" for name in kind.coordinates]
    nodes, coordinates = system.set.nodes, system.set.screws
    assert [UNITS[nodes[coordinates[k]["node"]]["type"]] for k in own] == list(kind.coordinates.values())
    assert ("it" in system.set.euler) == bool(kind.n_norms)
    assert system.set.tree.n_coordinates == system.n


def test_a_kind_that_is_never_in_the_tree_has_no_coordinates():
    for example in set(EXAMPLES) - set(IN_TREE):
        system = joint(Model.from_dict(description(example)))
        assert system.set.tree.links == ("it",)
        assert kind_of(example).coordinates == {} and system.n == 2 * len(FREE.coordinates)


@pytest.mark.parametrize("example", EXAMPLES)
def test_rows_and_free_directions_are_six(example, rng):
    kind = kind_of(example)
    d, _, _ = somewhere(example, rng)
    system = closed(d)
    rows = [row for row in system.rows if row.closure and row.name.startswith("it")]
    free = len(free_of(system, system.set.guess(system, system.s))[0])
    assert len(rows) == kind.n_rows
    assert sum(row.number >= 0 for row in rows) + free == 6
    if kind.in_tree:
        assert free == len(kind.coordinates) - kind.n_norms


@pytest.mark.parametrize("base", ["a", "b"])
@pytest.mark.parametrize("example", IN_TREE)
def test_the_guess_inverts_the_motions(example, base, rng):
    """Also where the tree leads from the second body to the first."""
    d, system, q = somewhere(example, rng, base)
    assert any(edge.joint == "it" and edge.reversed == (base == "b") for edge in system.set.tree.edges)
    again = joint(Model.from_dict(d))
    guess = again.set.guess(again, again.s)
    for k, _ in system.set.euler.values():
        guess[k : k + 4] *= np.sign(guess[k : k + 4] @ q[k : k + 4])
    assert_close(guess, q, 1e-12)


MEASURED = [example for example in EXAMPLES if kind_of(example).model.coordinates and "without" not in example]


@pytest.mark.parametrize("example", MEASURED)
def test_measures_are_the_coordinates_of_the_tree(example, rng):
    kind = kind_of(example)
    d, tree, q = somewhere(example, rng)
    system = closed(d, kind.model.coordinates)
    work = system.workspace()
    work["q"][:] = system.set.guess(system, system.s)  # the poses, whatever is asked
    work.call(EVALUATE)
    for own in system.own:
        work["q"][own.k] = work["Phi"][own.row]
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    assert np.abs(work["Phi"][: system.m]).max() < 1e-12
    assert [freedom.name for freedom in system.freedoms] == [f"it.{part}" for part in kind.model.coordinates]
    for freedom, part in zip(system.freedoms, kind.model.coordinates, strict=True):
        off = work["Phi"][freedom.row] - q[tree.set.index["it", part]]
        turns = np.round(off / (2.0 * np.pi)) if kind.coordinates[part] == "rad" and kind.type != "screw" else 0.0
        assert abs(off - 2.0 * np.pi * turns) < 1e-12


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.model.coordinates])
def test_what_has_no_name_is_not_measured(name):
    if name == "floating":
        pytest.skip("the names of its position are its own")
    with pytest.raises(KinegradError, match=f"joint 'it' is {name}: it has no coordinate 'angle'"):
        KINDS[name].measure(None, None, "it", None, "angle")


@pytest.mark.parametrize("example", EXAMPLES)
def test_free_directions_change_no_row_and_their_wrenches_are_dual(example, rng):
    d, _, _ = somewhere(example, rng)
    system = closed(d)
    work = system.workspace()
    work["q"][:] = system.set.guess(system, system.s)
    work.call(EVALUATE)
    rows = [row.number for row in system.rows if row.closure and row.name.startswith("it") and row.number >= 0]
    J, (parts, S, D) = work["J"][rows], free_of(system, work["q"])
    assert_close(D.T @ S, np.eye(len(parts)), 1e-12)
    for v, omega in zip(S[:3].T, S[3:].T, strict=True):  # of the second body; the first stays
        qd = np.zeros(system.n)
        qd[[system.set.index["b_air", c] for c in "xyz"]] = v
        first = system.set.euler["b_air"][0]
        qd[first : first + 4] = 0.5 * rotations.E_of(work["q"][first : first + 4]).T @ omega
        assert np.abs(J @ qd).max(initial=0.0) < 1e-12
    if rows:
        assert np.linalg.matrix_rank(J, tol=1e-9) == len(rows)


@pytest.mark.parametrize("example", IN_TREE)
def test_a_free_direction_is_the_motion_at_unit_rate_of_its_coordinate(example, rng):
    d, system, q = somewhere(example, rng)
    parts, S, _ = free_of(system, q)
    assert {part for part in parts if part} == {part for name, part in system.set.index if name == "it"}
    A, r = rotation(d["bodies"]["b"]["pose"]), np.array(d["bodies"]["b"]["pose"]["origin"])
    x = r + A @ d["bodies"]["b"]["markers"]["p"]
    work = system.workspace()
    for i, part in enumerate(parts):
        if part:
            work["q"][:], work["vp"][:] = q, np.arange(system.n) == system.set.index["it", part]
            work["v"][:] = work["vp"]
            work.call(EVALUATE)
            work.call(OBSERVE)
            v, omega = np.split(system.set.bodies(system, work)[2][1], 2)
            assert_close(np.concatenate([v + np.cross(omega, x), omega]), S[:, i], 1e-12)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_holds_something_is_drawn(example):
    kind, model = kind_of(example), Model.from_dict(description(example))
    drawing, axes = kind.drawing, model.joints["it"].axis_pair
    assert bool(drawing.symbols or drawing.bar) == (kind.n_rows > 0)
    for symbol in drawing.symbols:
        assert symbol.solid in ("cylinder", "box", "sphere")
        assert symbol.radius > 0.0 and (symbol.length > 0.0 or symbol.solid == "sphere")
        assert symbol.end in (0, 1) and (symbol.axis is None or (symbol.axis in (0, 1) and axes is not None))
    assert axes is not None or not (drawing.rail or drawing.runner)
