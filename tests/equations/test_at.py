"""Matrices of a system and rows of its elements at a state: names, identities, mistakes, and tables for people."""

import re
import subprocess
import sys

import numpy as np
import pytest
from equations.every_row import every_row

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.errors import KinegradError


@pytest.fixture(scope="module", params=list(SETS))
def case(request):
    return every_row(request.param)


def test_every_row_belongs_to_an_element_and_every_element_has_its_rows(case):
    model = case.system.model
    names = [*(n for n in model.joints if n.startswith("c")), *model.constraints, *model.drivers]
    elements = {name: case.system.element(name) for name in names}
    for name in ("ja", "jb", "a", "b"):  # normalisations, wherever Euler parameters are
        try:
            elements[name] = case.system.element(name)
        except KinegradError as error:
            assert "has no" in str(error)
    found = [row for element in elements.values() for row in element.rows]
    assert sorted(found) == sorted(case.system.row_names)
    assert elements["parallel"].rows == ("parallel.x", "parallel.y")
    assert (
        repr(elements["plane"])
        == f"<point-in-plane constraint 'plane' in {case.system.kind} coordinates: 1 row, plane>"
    )


def test_rows_of_an_element_are_those_of_the_system(case):
    system, state = case.system, case.state
    lam = np.random.default_rng(7).normal(size=system.m)
    here = system.at(state["q"], state["v"], case.t, lam=lam)
    total = np.zeros((system.n, system.n))
    for name in dict.fromkeys(re.match(r"\w+", row)[0] for row in system.row_names):
        element = system.element(name)
        rows = [system.row_names.index(row) for row in element.rows]
        mine = element.at(state["q"], state["v"], case.t, lam=lam[rows])
        for key in ("Phi", "Phi_q", "Phi_t", "nu", "gamma", "gamma_q", "gamma_qd"):
            assert np.array_equal(getattr(mine, key).values, getattr(here, key).values[rows]), (name, key)
        assert getattr(mine, key).rows == element.rows and mine.Phi_q.columns == system.coordinates
        total += mine.PhiqTlam_q.values
    assert np.abs(total - here.PhiqTlam_q).max() < 1e-12 * np.abs(total).max()


LOOP = """
kinegrad: 1
title: Four bars
ground: {markers: {A: [0, 0, 0], D: [0.8, 0, 0]}}
bodies:
  a: {pose: {x_axis: [0.2, 1, 0]}, mass: 1, com: [0.15, 0, 0], inertia: [0.1, 0.1, 0.1],
      markers: {A: [0, 0, 0], B: [0.3, 0, 0]}}
  b: {pose: {origin: [0, 0.3, 0], x_axis: [1, 0.4, 0]}, mass: 2, inertia: [0.1, 0.1, 0.1],
      markers: {B: [0, 0, 0], C: [0.9, 0, 0]}}
  d: {pose: {origin: [0.9, 0.6, 0], x_axis: [-0.1, -1, 0]}, mass: 1, inertia: [0, 0.1, 0.1],
      markers: {C: [0, 0, 0], D: [0.6, 0, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  JB: {type: revolute, between: [a.B, b.B], axis: [0, 0, 1]}
  JC: {type: revolute, between: [b.C, d.C], axis: [0, 0, 1]}
  JD: {type: revolute, between: [d.D, ground.D], axis: [0, 0, 1]}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}
"""


@pytest.mark.parametrize("kind", list(SETS))
def test_velocities_and_accelerations_follow_from_the_matrices(kind):
    """qd = R zd + S b, Phi_q R = 0, and the equations of motion hold for what a simulation starts with."""
    system = kg.lower(kg.Model.from_yaml_text(LOOP), kind)
    motion = kg.simulate(system, "index1", "rk4", t_end=1e-3, step=1e-3)
    q, qd, qdd, lam = (x[0] for x in (motion.q, motion.qd, motion.qdd, motion.lam))
    here = system.at(q, qd, lam=lam, qdd=qdd)
    size = np.abs(here.Q.values).max()
    assert np.abs(here.M @ qdd + here.Phi_q.values.T @ lam - here.Q).max() < 1e-11 * size
    assert np.abs(here.Phi_q @ qdd - here.gamma).max() < 1e-11 and np.abs(here.Phi).max() < 1e-12
    assert here.R.columns == ("JA.angle",)
    assert np.abs(here.Phi_q @ here.R).max() < 1e-13
    assert np.abs(here.R @ [1.0] + here.S @ here.b - qd).max() < 1e-12


def test_matrix_s_carries_what_is_driven():
    """The crank of four bars is driven: nothing is free, R has no columns, and qd = S b."""
    text = LOOP.replace("degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}", "")
    system = kg.joint(kg.Model.from_yaml_text(text + "drivers: {crank: {measure: JA.angle, value: pi/2 + 2*t}}\n"))
    assembly = kg.assemble(system)
    here = system.at(assembly.q)
    assert here.R.shape == (system.n, 0) and here.b["crank"] == 2.0
    qd = here.S @ here.b
    assert qd[system.coordinates.index("JA.angle")] == pytest.approx(2.0, abs=1e-14)
    assert np.abs(here.Phi_q @ qd - here.nu).max() < 1e-13


def test_mistakes_are_told():
    system = kg.joint(kg.Model.from_yaml_text(LOOP))
    q = kg.assemble(system).q
    for what, sentence in {
        lambda: system.at(q[:2]): r"^q has 2 numbers; in joint coordinates the model has \d: J",
        lambda: system.at(q, q * np.nan): "qd is not finite at 'J",
        lambda: system.at("x"): "q is 'x'; give",
        lambda: system.at(q).PhiqTlam_q: "PhiqTlam_q holds lam fixed; give it",
        lambda: system.at(q).Ma_q: "Ma_q holds qdd fixed",
        lambda: system.at(q).M["JX.angle"]: "M has no row or column 'JX.angle'",
        lambda: system.element("JX"): "There is no element 'JX'",
        lambda: system.element("weight"): "force 'weight' has no constraint rows",
        lambda: system.element("a"): "body 'a' has no constraint rows in joint coordinates",
        lambda: system.element("JA"): r"revolute joint 'JA' has no rows in joint coordinates, where it is JA\.angle",
        lambda: system.element(cut_of(system)).at(q).PhiqTlam_q: "holds lam fixed; give lam",
        lambda: system.element(cut_of(system)).at(q, lam=[1.0]): "lam of 'J.' is .* give 2 finite numbers",
    }.items():
        with pytest.raises(KinegradError, match=sentence):
            what()


def cut_of(system):
    return system.set.spanning_tree().cut[0]


def test_degrees_of_freedom_that_fail_are_told():
    """Where all bars lie on a line, no point moves along it."""
    system = kg.joint(kg.Model.from_yaml_text(LOOP.replace("JA.angle", "d.C.x")))
    with pytest.raises(KinegradError, match=r"R and S do not exist at t = 0: .*\(d\.C\.x\) determine 1 of 3"):
        system.at(np.zeros(system.n)).R  # noqa: B018


def test_tables_for_people():
    system = kg.joint(kg.Model.from_yaml_text(LOOP))
    here = system.at(kg.assemble(system).q)
    assert repr(here).startswith("Four bars in joint coordinates at t = 0 s: n = 3, m = 2\n\nM ")
    lines = repr(here.Phi_q).split("\n")
    assert lines[0].split() == ["Phi_q", *system.coordinates] and lines[1].split()[0] == system.row_names[0]
    assert [float(x) for x in lines[1].split()[1:]] == pytest.approx(here.Phi_q[0].tolist(), rel=1e-5)
    assert here.Phi_q[system.row_names[1], system.coordinates[2]] == here.Phi_q.values[1, 2]
    html = here._repr_html_()
    assert html.count("<table>") == 6 and f"<th>{system.coordinates[0]}</th>" in html
    frame = here.Phi_q.to_dataframe()
    assert list(frame.index) == system.row_names and list(frame.columns) == list(system.coordinates)
    assert here.gamma.to_dataframe().shape == (2, 1)
    with pytest.raises(ValueError, match="read-only"):
        here.M.values[0, 0] = 1.0


def test_a_wide_table_leaves_columns_of_zeros_out():
    from kinegrad.equations.named import NamedArray

    values = np.zeros((2, 30))
    values[0, 3], values[1, 17] = 1.5, -2.0
    array = NamedArray("Phi_q", values, ("r", "s"), [f"x{k}" for k in range(30)])
    assert repr(array).split() == "Phi_q x3 x17 r 1.5 0 s 0 -2 (28 columns of zeros left out)".split()
    assert "28 columns of zeros left out" in array._repr_html_()
    assert repr(NamedArray("Phi", np.zeros(0), ())) == "Phi: no rows"
    assert repr(NamedArray("nu", [3.0, 2e-16, 4e-15, 0.0], "abcd")).split() == "nu a 3 b ~0 c 4e-15 d 0".split()
    square = np.zeros((30, 30))
    square[3, 17] = 2.5
    array = NamedArray("H", square, array.columns, array.columns)
    assert repr(array) == "H   x17\nx3  2.5\n(29 rows of zeros left out; 29 columns of zeros left out)"
    assert repr(NamedArray("H", 0.0 * square, array.rows, array.rows)) == "H: zero"


def test_nothing_heavy_is_loaded_to_lower_a_model():
    program = (
        "import sys, kinegrad as kg\n"
        f"kg.Model.from_yaml_text('''{LOOP}''')\n"
        "print([name for name in sys.modules if name.startswith('kinegrad.equations')])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
