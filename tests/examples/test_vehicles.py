"""The larger examples, bicycle, buggy and anchor chain: one motion in all coordinates, and numbers known otherwise."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.model.bodies import PointMarker

EXAMPLES = Path(__file__).parents[2] / "examples"
SETS = {"joint": kg.joint, "reference-point": kg.reference_point, "natural": kg.natural}


def example(name):
    return kg.Model.from_yaml(EXAMPLES / name / "model.yaml")


def hanging(links):
    """The first links of the anchor chain, and what concerns these alone."""
    document = example("anchor_chain").to_dict()
    kept = ["ground", *list(document["bodies"])[:links]]
    joints = {
        name: joint
        for name, joint in document["joints"].items()
        if all(marker.split(".")[0] in kept for marker in joint["between"])
    }
    known = {*kept, *joints}
    document |= {"joints": joints, "bodies": {name: document["bodies"][name] for name in kept[1:]}}
    document["forces"] = {
        name: force
        for name, force in document["forces"].items()
        if name == "gravity" or force["acts_on"].split(".")[0] in known
    }
    starts = document["degrees_of_freedom"]
    document["degrees_of_freedom"] = {name: x for name, x in starts.items() if name.split(".")[0] in known}
    del document["objectives"], document["simulation"]
    return kg.Model.from_dict(document)


COUNTS = {  # joint, reference point, natural: coordinates, rows, rank (which takes long for the buggy: `kinegrad check`)
    "bicycle": ((10, 1, 1), (31, 22, 22), (36, 27, 27)),
    "buggy": ((36, 26, None), (130, 120, None), (148, 138, None)),
    "chain of 4": ((13, 4, 4), (34, 25, 25), (45, 36, 36)),
}
MODELS = {
    "bicycle": (lambda: example("bicycle"), 0.05),
    "buggy": (lambda: example("buggy").with_variant("step").with_values(rack_0=0.01), 0.012),
    "chain of 4": (lambda: hanging(4), 0.05),
}


def positions(motion):
    bodies = motion.system.model.bodies
    points = [f"{b}.{n}" for b in bodies for n, x in bodies[b].markers.items() if isinstance(x, PointMarker)]
    return np.array([motion.marker(point).position for point in points])


@pytest.mark.parametrize("name", MODELS)
def test_sets_converge_to_one_motion(name):
    """Counts; and the differences between sets, which are the integrator's, fall to a quarter with half the step."""
    made, t_end = MODELS[name]
    model = made()
    found = {}
    for (kind, make), counts in zip(SETS.items(), COUNTS[name], strict=True):
        system = make(model)
        assert (system.n, system.m, counts[2] and kg.mobility(system).rank) == counts
        for part in (1, 2):
            motion = kg.simulate(
                system, kg.ALI3P(tolerance=1e-13), kg.Newmark(), t_end=t_end, step=2e-3 / part, output_step=2e-3
            )
            found[kind, part] = positions(motion)
    for kind in ("reference-point", "natural"):
        coarse, fine = (np.abs(found[kind, part] - found["joint", part]).max() for part in (1, 2))
        assert coarse < 1e-4 and (fine < 1e-11 or 3.7 < coarse / fine < 4.3)


@pytest.mark.parametrize(("name", "speed"), [("bicycle", 5.0), ("buggy", 3.0)])
def test_nothing_holds_vehicles_back(name, speed):
    """No force acts along x: the centre of mass goes on at its speed, however the parts swing and turn."""
    model = example(name)
    document = (model.with_variant("step") if "step" in model.variants else model).to_dict()
    for body in document["bodies"].values():
        body["markers"]["centre"] = body["com"]
    motion = kg.simulate(kg.joint(kg.Model.from_dict(document)), t_end=0.1, step=1e-3)
    masses = {body: entry["mass"] for body, entry in document["bodies"].items()}
    masses |= {body: document["parameters"][mass] for body, mass in masses.items() if isinstance(mass, str)}
    way = sum(mass * np.ptp(motion.marker(f"{body}.centre").position[[0, -1], 0]) for body, mass in masses.items())
    assert way / sum(masses.values()) == pytest.approx(0.1 * speed, abs=1e-9)


def test_the_buggy_rests_alike_in_all_sets():
    """One equilibrium but for what nothing holds: the way along x, and how far the wheels have turned."""
    model, found = example("buggy"), {}
    parts = {name: body for name, body in model.bodies.items() if not name.startswith("wheel")}
    points = [f"{part}.{n}" for part in parts for n, x in parts[part].markers.items() if isinstance(x, PointMarker)]
    weight = 9.81 * sum(440.0 if name == "chassis" else body.mass for name, body in model.bodies.items())
    for kind, make in SETS.items():
        rest = kg.equilibrium(make(model))
        assert rest.iterations <= 6 and rest.force_residual < 1e-9 and len(rest.free) == 5
        markers = rest.markers()
        x = np.array([markers[point].position for point in points])
        found[kind] = x - [x[0, 0], 0, 0], rest.eigenvalues[5:]
        centres = [markers[f"wheel_{k}.W"].position[2] for k in ("fl", "fr", "rl", "rr")]
        assert 60430.0 * (4 * 0.30253 - sum(centres)) == pytest.approx(
            weight, rel=1e-11
        )  # springs at the wheels carry it
        if kind == "joint":
            assert set(rest.free) == {"base.x", "hub_fl.angle", "hub_fr.angle", "hub_rl.angle", "hub_rr.angle"}
    for kind in ("reference-point", "natural"):
        for one, other, near in zip(found[kind], found["joint"], (0.0, 1e-8), strict=True):
            assert one == pytest.approx(other, rel=near, abs=1e-13)


def test_the_anchor_is_lifted():
    """The upper end follows the windlass, links keep their pitch, and two formulations agree."""
    model = example("anchor_chain")
    system = kg.joint(model)
    assert (system.n, system.m) == (130, 4)
    swept = kg.simulate(system, t_end=0.02, step=1e-3)  # recursive, rk4
    stepped = kg.simulate(system, kg.ALI3P(), kg.Newmark(), t_end=0.02, step=1e-3)
    for motion in (swept, stepped):
        top = motion.marker("link_01.A").position[-1]
        assert top == pytest.approx([0, 0, 0.3 * (np.sqrt(1 + 0.02**2) - 1)], abs=1e-10)
        ends = [motion.marker(f"{body}.B").position[-1] for body in ("link_30", "link_31")]
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(0.2, abs=1e-12)
    crowns = [motion.marker("anchor.crown").position[-1] for motion in (swept, stepped)]
    assert crowns[0] == pytest.approx(crowns[1], abs=1e-8)
