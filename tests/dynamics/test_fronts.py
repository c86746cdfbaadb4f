"""Fronts in place of full matrices: the same motions and gradients, and only where they serve."""

import warnings

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.bench.windows import windows
from kinegrad.dynamics.schemes import fronts_pay
from kinegrad.errors import AccuracyWarning, KinegradError

TIGHT = {"tolerance": 1e-14, "max_iterations": 50}
FORMULATIONS = {
    "ali3p": (kg.ALI3P(**TIGHT), "newmark"),
    "ali3p, exact projections": (kg.ALI3P(projection_method="augmented-lagrangian", **TIGHT), "hht"),
    "index1": (kg.Index1(), "rk4"),
    "penalty": (kg.Penalty(**TIGHT), "newmark"),
}


def both(system, formulation, integrator, **times):
    """Motions by full matrices and by fronts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return [kg.simulate(system, formulation, integrator, solver=solver, **times) for solver in ("dense", "fronts")]


def assert_alike(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("kind", ["joint", "reference-point"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_same_motion_and_gradients(name, kind):
    """Three windows: rows are redundant in reference-point coordinates."""
    formulation, integrator = FORMULATIONS[name]
    system = kg.lower(windows(3), kind)
    full, few = both(system, formulation, integrator, t_end=0.01, step=1e-3)
    assert few.system.solver == "fronts" and full.system.solver == "dense"
    for part in ("q", "qd", "qdd"):
        assert_alike(getattr(few, part), getattr(full, part), 1e-12)
    for method in ("direct", "adjoint"):
        expected, found = (
            kg.gradient(m, wrt=["m", "L", "v"], method=method, tighten=False).matrix for m in (full, few)
        )
        assert_alike(found, expected, 1e-12)


def test_there_is_no_matrix_of_all_coordinates():
    system = kg.reference_point(windows(20)).with_solver("fronts")
    work, n = system.workspace(ds=system.directions(["m"])), system.n
    largest = max(
        array.size for name, array in work.arrays.items() if name != "apart"
    )  # where redundant rows are sorted out
    assert n > 250 and largest < 0.3 * n * n
    assert work.arrays["M"].size == sum(map(len, system.structure.square)) < 0.1 * n * n


def test_they_are_taken_where_they_pay():
    """Many loops side by side; not few coordinates, and not a chain, in which every coordinate carries all others."""
    assert fronts_pay(kg.joint(windows(20))) and fronts_pay(kg.reference_point(windows(4)))
    assert not fronts_pay(kg.joint(windows(10)))
    links = {f"b{i}": {"mass": 1, "inertia": [1, 1, 1], "markers": {"A": [0, 0, 0], "B": [1, 0, 0]}} for i in range(40)}
    ends = ["ground.O", *(f"b{i}.B" for i in range(39))]
    joints = {
        f"j{i}": {"type": "revolute", "between": [end, f"b{i}.A"], "axis": [0, 0, 1]} for i, end in enumerate(ends)
    }
    chain = kg.Model.from_dict(
        {"kinegrad": 1, "ground": {"markers": {"O": [0, 0, 0]}}, "bodies": links, "joints": joints}
    )
    assert not fronts_pay(kg.joint(chain))
    motion = kg.simulate(kg.joint(windows(20)), t_end=2e-3, step=1e-3)
    assert motion.system.solver == "fronts"


def test_what_needs_full_matrices_says_so():
    system = kg.joint(windows(1))
    for formulation in ("matrix-r", "recursive"):
        with pytest.raises(KinegradError, match=f"'fronts' does not serve the formulation '{formulation}'"):
            kg.simulate(system, formulation, "rk4", t_end=1e-3, solver="fronts")
    with pytest.raises(KinegradError, match="'sparse' is no solver; choose from auto, dense, fronts"):
        kg.simulate(system, t_end=1e-3, solver="sparse")


def test_matrix_r_takes_no_more_than_it_can():
    with pytest.raises(
        KinegradError, match="'matrix-r' factors full matrices, of 301 coordinates here; it takes up to 300"
    ):
        kg.simulate(kg.joint(windows(150)), "matrix-r", "rk4", t_end=1e-3)


def test_a_coordinate_that_nothing_holds_is_named():
    from kinegrad.kernels.solvers.fronts import STATUS, WHERE
    from kinegrad.kernels.status import SINGULAR
    from kinegrad.reasons import explanation, singular_coordinate

    system = kg.joint(windows(2))
    work = system.with_solver("fronts").workspace()
    assert singular_coordinate(work) == singular_coordinate(system.workspace()) == ""
    work["front_job"][[STATUS, WHERE]] = SINGULAR, 3
    sentence = explanation(SINGULAR, 0.5, 1e-3, kg.ALI3P(), singular_coordinate(work))
    assert f"became singular at {str(system.coordinates[3])!r}; look for" in sentence
