"""Short runs for the derivatives of whole simulations, and their gradients by complex step.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints a JSON object {case: {objectives, gradient, flags}}: complex
numbers need the compiler switched off, which has to happen before kinegrad is imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.system import System
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, HHT, GeneralizedAlpha, MatrixR, Newmark, RungeKutta4
from kinegrad.sensitivity.gradient import labels_of
from kinegrad.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
H = 1e-30
#: Tolerance and number of the Newton iterations of a step in a complex run: ALI3-P does them all, so that the imaginary
#: part converges too; Matrix R ends where the step no longer shrinks; the recursive one converges linearly with rows.
TO_ROUNDING = {"ali3p": (0.0, 9), "matrix-r": (1e-300, 25), "recursive": (0.0, 16)}

CHAIN = """
kinegrad: 1
parameters: {L: 0.6, m: 1.4, Jx: 0.2, com_y: 0.1, k: 25, c: 0.7, L0: 0.4, tilt: 0.3, turn: 0.2, spin: 1.1, shot: 0.8,
             push: 0.9}
ground: {markers: {O: [0, 0, 0.1], S: [0.5, -0.4, 0.2]}}
bodies:
  a: {mass: m, com: [0.1, com_y, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0, 0.1, 0], q: [L, 0.1, 0.2]}}
  b: {mass: 0.8, com: [0.2, 0, 0.1], inertia: [Jx, 0.3, 0.25], markers: {p: [-0.1, 0.2, tilt], q: [L, 0.3, -0.2]}}
  d: {mass: 0.5, com: [0, 0.1, 0.2], inertia: {axis: [1, tilt, 0], along: 0.1, across: 0.15},
      markers: {p: [0, 0, 0], q: [0, 0, L/2]}}
  e: {mass: 0.6, com: [0.1, 0, 0], inertia: [0.1, 0.12, 0.15], markers: {p: [0, 0.1, 0.1], q: [0.2, L, 0.3]}}
joints:
  ball: {type: spherical, between: [ground.O, a.p]}
  hinge: {type: revolute, between: [a.q, b.p], axis: [1, tilt, 0.4]}
  tail: {type: spherical, between: [d.p, b.q]}
  air: {type: floating, between: [ground.S, e.p]}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [d.q, e.q], stiffness: k, damping: c, natural_length: L0}
  drag: {type: force, at: e.q, value: ["-push*e.q.velocity.x", "push*sin(5*t)", "-e.q.velocity.z"], frame: ground}
  jet: {type: torque, at: d.q, value: [push, 0.2, "0.3*hinge.angle"], frame: body}
degrees_of_freedom:
  ball: {rotation: [turn, 0.1, -0.2], angular_velocity: [0.5, spin, -0.3]}
  hinge.angle: {position: turn, velocity: spin}
  tail: {rotation: [0.3, turn, 0.1], angular_velocity: [spin, 0.2, 0]}
  air: {position: [0.1, shot, 0.2], velocity: [shot, 0.3, 0.1], euler_parameters: [1, turn, 0.1, 0],
        angular_velocity: [0.1, 0, spin]}
objectives:
  path: {integral: "norm2(e.q.position - d.q.position) + tilt*t"}
  effort: {integral: "norm2(b.q.acceleration) + L*hinge.angle.velocity**2"}
  end: {final: "dot(d.q.position, e.q.velocity) + hinge.angle.acceleration*c"}
"""

DRIVEN = """
kinegrad: 1
parameters: {r: 0.25, L: 0.8, w: 3.0, amp: 0.05, m: 1.3, k: 40, c: 0.6, Lk: 0.5, drag: 0.4, bend: 0.2,
             u: [0.3, -0.4, 0.9, 0.2, -0.3], sway: 0.02, z0: 0.1, zd0: 0.4}
ground: {markers: {O: [0, 0, 0], S: [1.2, 0.4, 0], up: {vector: [0, 1, 0]}}}
bodies:
  crank: {pose: global, mass: 0.7, com: [r/2, 0, 0], inertia: [0.01, 0.01, 0.02], markers: {O: [0, 0, 0], P: [r, 0, 0]}}
  rod: {pose: global, mass: m, com: [r + L/2, 0, 0], inertia: [0.001, 0.05, 0.05],
        markers: {P: [r, 0, 0], Q: [r + L, 0, 0]}}
  block: {pose: global, mass: 1.1, com: [1.05, 0, 0], inertia: [0.02, 0.02, 0.02],
          markers: {Q: [1.05, 0, 0], T: [1.05, 0.1, 0]}}
  arm: {pose: global, mass: 0.4, com: [1.05, 0.3, 0], inertia: [0.02, 0.001, 0.02],
        markers: {T: [1.05, 0.1, 0], E: [1.05, 0.5, 0.1]}}
  puck: {pose: {origin: [1.4, 0.9, 0.1]}, mass: 0.3, com: [0, 0, 0], inertia: [0.01, 0.02, 0.01],
         markers: {M: [0, 0, 0], N: [0.1, 0.05, 0]}}
joints:
  main: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: cylindrical, between: [crank.P, rod.P], axis: [0, 0, 1]}
  wrist: {type: spherical, between: [rod.Q, block.Q]}
  slide: {type: prismatic, between: [ground.O, block.Q], axis: [1, bend, 0]}
  knee: {type: cardan, between: [block.T, arm.T], axes: [[1, 0, 0], [0, 0, 1]]}
  table: {type: planar, between: [ground.S, puck.M], axis: [0, bend, 1], x_axis: [1, 0, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.S, arm.E], stiffness: k, damping: c, natural_length: Lk}
  twist: {type: spring, acts_on: knee.angle1, stiffness: 2, damping: c/5, natural_value: bend}
  motor: {type: spline, acts_on: knee.angle2, times: [0, 0.05, 0.1, 0.2, 0.4], values: u}
  wind: {type: force, at: puck.N, frame: body,
         value: ["-drag*puck.N.velocity.x*norm(puck.N.velocity)", "drag*cos(4*t)", 0]}
  tow: {type: spring, acts_on: gap, stiffness: 12, damping: 0.3, natural_value: Lk}
measures:
  gap: "norm(puck.N.position - arm.E.position)"
constraints:
  lift: {type: guidance, measure: puck.M.y, value: "0.9 + sway*sin(6*t)"}
drivers:
  turn: {measure: main.angle, value: "w*t + amp*sin(2*w*t)"}
degrees_of_freedom:
  knee.angle1: {position: z0, velocity: zd0}
  knee.angle2: {position: 0.2, velocity: -zd0}
  table.x: {position: 0.2 + z0, velocity: 0.1}
  table.angle: {position: 0, velocity: zd0}
objectives:
  reach: {integral: "norm2(puck.N.position - arm.E.position)*(1 + bend) + gap.velocity**2"}
  shake: {integral: "norm2(arm.E.acceleration) + main.angle.acceleration**2*1.0e-3"}
  last: {final: "slide.distance.velocity + norm(puck.N.velocity)*drag + knee.angle1.acceleration/10"}
"""

SPATIAL = """
kinegrad: 1
parameters: {m: 0.8, L: 0.3, tilt: 0.3, J: 0.05, k: 30, c: 0.4, turn: 0.1, spin: 2.0}
ground: {markers: {O: [0, 0, 0], R: [0.9, -0.3, 0.2], S: [0.2, 0.6, 0.4]}}
bodies:
  a: {pose: global, mass: 0.9, com: [0.1, 0.05, 0.1], inertia: [0.03, 0.04, 0.02, 0.004, -0.003, 0.005],
      markers: {O: [0, 0, 0], P: [L, 0.1, 0.2]}}
  b: {pose: global, mass: m, com: [0.4, 0, 0.35], inertia: [J, 0.04, 0.06], markers: {P: [L, 0.1, 0.2], Q: [0.5, -0.2, 0.5]}}
  d: {pose: global, mass: 1.2, com: [0.7, -0.2, 0.4], inertia: [0.05, 0.07, 0.06, 0.01, 0, 0.02],
      markers: {Q: [0.5, -0.2, 0.5], R: [0.9, -0.3, 0.2], E: [0.8, 0.1, 0.6]}}
joints:
  ball: {type: spherical, between: [ground.O, a.O]}
  hinge: {type: revolute, between: [a.P, b.P], axis: [0.2, 1, tilt]}
  tube: {type: cylindrical, between: [b.Q, d.Q], axis: [1, tilt, -0.4]}
  post: {type: revolute, between: [d.R, ground.R], axis: [0, 0.4, 1]}
forces:
  gravity: {type: gravity, acceleration: [0.5, -2, -9.81]}
  coil: {type: spring, between: [ground.S, d.E], stiffness: k, damping: c, natural_length: 0.3}
degrees_of_freedom:
  post.angle: {position: turn, velocity: spin}
objectives:
  shake: {integral: "norm2(b.Q.acceleration)"}
  reach: {integral: "norm2(d.E.position)"}
  last: {final: "dot(b.Q.velocity, d.E.position) + post.angle.acceleration/50"}
"""


def spatial_loop() -> Model:
    """A loop of a spherical, a cylindrical and two revolute joints: none of its closure rows is null."""
    return Model.from_yaml_text(SPATIAL)


def five_bar() -> Model:
    """The five-bar with its initial values, gravity and a stiffness as parameters, and a damper."""
    model = Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    model.parameters |= {"angle_A": "-3*pi/4", "rate_A": 0.4, "rate_1": -0.3, "g": 9.81, "k1": 100, "c1": 0.5}
    model.degrees_of_freedom["JA.angle"] = {"position": "angle_A", "velocity": "rate_A"}
    model.degrees_of_freedom["J1.angle"] = {"position": "pi/4 + atan(1.5)", "velocity": "rate_1"}
    model.forces["gravity"] = {"type": "gravity", "acceleration": [0, "-g", 0]}
    model.forces["spring_1"] = {
        "type": "spring",
        "between": ["ground.B", "bar_A1.P1"],
        "stiffness": "k1",
        "damping": "c1",
        "natural_length": "L_s1",
    }
    model.objectives["last"] = {"final": "bar_12.P2.velocity.x + J1.angle**2 + JA.angle.acceleration/50"}
    return model


def point_driven_five_bar() -> Model:
    """The five-bar with the components of point 2 as its degrees of freedom: the matrix B of Matrix R varies."""
    model = five_bar()
    model.degrees_of_freedom = {
        "bar_12.P2.x": {"position": "0.5 + rate_1/10", "velocity": "rate_A"},
        "bar_12.P2.y": {"position": -2, "velocity": "rate_1"},
    }
    return model


def slider_crank() -> Model:
    """The slider-crank with a tilted axis, a length, and initial values as parameters."""
    model = Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml")
    model.parameters |= {"tilt": 0.1, "z_B": 0.2, "angle_0": 0.15}
    model.joints["pivot"] = {"type": "revolute", "between": ["ground.A", "crank.A"], "axis": [1, "tilt", 0]}
    model.bodies["crank"] = {
        "pose": "global", "mass": "m_AB", "com": [0, 0.1, 0.16], "inertia": [1e-4, 1e-4, 1e-4],
        "markers": {"A": [0, 0.1, 0.12], "B": [0, 0.1, "z_B"]},
    }  # fmt: skip
    model.degrees_of_freedom["pivot.angle"] = {"position": "angle_0", "velocity": "omega_0"}
    model.objectives["last"] = {"final": "slider.D.velocity.x + rod.C.acceleration.x/100"}
    return model


def open_chain() -> Model:
    """Spherical, revolute and floating joints, with a joint that runs against the tree."""
    return Model.from_yaml_text(CHAIN)


def driven_crank() -> Model:
    """A driven slider-crank with an arm, and a guided body on a plane; expression forces, a spline, measures."""
    return Model.from_yaml_text(DRIVEN)


FIVE_BAR = ("L_s1", "m_A1", "r_G", "L_A1", "J_12", "angle_A", "g", "rate_1")
SLIDER_CRANK = ("m_CD", "tilt", "L0", "z_B", "J_along", "angle_0", "omega_0")
CHAIN_WRT = ("L", "tilt", "com_y", "turn", "k", "spin", "Jx", "shot", "m", "push")
SPATIAL_WRT = ("m", "L", "tilt", "J", "c", "turn", "spin")
DRIVEN_WRT = ("m", "bend", "drag", "amp", "r", "zd0", "w", "u", "c", "sway", "z0", "L")


CUTS = ("pivot", "ball", "universal", "rail")


@dataclass(frozen=True)
class Case:
    """One short run: a model, how it is simulated, and what it is differentiated by."""

    model: Callable[[], Model]
    formulation: object
    integrator: object
    wrt: tuple[str, ...]
    t_end: float
    step: float
    cut: tuple[str, ...] = ()
    coordinates: str = "joint"

    def system(self) -> System:
        return lower(self.model(), self.coordinates, **({"cut": self.cut} if self.cut else {}))

    def run(self, system: System, tolerance: float, rounds: int, s=None):
        """The motion with Newton iterations of that tolerance."""
        unused = SCHEMES[self.formulation.type, self.integrator.type].unused
        tight = {"tolerance": tolerance, "max_iterations": rounds}
        formulation = self.formulation.model_copy(update={k: x for k, x in tight.items() if k not in unused})
        return simulate(system, formulation, self.integrator, t_end=self.t_end, step=self.step, s=s)


def _cases() -> dict[str, Case]:
    ali = ALI3P(penalty=1e8)
    light = ALI3P(penalty=1e8, projection_scale=1e-4)  # for bodies of some 1e-4 kg m2
    trapezoid, damped, rk4 = Newmark(), Newmark(beta=0.3025, gamma=0.6), RungeKutta4()
    hht, generalized = HHT(alpha=-0.2), GeneralizedAlpha(rho_inf=0.3)
    five = {"wrt": FIVE_BAR, "t_end": 0.1, "step": 0.0085}
    crank = {"wrt": SLIDER_CRANK, "t_end": 0.06, "step": 0.005}
    chain = {"wrt": CHAIN_WRT, "t_end": 0.035, "step": 0.0045}
    driven = {"wrt": DRIVEN_WRT, "t_end": 0.045, "step": 0.0055}

    def case(model, formulation, integrator, options, **more):
        """A case; those of Matrix R, which take longer without the compiler, with every other parameter."""
        wrt = options["wrt"][1::2] if formulation.type == "matrix-r" else options["wrt"]
        return Case(model, formulation, integrator, **(options | {"wrt": wrt} | more))

    cases = {
        "five-bar, ali3p": case(five_bar, ALI3P(), trapezoid, five),
        "five-bar, ali3p, some velocity projections": case(
            five_bar, ALI3P(penalty=1e8, projection=4e-5), trapezoid, five
        ),
        "five-bar, ali3p, some acceleration projections": case(
            five_bar, ALI3P(penalty=1e8, projection=1e-2), trapezoid, five
        ),
        "five-bar, ali3p, exact projections": case(
            five_bar, ALI3P(penalty=1e8, projection_method="augmented-lagrangian"), trapezoid, five
        ),
        "five-bar, ali3p, weak projections, damped": case(
            five_bar, ALI3P(penalty=1e8, projection_scale=1e-7), damped, five
        ),
        "five-bar, ali3p, damped": case(five_bar, ali, damped, five),
        "five-bar, ali3p, hht": case(five_bar, ali, hht, five),
        "five-bar, ali3p, generalized-alpha, some acceleration projections": case(
            five_bar, ALI3P(penalty=1e8, projection=1e-2), generalized, five
        ),
        "slider-crank, pivot cut, ali3p, generalized-alpha": case(
            slider_crank, light, generalized, crank, cut=("pivot",)
        ),
        "driven, ali3p, hht": case(driven_crank, ali, hht, driven | {"wrt": DRIVEN_WRT[::2]}),
        "five-bar, matrix-r, damped": case(five_bar, MatrixR(), damped, five),
        "slider-crank as in its file": case(slider_crank, ALI3P(penalty=1e10, projection_scale=1e-4), trapezoid, crank),
        "five-bar, all by matrix-r, rk4": Case(five_bar, MatrixR(), rk4, **five),
    }
    everything = {
        "five-bar by point 2": (point_driven_five_bar, ali, five, {}),
        **{f"slider-crank, {cut} cut": (slider_crank, light, crank, {"cut": (cut,)}) for cut in CUTS},
        "open chain": (open_chain, ali, chain, {}),
        "driven": (driven_crank, ali, driven, {}),
    }
    for name, (model, formulation, options, more) in everything.items():
        cases[f"{name}, ali3p"] = case(model, formulation, trapezoid, options, **more)
        cases[f"{name}, matrix-r"] = case(model, MatrixR(), trapezoid, options, **more)
        cases[f"{name}, matrix-r, rk4"] = case(model, MatrixR(), rk4, options, **more)
    return cases


CASES = _cases()


def by_complex_step(case: Case) -> dict:
    """Objectives and their gradient (objectives, parameters) by complex step of the simulator."""
    system = case.system()
    columns = []
    for direction in system.directions(labels_of(system, case.wrt)):
        motion = case.run(system, *TO_ROUNDING[case.formulation.type], s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    values = {name: float(value.real) for name, value in motion.objectives.items()}
    return {"objectives": values, "gradient": np.array(columns).T.tolist(), "flags": motion.flags.tolist()}


def main() -> None:
    """Write the results of every n-th case, from the k-th on, as JSON; n and k are the arguments."""
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(CASES[name]) for name in list(CASES)[k::n]}, sys.stdout)


if __name__ == "__main__":
    main()
