"""Parts belong to their set: a second set with parts of the same numbers leaves a joint system as it is."""

import numpy as np
import pytest
from mechanisms import tree
from numpy.testing import assert_array_equal

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.elements import kinks
from kinegrad.kernels.elements.kinds import KINDS, empty_stages, link_stages
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import COUNT, FORCES, PULL, STIFFNESS, Kind, run_stage
from kinegrad.kernels.jit import cfunction
from kinegrad.kernels.joint import functions
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE
from kinegrad.kernels.set_functions import run_part
from kinegrad.kernels.table import Parts, call_from_python

# A toy set: it has one coordinate, and its part of number AT_POSITIONS makes all rows vanish.
LAYOUT = ELEMENTS
PARTS = Parts()
Phi_, J_, f_ = LAYOUT.viewers("Phi", "J", "f")


@PARTS.part(functions.AT_POSITIONS)
@cfunction(what="a test")
def no_rows(ctx):
    """Phi = 0, Phi_q = 0."""
    for i in range(Phi_(ctx).shape[0]):
        Phi_(ctx)[i] = 0.0
        J_(ctx)[i] = 0.0


@cfunction(what="a test")
def evaluate(ctx):
    """The rows, and f = 7 before the elements add theirs."""
    run_part(ctx, functions.AT_POSITIONS)
    f_(ctx)[0] = 7.0
    run_stage(ctx, FORCES)


def toy():
    """Arrays of the toy set, those of an empty model but for Phi, J and f, and their context."""
    arrays = {name: np.zeros((0,) * ndim, dtype) for name, dtype, ndim in LAYOUT.fields}
    arrays |= {"Phi": np.ones(2), "J": np.ones(2), "f": np.zeros(1)}
    arrays |= {"links": np.zeros(4, np.int64), "stage": empty_stages()}
    return arrays, LAYOUT.context(arrays)


def evaluated(system):
    """Phi, Phi_q and all products of LINEARISE at a random state."""
    rng = np.random.default_rng(3)
    work = system.workspace(ds=system.directions(system.parameters.independent))
    for name in ("q", "v", "a", "vp", "ap"):
        work[name][:] = rng.normal(size=system.n)
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    Phi, J = work["Phi"].copy(), work["J"].copy()
    work.call(LINEARISE)
    return Phi, J, *(work[name].copy() for name in ("R_z", "Phi_z", "Phid_z", "Phidd_z"))


def test_a_second_set_keeps_its_parts_to_itself():
    system = joint(tree())
    before = evaluated(system)
    assert np.abs(before[0]).max() > 0.1 and np.abs(before[1]).max() > 0.1
    arrays, context = toy()
    PARTS.link(arrays["links"], (functions.AT_POSITIONS,))
    link_stages(arrays, (FORCES,))
    call_from_python(evaluate, context)
    assert arrays["f"][0] == 7.0 and not arrays["Phi"].any() and not arrays["J"].any()
    for found, expected in zip(evaluated(system), before, strict=True):
        assert_array_equal(found, expected)


def test_a_number_is_given_once():
    with pytest.raises(ValueError, match=f"part {functions.AT_POSITIONS} exists already"):
        PARTS.part(functions.AT_POSITIONS)(evaluate)
    kind = Kind({"spring": ("i", "j")})
    kind.at(FORCES)(evaluate)
    with pytest.raises(ValueError, match="already"):
        kind.at(FORCES)(evaluate)


def test_only_what_a_function_runs_on_a_model_is_linked():
    work = joint(tree()).workspace()
    work.functions(EVALUATE)
    stage = work["stage"]
    assert stage[FORCES, COUNT] == stage[STIFFNESS, COUNT] == 2 and stage[PULL, COUNT] == 0
    empty, _ = toy()
    link_stages(empty, range(len(empty["stage"])))
    assert not empty["stage"][:, COUNT].any()


def test_precompiling_meets_every_kind():
    """Functions of users, which no model file has, are compiled apart, and so is what looks at runs: signals, kinks."""
    from kinegrad.precompile import _system

    arrays = _system().workspace().arrays
    assert [kind.table for kind in KINDS if not kind.is_in(arrays)] == ["signal", "callback", "kink"]
    assert all((arrays[kind.table]["row"] < 2).any() for kind in KINDS if kind.count is not None)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: next(iter(kind.tables)))
def test_kinds_name_their_tables_and_markers(kind):
    types = {name: dtype for name, dtype, _ in ELEMENTS.fields}
    assert kind.parts or kind is kinks.KIND  # kinks are looked for after a run, by a loop of their own
    for table, markers in kind.tables.items():
        assert all(types[table][name] == np.int64 for name in markers)
