"""Large systems: no matrix of all coordinates, steppers with the solver of the model, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad import memory
from kinegrad.bench.chain import chain_model
from kinegrad.bench.windows import windows
from kinegrad.coordinates.sets import SETS
from kinegrad.errors import KinegradError

# Without the anchor chain: accelerations of 64 bodies on Cardan joints are known to 1e-9 by either way.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*/model.yaml"))
    if path.parent.name != "anchor_chain"
]


@pytest.mark.parametrize("kind", ["reference-point", "natural"])
def test_there_is_no_matrix_of_all_coordinates_in_a_workspace(kind):
    """Twice as many links take twice the memory, apart from where independent rows are chosen in every step."""
    sizes = []
    for links in (60, 120):
        system = kg.lower(chain_model(links), kind).with_solver("fronts")
        arrays = system.workspace().arrays
        largest = max(array.size for name, array in arrays.items() if name != "apart")
        sizes.append(sum(array.nbytes for name, array in arrays.items() if name != "apart"))
    assert largest < 0.1 * system.n**2
    assert sizes[1] < 2.1 * sizes[0]


def test_nothing_outside_time_loops_makes_one_either(monkeypatch):
    """A start, a rank and multipliers of a chain of 60 links, without a matrix being spread out."""
    from kinegrad.kernels import pattern

    def refuse(*_):
        raise AssertionError("a matrix of all coordinates was made")

    system = kg.reference_point(chain_model(60)).with_solver("fronts")
    monkeypatch.setattr(pattern, "spread", refuse)
    motion = kg.simulate(system, t_end=2e-3, step=1e-3)
    assert np.isfinite(motion.lam).all() and kg.mobility(system).dof == 60


def test_a_stepper_takes_the_solver_of_the_model():
    document = windows(3).to_dict()
    document["simulation"] |= {"solver": "fronts"}
    system = kg.joint(kg.Model.from_dict(document))
    stepper = kg.Stepper(system, step=1e-3)
    motion = kg.simulate(system, step=1e-3, t_end=3e-3)
    assert stepper.system.solver == motion.system.solver == "fronts"
    for _ in range(3):
        stepper.advance()
    np.testing.assert_array_equal(stepper.q, motion.q[-1])
    np.testing.assert_allclose(stepper.lam, motion.lam[-1], rtol=1e-9)
    assert kg.Stepper(system, step=1e-3, solver="dense").system.solver == "dense"
    with pytest.raises(KinegradError, match="'sparse' is no solver"):
        kg.Stepper(system, solver="sparse")
    with pytest.raises(KinegradError, match="'fronts' does not serve the formulation 'matrix-r'"):
        kg.Stepper(system, "matrix-r", "rk4")


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_by_fronts(path, kind):
    """Five steps of every example: motions and gradients to twelve digits, or to what the last bit of the numbers changes."""
    system = kg.lower(kg.Model.from_yaml(path), kind)
    tight, step = kg.ALI3P(tolerance=1e-14, max_iterations=60), 1e-4

    def run(solver, s=None):
        return kg.simulate(system, tight, "newmark", step=step, t_end=5 * step, solver=solver, s=s)

    full, few = run("dense"), run("fronts")
    for part in ("q", "qd"):
        expected = getattr(full, part)
        assert np.abs(getattr(few, part) - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max()), part
    if not (system.objectives and system.parameters.independent):
        return
    wrt = list(system.parameters.independent)[:2]
    for method in ("direct", "adjoint"):
        expected, found = (kg.gradient(m, wrt=wrt, method=method, tighten=False).matrix for m in (full, few))
        off, allowed = np.abs(found - expected).max(), 1e-12 * max(1.0, np.abs(expected).max())
        if off > allowed:  # machines that motors hold against their weights
            moved = 0.0
            for signs in np.random.default_rng(0).choice([-1.0, 1.0], (5, len(system.s))):
                nudged = run("dense", system.s * (1.0 + np.finfo(float).eps * signs))
                other = kg.gradient(nudged, wrt=wrt, method=method, tighten=False).matrix
                moved = max(moved, np.abs(other - expected).max())
            allowed = min(3.0 * moved, 10.0 * allowed)
        assert off <= allowed, method


def test_a_motion_by_drivers_takes_no_more_than_it_can():
    with pytest.raises(KinegradError, match="factors full matrices, of 301 coordinates here; it takes up to 300"):
        kg.drive(kg.joint(windows(150)), t_end=1.0)


def test_what_is_too_large_is_refused_before_memory_is_taken(monkeypatch):
    system = kg.joint(chain_model(40))
    monkeypatch.setattr(memory, "LARGE", 0.0)
    monkeypatch.setattr(memory, "available", lambda: 1e4)
    system.tables["known"].clear()
    with pytest.raises(
        KinegradError, match=r"40 coordinates .* take the solver 'fronts' and reference-point or natural"
    ):
        kg.simulate(system, t_end=1e-3, solver="dense")
    with pytest.raises(
        KinegradError, match=r"Finding which of 40 coordinates meet takes about .* take the solver 'dense'"
    ):
        kg.simulate(system, t_end=1e-3, solver="fronts")


def test_alike_rows_of_expressions_share_their_tapes():
    """An angle of each link: as many instructions as for one."""
    sizes = [len(kg.reference_point(chain_model(links)).tables["packed"].code) for links in (3, 12)]
    assert sizes[0] == sizes[1] > 0
