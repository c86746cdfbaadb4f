"""The start in compiled code beside the start by NumPy: the same numbers where it serves, the same sentences where not."""

import numpy as np
import pytest
from helpers import assert_close
from small_models import FOUR_BAR, SLIDER, system

import kinegrad as kg
from kinegrad.errors import AssemblyError
from kinegrad.kernels.jit import JIT
from kinegrad.kinematics import compiled
from kinegrad.kinematics.constrained import row_ease
from kinegrad.kinematics.start import start
from kinegrad.kinematics.start_derivatives import StartDerivatives

SETS = (kg.joint, kg.reference_point, kg.natural)
EXAMPLES = ("five_bar", "parallelogram", "bennett", "bricard", "ball_joint") if JIT else ("five_bar",)


@pytest.fixture(autouse=True)
def also_uncompiled(monkeypatch):
    """The same code with the compiler switched off, where every index is looked at."""
    monkeypatch.setattr(compiled, "JIT", True)


@pytest.fixture
def by_numpy(monkeypatch):
    """A function that does something without the compiled start."""

    def without(what, *arguments):
        with monkeypatch.context() as change:
            change.setattr(compiled, "serves", lambda *_: False)
            return what(*arguments)

    return without


def started(sys, **options):
    work = sys.workspace()
    start(sys, work, **options)
    return work


def lowered(name, lower):
    sys = lower(kg.Model.from_yaml(f"examples/{name}/model.yaml"))
    assert compiled.serves(sys, 0.0)
    return sys


@pytest.mark.parametrize("lower", SETS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_start_is_that_of_numpy(name, lower, by_numpy):
    sys = lowered(name, lower)
    work, other = sys.workspace(), by_numpy(started, sys)
    start(sys, work)
    assert "find" in work.kept
    for field in ("q", "v", "vp", "par", "ease", "f", "M", "J"):
        assert_close(work[field], other[field], 1e-12)
    size = np.abs(other["J"]).max(initial=0.0) * np.abs(other["v"]).max() ** 2
    assert_close(work["c"], other["c"], 1e-12, scale=max(1.0, size))
    assert_close(work["a"], other["a"], 1e-12, scale=max(1.0, np.abs(other["a"]).max()))
    J, m = other["J"][: sys.m], sys.m
    forces = [J.T @ x["lam"][:m] for x in (work, other)]
    assert np.abs(forces[0] - forces[1]).max() < 1e-12 * max(np.abs(other["f"]).max(), np.abs(forces[1]).max())
    assert_close(work["ap"], work["a"], 0.0)


def at_start(sys, work, **options):
    again = sys.workspace(**options)
    for field in ("q", "v", "a", "lam", "vp", "ap"):
        again[field][:] = work[field]
    return StartDerivatives(sys, again)


def direct(sys, work):
    return at_start(sys, work, ds=sys.directions(sys.parameters.independent[:5])).direct()


def adjoint(sys, work, seed):
    rng, n, o = np.random.default_rng(seed), sys.n, len(sys.objectives)
    derivatives = at_start(sys, work)
    rows = np.zeros((3, sys.m + len(sys.freedoms), o))
    derivatives.adjoint(*rng.standard_normal((3, n, o)), rows, rng.standard_normal(o))
    return derivatives.work


@pytest.mark.parametrize("lower", SETS, ids=lambda f: f.__name__)
def test_derivatives_are_those_of_numpy(lower, by_numpy):
    sys = lowered("five_bar", lower)
    work = started(sys)
    for found, other in zip(direct(sys, work), by_numpy(direct, sys, work), strict=True):
        assert_close(found, other, 1e-11)
    found, other = adjoint(sys, work, 3), by_numpy(adjoint, sys, work, 3)
    assert np.abs(other["psi_s"]).max() > 0.1
    assert_close(found["psi_s"], other["psi_s"], 1e-10)
    assert_close(found["ease"], row_ease(found["M"], found["J"][: sys.m], sys.alike), 1e-9)


ANGLE = "{JA.angle: {position: pi/2, velocity: 1}}"
REFUSED = {
    "too many": "{JA.angle: {position: pi/2, velocity: 1}, JB.angle: {position: 0, velocity: 0}}",
    "none": "{}",
    "out of reach": "{JD.angle: {position: 0, velocity: 1}}",
}


@pytest.mark.parametrize("freedoms", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_the_same_words(freedoms, by_numpy):
    sys, sentences = system(FOUR_BAR, [(ANGLE, freedoms)]), []
    for way in (started, lambda s: by_numpy(started, s)):
        with pytest.raises(AssemblyError) as error:
            way(sys)
        sentences.append(str(error.value))
    assert sentences[0] == sentences[1]


def test_a_guess_on_the_other_branch_is_kept(by_numpy):
    sys = system(FOUR_BAR)
    here = started(sys)["q"].copy()
    guess = here + np.linspace(-0.4, 0.5, sys.n)
    assert_close(started(sys, guess=guess)["q"], by_numpy(lambda: started(sys, guess=guess)["q"]), 1e-12)


def test_a_workspace_that_was_given_back_is_as_new():
    sys = system(SLIDER)
    first = sys.workspace()
    start(sys, first)
    kept, memory = first["q"].copy(), first.arrays["q"]
    first["M"][:], first["lam"][:], first["ease"][:] = 1.0, 2.0, 3.0
    first.give_back()
    assert first.arrays is None
    changed = sys.with_parameters(1.01 * sys.rho)
    second, third = changed.workspace(), changed.workspace()
    assert np.shares_memory(second.arrays["q"], memory) and not np.shares_memory(third.arrays["q"], memory)
    for name in set(third.arrays):
        assert second.arrays[name].tobytes() == third.arrays[name].tobytes(), name
    start(changed, second)
    start(changed, third)
    for name in ("q", "v", "a", "lam"):
        assert_close(second[name], third[name], 0.0)
    assert np.abs(second["q"] - kept).max() > 0.0
