"""Systems, motions and gradients travel: through pickle, to threads, and to processes by fork and by spawn."""

import concurrent.futures
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad import recipes
from kinegrad.kernels.jit import JIT

ROOT = Path(__file__).parents[1]
RUNS = [
    ("five_bar", kg.ALI3P(), kg.Newmark(), {}),
    ("slider_crank", kg.MatrixR(), kg.RungeKutta4(), {"cut": ["pivot"], "body_point": "com"}),
    ("gyroscope", kg.Index1(), kg.RungeKutta54(), {}),
]


def lowered(name, options):
    return kg.lower(kg.Model.from_yaml(ROOT / "examples" / name / "model.yaml"), "joint", **options)


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def ended(system, formulation, integrator):
    """The last state, and the gradient by the first parameter of the design."""
    motion = kg.simulate(system, formulation, integrator, t_end=0.03, step=1e-3)
    gradient = kg.gradient(motion, wrt=list(system.model.design)[:1] or None, method="discrete-adjoint")
    return np.concatenate([motion.q[-1], motion.qd[-1], gradient.matrix.ravel()])


@pytest.mark.parametrize(("name", "formulation", "integrator", "options"), RUNS, ids=[run[0] for run in RUNS])
def test_a_system_is_made_again_with_the_same_tables_and_values(name, formulation, integrator, options):
    system = lowered(name, options)
    if system.rho.size:
        system = system.with_parameters(system.rho * (1.0 + 1e-3))
    copy = again(system)
    assert copy.set.options == system.set.options and copy.kind == system.kind
    assert copy.coordinates == system.coordinates and copy.rows == system.rows and copy.freedoms == system.freedoms
    assert [c.unit for c in copy.coordinates] == [c.unit for c in system.coordinates]
    assert (copy.rho == system.rho).all() and (copy.s == system.s).all()


@pytest.mark.parametrize(("name", "formulation", "integrator", "options"), RUNS, ids=[run[0] for run in RUNS])
def test_motions_and_gradients_keep_every_digit(name, formulation, integrator, options):
    system = lowered(name, options)
    motion = kg.simulate(system, formulation, integrator, t_end=0.03, step=1e-3)
    copy = again(motion)
    for key in ("t", "q", "qd", "qdd", "lam", "iterations", "flags"):
        assert (getattr(copy, key) == getattr(motion, key)).all(), key
    assert copy.objectives == motion.objectives and copy.energies.drift == motion.energies.drift
    if not system.objectives or not system.model.design:
        return
    gradient = kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    assert (kg.gradient(copy, method="discrete-adjoint").matrix == gradient.matrix).all()
    other = again(gradient)
    assert (other.matrix == gradient.matrix).all() and np.array_equal(other.by_slot, gradient.by_slot, equal_nan=True)
    assert repr(other.by_number()) == repr(gradient.by_number())


def test_a_motion_by_drivers_travels_too():
    model = kg.Model.from_yaml_text(
        "kinegrad: 1\nbodies: {rod: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}}"
        "\n"
        "ground: {markers: {O: [0, 0, 0]}}\njoints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}\n"
        "drivers: {motor: {measure: hinge.angle, value: 2*t}}"
    )
    motion = kg.drive(kg.lower(model), t_end=1.0, step=0.1)
    copy = again(motion)
    assert copy.formulation is None and (copy.marker("rod.P").position == motion.marker("rod.P").position).all()


@pytest.mark.skipif(not JIT, reason="compares compiled runs")
@pytest.mark.parametrize("pool", ["threads", "fork", "spawn"])
def test_runs_elsewhere_have_the_same_digits(pool):
    systems = [(lowered(name, options), f, i) for name, f, i, options in RUNS[:2]]
    here = [ended(*job) for job in systems]
    if pool == "threads":
        executor = concurrent.futures.ThreadPoolExecutor(2)
    else:
        executor = concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(pool))
    with executor:
        there = list(executor.map(ended, *zip(*systems * 2, strict=True)))
    for found, expected in zip(there, here * 2, strict=True):
        assert (found == expected).all()


def test_a_recipe_of_another_version_is_refused(monkeypatch):
    system = lowered("five_bar", {})
    text = pickle.dumps(system)
    motion = pickle.dumps(kg.simulate(system, t_end=2e-3, step=1e-3))
    monkeypatch.setattr(recipes, "_version", lambda: "9.9")
    for pickled, what in ((text, "system"), (motion, "motion")):
        with pytest.raises(
            kg.KinegradError, match=rf"This {what} was pickled by kinegrad 0\.1\.0, and this is kinegrad 9\.9"
        ):
            pickle.loads(pickled)
