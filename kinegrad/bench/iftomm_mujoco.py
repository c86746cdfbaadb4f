"""The problems of `kinegrad.bench.iftomm` in MuJoCo.

Loops are closed by equalities, which are soft in MuJoCo: each has the largest impedance allowed (0.9999), stiffness 1/h² and
damping 1/h, as in `kinegrad.bench.peers`, so that the step decides how far they give. All angles are zero at the start, so
that every frame begins parallel to the ground; the data are those of the problems, written out once more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from kinegrad.bench.iftomm_problems import GRAVITY, PIECES, Run


@dataclass(frozen=True)
class Scene:
    """Bodies as XML, pairs of sites that coincide, springs as XML, rates at the start, a torque on the first joint.

    `bodies` has a site of the name `watched`. The energy of a `damped` scene is not looked at.
    """

    bodies: str
    loops: tuple[tuple[str, str], ...] = ()
    springs: str = ""
    rates: dict[str, float] | None = None
    torque: float = 0.0
    damped: bool = False
    gravity: tuple[float, float, float] = (0.0, -GRAVITY, 0.0)

    def xml(self, step: float, integrator: str) -> str:
        """The model file."""
        hard = f'solref="{-1 / step**2!r} {-1 / step!r}" solimp="0.9999 0.9999 0.001 0.5 2"'
        loops = "".join(f'<connect site1="{a}" site2="{b}" {hard}/>' for a, b in self.loops)
        return (
            f'<mujoco><compiler angle="radian" boundinertia="0" boundmass="0"/>'
            f'<option timestep="{step!r}" gravity="{_words(self.gravity)}" integrator="{integrator}" solver="Newton" '
            f'iterations="50" tolerance="1e-12"><flag contact="disable" island="disable"/></option>'
            f"<worldbody>{self.bodies}</worldbody><tendon>{self.springs}</tendon><equality>{loops}</equality></mujoco>"
        )


def _words(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _body(name, at, joint, mass, centre, inertia, sites=(), inner="", turn=None) -> str:
    """A body at a place of the body around it, with a joint and sites by name; `inertia` has three or six entries."""
    attribute = "diaginertia" if len(inertia) == 3 else "fullinertia"
    turned = f' quat="{_words(turn)}"' if turn is not None else ""
    return (
        f'<body pos="{_words(at)}"><joint name="{name}" {joint}/>'
        f'<inertial pos="{_words(centre)}" mass="{float(mass)!r}" {attribute}="{_words(inertia)}"{turned}/>'
        + "".join(f'<site name="{site}" pos="{_words(place)}"/>' for site, place in sites)
        + f"{inner}</body>"
    )


def _hinge(x, y, z) -> str:
    return f'type="hinge" axis="{x} {y} {z}"'


def pendulum() -> Scene:
    """A hinge and a point mass; MuJoCo asks for some inertia about it."""
    tiny = (1e-14, 1e-14, 1e-14)
    return Scene(_body("turn", (0, 0, 0), _hinge(0, 0, 1), 1.0, (1, 0, 0), tiny, [("watched", (1, 0, 0))]))


def windows(n: int) -> Scene:
    """Each crank carries the bar to its right, which is connected to the next crank."""
    rod = (1 / 12, 1 / 12, 1 / 12)
    bodies, loops, rates = "", [], {}
    for i in range(n + 1):
        sites = [("watched" if i == 0 else f"tip_{i}", (0, 1, 0))]
        bar = ""
        if i < n:
            bar = _body(f"bar_{i}", (0, 1, 0), _hinge(0, 0, 1), 1.0, (0.5, 0, 0), rod, [(f"end_{i}", (1, 0, 0))])
            loops.append((f"end_{i}", f"tip_{i + 1}"))
            rates[f"bar_{i}"] = 1.0
        bodies += _body(f"crank_{i}", (i, 0, 0), _hinge(0, 0, 1), 1.0, (0, 0.5, 0), rod, sites, bar)
        rates[f"crank_{i}"] = -1.0
    return Scene(bodies, tuple(loops), rates=rates)


def squeezer() -> Scene:
    """Four chains of hinges that meet at E: crank and rod, the lever, and two plates with their links."""
    beta, gamma, phi, delta = -0.0617138900142764496, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550
    omega, epsilon = -0.222668390165885885, 1.23054744454982119

    def turned(angle, place):
        x, y = place
        return (cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y, 0.0)

    def part(name, at, angle, mass, inertia, centre, sites=(), inner=""):
        places = [(site, turned(angle, place)) for site, place in sites]
        return _body(name, at, _hinge(0, 0, 1), mass, turned(angle, centre), (inertia,) * 3, places, inner)

    A = (-0.06934, -0.00227, 0.0)
    rod = part("rod", turned(beta, (0.007, 0)), beta, 0.00365, 4.41e-7, (-0.0115, 0), [("E", (-0.028, 0))])
    link_G = part(
        "link_G", turned(delta, (0.04, 0)), phi + delta, 0.00706, 5.667e-7, (0, -0.00579), [("E4", (0, -0.02))]
    )
    link_H = part(
        "link_H", turned(epsilon, (0, -0.04)), omega + epsilon, 0.00706, 5.667e-7, (0.00579, 0), [("E6", (0.02, 0))]
    )
    bodies = (
        '<site name="C" pos="0.014 0.072 0"/>'
        + part("crank", (0, 0, 0), beta, 0.04325, 2.194e-6, (9.2e-4, 0), [("watched", (0.007, 0))], rod)
        + part("lever", (-0.03635, 0.03273, 0), gamma, 0.02373, 5.255e-6, (0.01043, -0.01874),
               [("D", (0.02, -0.018)), ("E3", (0, -0.035))])
        + part("plate_G", A, delta, 0.0705, 1.169e-5, (0.02308, 0.00916), inner=link_G)
        + part("plate_H", A, epsilon, 0.05498, 1.912e-5, (-0.00449, -0.01228), inner=link_H)
    )  # fmt: skip
    spring = '<spatial stiffness="4530" springlength="0.07785"><site site="C"/><site site="D"/></spatial>'
    loops = (("E", "E3"), ("E", "E4"), ("E", "E6"))
    return Scene(bodies, loops, spring, torque=0.033, gravity=(0.0, 0.0, 0.0))


def bricard() -> Scene:
    """Three rods from one end of the ground's edge, two from the other; their hinge is two points that coincide."""

    def rod(name, at, axis, along, sites=(), inner=""):
        inertia = [1e-9 if k else 1 / 12 for k in np.abs(along)]
        return _body(name, at, _hinge(*axis), 1.0, 0.5 * np.array(along), inertia, sites, inner)

    left = [("watched", (0, 0, 1)), ("left", (0, 1, 1))]
    right = [("right_1", (1, 0, 0)), ("right_2", (1, 1, 0))]
    third = rod("rod_3", (0, -1, 0), (1, 0, 0), (0, 0, 1), left)
    second = rod("rod_2", (1, 0, 0), (0, 0, 1), (0, -1, 0), inner=third)
    fourth = rod("rod_4", (0, -1, 0), (0, 0, 1), (1, 0, 0), right)
    bodies = rod("rod_1", (0, 0, 0), (0, 1, 0), (1, 0, 0), inner=second)
    bodies += rod("rod_5", (0, 0, 1), (1, 0, 0), (0, -1, 0), inner=fourth)
    return Scene(bodies, (("watched", "right_1"), ("left", "right_2")))


def governor() -> Scene:
    """A tree: the shaft carries the slider and the rods; springs and dampers are tendons."""
    ball, mass, width, cube = 5.0, 0.3, 0.01, 0.1
    thin, across = mass * width**2 / 6, mass * (1.0 + width**2) / 12
    whole = mass + ball
    centre = (0.5 * mass + ball) / whole
    about = across + mass * (0.5 - centre) ** 2 + ball * (1.0 - centre) ** 2
    inner = _body(
        "slide", (0, 0, 0.5), 'type="slide" axis="0 0 1"', 3.0, (0, 0, 0), [3.0 * cube**2 / 6] * 3,
        [("watched", (0, 0, 0)), ("E", (0.05, 0, 0)), ("F", (-0.05, 0, 0))],
    )  # fmt: skip
    for name, side in (("A", 1.0), ("B", -1.0)):
        along = np.array([side * sqrt(0.75), 0.0, -0.5])
        tensor = about * np.eye(3) + (thin - about) * np.outer(along, along)
        six = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        inner += _body(
            f"swing_{name}",
            (0.05 * side, 0, 1),
            _hinge(0, 1, 0),
            whole,
            centre * along,
            six,
            [(f"M{name}", 0.5 * along)],
        )
    shaft = _body("turn", (0, 0, 0), _hinge(0, 0, 1), mass, (0, 0, 0.5), (across, across, thin), inner=inner)
    springs = "".join(
        f'<spatial stiffness="8e5" damping="4e4" springlength="0.5"><site site="{a}"/><site site="{b}"/></spatial>'
        for a, b in (("E", "MA"), ("F", "MB"))
    )
    return Scene(shaft, (), springs, {"turn": 2.0 * pi}, damped=True, gravity=(0.0, 0.0, -GRAVITY))


# --- runs ---


def _begin(scene, step, integrator):
    import mujoco

    model = mujoco.MjModel.from_xml_string(scene.xml(step, integrator))
    data = mujoco.MjData(model)
    for name, rate in (scene.rates or {}).items():
        data.qvel[model.joint(name).dofadr[0]] = rate
    data.qfrc_applied[0] = scene.torque
    return model, data


def seconds(scene: Scene, integrator: str, step: float, t_end: float) -> float:
    """CPU time of a run in one call."""
    import mujoco

    model, data = _begin(scene, step, integrator)
    begin = time.thread_time()
    mujoco.mj_step(model, data, round(t_end / step))
    return time.thread_time() - begin


def watch(scene: Scene, integrator: str, step: float, t_end: float) -> Run:
    """Where the watched point is, and the energy, at up to `PIECES` times of a run."""
    import mujoco

    model, data = _begin(scene, step, integrator)
    steps = round(t_end / step)
    stride = max(1, steps // PIECES)
    times, places, energies = [], [], []
    for done in range(0, steps + 1, stride):
        if done:
            mujoco.mj_step(model, data, stride)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        times.append(done * step)
        places.append(data.site("watched").xpos.copy())
        energies.append(data.energy.sum() - scene.torque * data.qpos[0])
    return Run(np.array(times), np.array(places), None if scene.damped else np.array(energies))
