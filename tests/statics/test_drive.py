"""Kinematic analysis: many turns, spatial mechanisms, singular positions, lock-up, and drivers that do not suit."""

from itertools import pairwise

import numpy as np
import pytest
from driven_models import RSUR, SCREW, parallelogram, stewart, text_model
from kinematics.small_models import coupler_point, system
from test_inverse import DRIVEN_BAR

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.kernels.formulations.driven import BRIDGED, PASSED
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kinematics import compiled
from kinegrad.kinematics.start import close_driven, close_position, put_driven

SPATIAL = {"RSUR": lambda: text_model(RSUR), "screw": lambda: text_model(SCREW), "Stewart": stewart}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", SPATIAL)
def test_positions_of_compiled_code_are_those_of_the_other_way(name, kind, rng):
    system = kg.lower(SPATIAL[name](), kind)
    work, guess = system.workspace(), kg.drive(system, t_end=0.1, step=0.1).q[0] + 1e-3 * rng.normal(size=system.n)
    found = []
    for close in (close_driven, close_position):
        work["par"][:], work["q"][:] = 0.0, guess
        put_driven(system, work)
        assert close(system, work, "at t = 0 s") > 1
        found.append(work["q"].copy())
    assert np.abs(found[0] - found[1]).max() < 1e-13 * max(1.0, np.abs(guess).max())
    assert np.abs(work["Phi"][: system.m]).max() < 1e-13


def test_what_cannot_be_closed_is_left_to_the_other_way():
    system = kg.lower(text_model(RSUR, ("[0, 0, 0], D: [0.7,", "[0, 0, 0], D: [7.7,")), "joint")
    work = system.workspace()
    work["q"][:] = 0.1
    if JIT:
        assert compiled.closed(system, work) == 0 and (work["q"] == 0.1).all() and not work["par"].any()
    with pytest.raises(kg.AssemblyError, match="cannot be assembled at t = 0 s"):
        close_driven(system, work, "at t = 0 s")


def differences(x: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of fourth order, without two rows at either end."""
    two, one, here, next_, after = x[:-4], x[1:-3], x[2:-2], x[3:-1], x[4:]
    return (two - 8 * one + 8 * next_ - after) / (12 * h), (-two + 16 * one - 30 * here + 16 * next_ - after) / (
        12 * h * h
    )


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", SPATIAL)
def test_rates_are_differences_of_positions(name, kind):
    motion = kg.drive(kg.lower(SPATIAL[name](), kind), t_end=1.0, step=1e-3)
    for x, v, a in [(motion.q, motion.qd, motion.qdd)] + [
        (marker.position, marker.velocity, marker.acceleration) for marker in map(motion.marker, motion.system.markers)
    ]:
        first, second = differences(x, 1e-3)
        assert np.abs(first - v[2:-2]).max() < 1e-6 * max(1.0, np.abs(v).max())
        assert np.abs(second - a[2:-2]).max() < 1e-6 * max(1.0, np.abs(a).max())
    assert motion.constraint_violation.max() < 1e-11 and motion.iterations.max() <= 3
    assert motion.extra["singular"] == []


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", SPATIAL)
def test_multipliers_balance_the_forces(name, kind):
    """M a + f + Phi_qᵀ lam = 0; of six drivers the powers make the change of energy."""
    found = kg.inverse(kg.lower(SPATIAL[name](), kind), t_end=0.4, step=2e-3)
    motion = found.motion
    for driver, force in found.forces.items():
        row = motion.system.row_names.index(driver)
        assert np.abs(force + motion.lam[:, row]).max() < 1e-10 * max(1.0, np.abs(force).max())
    power = sum(found.powers.values())
    work = 2e-3 / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    energy = motion.energies.kinetic + motion.energies.potential
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-6)


@pytest.mark.parametrize("kind", SETS)
def test_a_crank_turns_ten_times(kind):
    """Every turn is like the first; the driven angle counts all of them."""
    motion = kg.drive(kg.lower(text_model(RSUR, ("w*t", "20*pi*t")), kind), t_end=1.0, step=1e-3)
    C = motion.marker("coupler.C").position
    assert np.abs(C[100::100] - C[0]).max() < 1e-13
    k = motion.system.coordinates.index("A.angle")
    assert np.abs(motion.q[:, k] - 20 * np.pi * motion.t).max() < 1e-12
    large = kg.drive(motion.system, t_end=1.0, step=0.05)  # half a turn a step: found by smaller ones
    assert np.abs(large.q - motion.q[::50]).max() < 1e-12


@pytest.mark.parametrize(
    ("start", "step"), [(1.0, 1e-3), (1.0, 0.037), (0.5 * np.pi, np.pi / 200), (0.5 * np.pi, np.pi / 2e4)]
)
@pytest.mark.parametrize("kind", SETS)
def test_a_parallelogram_keeps_its_branch(start, step, kind):
    """Through its change points, between instants and at them; they are told, with time and rank."""
    motion = kg.drive(kg.lower(parallelogram(start), kind), t_end=2.0, step=step)
    coupler = motion.marker("coupler.Q").position - motion.marker("coupler.P").position
    assert np.abs(coupler - [0.5, 0, 0]).max() < 1e-11
    P, Q = motion.marker("coupler.P"), motion.marker("coupler.Q")
    assert np.abs(Q.velocity - P.velocity).max() < 1e-8 and np.abs(Q.acceleration - P.acceleration).max() < 1e-5
    assert np.linalg.norm(Q.velocity, axis=1) == pytest.approx(2.0, abs=1e-9)
    expected = (np.arange(1, 9) * np.pi - start) / 10
    places = motion.extra["singular"]
    expected = expected[expected < motion.t[-1]][: len(places)]
    assert len(places) >= 6 and [place["t"] for place in places] == pytest.approx(expected, abs=0.02 * step + 1e-9)
    n = motion.system.n
    assert all((p["rank"], p["n"], p["passed"]) == (n - 1, n, True) for p in places)
    assert (motion.flags & PASSED).any() and ((motion.flags & BRIDGED).any() or start == 1.0)


def test_a_singular_start_is_refused():
    with pytest.raises(
        kg.AssemblyError,
        match=r"leave 1 degrees of freedom .* has 2, and 1 drivers .*; add 1, or start elsewhere if this",
    ):
        kg.drive(kg.lower(parallelogram(0.0)), t_end=1.0, step=0.01)


@pytest.mark.parametrize("kind", SETS)
def test_a_start_many_turns_away(kind):
    """The driven angle starts eight turns and a bit from where the poses are."""
    near, far = (
        kg.drive(kg.lower(text_model(RSUR, ("w*t", f"{start!r} + w*t")), kind), t_end=0.1, step=0.01)
        for start in (0.3, 0.3 + 16 * np.pi)
    )
    assert np.abs(near.marker("coupler.C").position - far.marker("coupler.C").position).max() < 1e-12
    k = far.system.number_of["A.angle"]
    assert np.abs(far.q[:, k] - near.q[:, k] - 16 * np.pi).max() < 1e-12


@pytest.mark.parametrize("kind", SETS)
def test_a_driver_with_a_kink(kind):
    """Its speed changes its sign within a microsecond."""
    motion = kg.drive(kg.lower(text_model(RSUR, ("w*t", "sqrt((t - 0.505)**2 + 1e-12)")), kind), t_end=1.0, step=0.01)
    k = motion.system.number_of["A.angle"]
    assert np.abs(motion.q[:, k] - np.hypot(motion.t - 0.505, 1e-6)).max() < 1e-14
    there, back = motion.marker("coupler.C").position[[0, 50]], motion.marker("coupler.C").position[[-1, 51]]
    assert np.abs(there[1] - back[1]).max() < 1e-12 and motion.iterations.max() < 100


TOO_SHORT = DRIVEN_BAR.replace("coupler: 0.9, rocker: 0.6", "coupler: 0.5, rocker: 0.5").replace(
    "pi/2 + w*t", "1.2 + w*t"
)


@pytest.mark.parametrize("step", [1e-4, 0.01, 0.1])
def test_lock_up_is_told_and_what_was_found_is_kept(step):
    """Coupler and rocker in one line: 0.3² + 0.8² - 2 0.3 0.8 cos(angle) = 1."""
    angle = np.arccos((0.09 + 0.64 - 1.0) / 0.48)
    when = (-6 + np.sqrt(36 + 8 * (angle - 1.2))) / 4
    with pytest.raises(kg.AssemblyError, match=rf"locks up at t = {when:.4f}\d* s: .* rank 2 of 3 there") as caught:
        kg.drive(system(TOO_SHORT), t_end=1.0, step=step)
    motion = caught.value.motion
    assert len(motion.t) == 1 + int(when / step) == len(motion.hs) + 1 and motion.status != 0
    assert motion.extra["singular"][-1]["t"] == pytest.approx(when, abs=1e-8)
    assert not motion.extra["singular"][-1]["passed"]
    expected = [coupler_point(0.3, 0.5, 0.5, 0.8, 1.2 + 6 * t + 2 * t * t) for t in motion.t]
    assert np.abs(motion.marker("b.C").position[:, :2] - expected).max() < 1e-11
    again = kg.drive(motion.system, t_end=1.0, step=step, throw=False)
    assert again.status == motion.status and np.array_equal(again.q, motion.q)


def test_drivers_that_ask_for_a_jump():
    jump = DRIVEN_BAR.replace("pi/2 + w*t + amp*t**2", "pi/2 + tanh(1e16*(t - 0.305))")
    with pytest.raises(kg.AssemblyError, match=r"cannot be followed after t = 0\.30\d* s: its drivers ask for a jump"):
        kg.drive(system(jump), t_end=1.0, step=0.01)


def test_too_few_and_too_many_drivers():
    two = DRIVEN_BAR.replace("drivers: {", "drivers: {push: {measure: JD.angle, value: t}, ")
    contradict = r"too many .* contradict each other at t = 0 s: it has 1, and 2 drivers \(push, turn\); remove 1"
    with pytest.raises(kg.AssemblyError, match=contradict):
        kg.drive(system(two), t_end=0.1, step=0.01)
    angle = kg.assemble(system(DRIVEN_BAR.replace("drivers:", "degrees_of_freedom: {}\ndrivers:"))).coordinates[
        "JD.angle"
    ]
    two = two.replace("value: t}", f"value: {float(angle)!r} + t}}")
    with pytest.raises(
        kg.AssemblyError, match=r"too many .* has 1, and 2 drivers \(push, turn\); remove 1 of them, such as 'turn'"
    ):
        kg.drive(system(two), t_end=0.1, step=0.01)
    few = stewart()
    del few.drivers["push2"], few.drivers["push4"]
    with pytest.raises(
        kg.AssemblyError,
        match=r"leave 2 degrees of freedom .* has 6, and 4 drivers \(push0, push1, push3, push5\); add 2",
    ):
        kg.drive(kg.lower(few), t_end=0.1, step=0.01)
    same = stewart()
    same.measures["leg4"] = "2*norm(top.P3.position - ground.B3.position)"
    same.drivers["push4"] = {"measure": "leg4", "value": f"2*({same.drivers['push3'].value})"}
    with pytest.raises(kg.AssemblyError, match=r"leave 1 degrees of freedom .* 6 drivers .* drive different motions"):
        kg.drive(kg.lower(same), t_end=0.1, step=0.01)


def test_constraints_that_contradict_each_other():
    """Two guidances that agree until shortly before t = 0.1."""
    model = text_model(RSUR, ("drivers: {turn: {", "constraints: {turn: {type: guidance, "))
    model.constraints["rail"] = {"type": "guidance", "measure": "A.angle", "value": "w*t + tanh(1000*(t - 0.105)) + 1"}
    with pytest.raises(kg.AssemblyError, match=r"No \w+ satisfy all constraints after t = 0\.09\d* s: '(turn|rail)'"):
        kg.drive(kg.lower(model), t_end=1.0, step=0.01)


def test_millimetres_and_kilometres():
    """The same motion, with the same iterations, in another unit of length."""
    base = system(DRIVEN_BAR)
    one = kg.drive(base, t_end=0.5, step=0.01)
    for scale in (1e-3, 1e3):
        names = ("crank", "coupler", "rocker", "span")
        values = {name: scale * base.rho[base.parameters.independent.index(name)] for name in names}
        other = kg.drive(base.with_parameters(values), t_end=0.5, step=0.01)
        assert np.abs(other.q - one.q).max() < 1e-12


def orders(errors: list[float]) -> list[float]:
    """e_{k+1}/e_k² where both are above rounding."""
    return [b / a**2 for a, b in pairwise(errors) if b > 1e-14]


def test_newton_is_quadratic_and_a_broken_one_is_not():
    """Rows and their derivatives belong together also where Euler parameters have not the length 1; an identity that holds at
    length 1 only, on one side of Newton's equations, shows at once."""
    rng, model = np.random.default_rng(3), kg.lower(stewart())
    solution = kg.drive(model, t_end=0.01, step=0.01).q[0]
    work, errors = model.workspace(), []
    work["q"][:] = solution + 0.03 * rng.standard_normal(model.n)
    work["flag"][FREEDOMS] = 0
    for _ in range(6):
        errors.append(np.abs(work["q"] - solution).max())
        work.call(POSITION)
        work["q"][:] -= np.linalg.solve(work["J"][: model.m], work["Phi"][: model.m])
    assert max(orders(errors)) < 10.0 and errors[-1] < 1e-14

    def broken(length):
        q, found = np.array([0.6, 0.8]), []
        for _ in range(8):
            found.append(np.abs(q - [0.5, np.sqrt(0.75)]).max())
            first = 0.75 - q[1] ** 2 if length else q[0] ** 2 - 0.25
            J = np.array([[2 * q[0], 0.0], 2 * q])
            q = q - np.linalg.solve(J, [first, q @ q - 1.0])
        return found

    assert max(orders(broken(False))) < 2.0 and broken(False)[-1] < 1e-14
    assert max(orders(broken(True))) > 1e3


def test_without_drivers_at_a_singular_position():
    """Three parallel rods of one length without poses are assembled flat, where rows that nearly vanish seem to hold them."""
    rods = {
        f"b{k}": {
            "mass": 1,
            "com": [0, 0.15, 0],
            "inertia": [0.01, 0.001, 0.01],
            "markers": {"A": [0, 0, 0], "P": [0, 0.3, 0]},
        }
        for k in range(3)
    }
    top = {"mass": 1, "inertia": [0.1, 0.1, 0.1], "markers": {f"P{k}": [0.5 * k, 0, 0] for k in range(3)}}
    pins = {f"a{k}": {"type": "revolute", "between": [f"ground.A{k}", f"b{k}.A"], "axis": [0, 0, 1]} for k in range(3)}
    pins |= {f"p{k}": {"type": "revolute", "between": [f"b{k}.P", f"top.P{k}"], "axis": [0, 0, 1]} for k in range(3)}
    model = kg.Model.from_dict(
        {
            "kinegrad": 1,
            "ground": {"markers": {f"A{k}": [0.5 * k, 0, 0] for k in range(3)}},
            "bodies": rods | {"top": top},
            "joints": pins,
            "degrees_of_freedom": {"a0.angle": {"position": 0.35}},
            "simulation": {"t_end": 0.1, "step": 0.05},
        }
    )
    for lower in (kg.joint, kg.reference_point, kg.natural):
        with pytest.raises(kg.AssemblyError, match=r"degrees of freedom"):
            kg.drive(lower(model))
