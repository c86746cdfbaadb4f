"""Motions by drivers beside steps of dynamics: microseconds of processor time a position, and an instant of their gradients."""

import argparse
from pathlib import Path

import kinegrad as kg
from kinegrad.bench.machine import machine
from kinegrad.coordinates.sets import SETS

EXAMPLES = Path(__file__).parents[1] / "examples"
FOUR_BAR = """
kinegrad: 1
ground: {markers: {A: [0, 0, 0], D: [0.7, -0.4, 0.4]}}
bodies:
  crank: {pose: global, mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01], markers: {A: [0, 0, 0], B: [0.2, 0, 0]}}
  coupler: {pose: global, mass: 2, com: [0.4, 0.1, 0.4], inertia: [0.1, 0.1, 0.1],
            markers: {B: [0.2, 0, 0], C: [0.7, 0.3, 0.9]}}
  rocker: {pose: global, mass: 1, com: [0.7, 0, 0.6], inertia: [0.02, 0.02, 0.02],
           markers: {C: [0.7, 0.3, 0.9], D: [0.7, -0.4, 0.4]}}
joints:
  A: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  B: {type: spherical, between: [crank.B, coupler.B]}
  C: {type: cardan, between: [coupler.C, rocker.C], axes: [[0, 1, 0], [1, 0, 0]]}
  D: {type: revolute, between: [rocker.D, ground.D], axis: [1, 0, 0]}
degrees_of_freedom: {A.angle: {position: 0, velocity: 6}}
"""
STEP = 1e-3


def driven(model: kg.Model) -> kg.Model:
    """The model with drivers that turn its degrees of freedom at constant speeds, and without dynamics."""
    out = model.copy()
    for k, (name, start) in enumerate(model.degrees_of_freedom.items()):
        out.drivers[f"drive_{k}"] = {"measure": name, "value": f"({start.position}) + {6 + k}*t"}
    out.degrees_of_freedom = {}
    out.objectives["path"] = {"integral": f"norm2({_last_marker(model)}.velocity)"}
    return out


def _last_marker(model: kg.Model) -> str:
    body = list(model.bodies)[-1]
    return f"{body}.{list(model.bodies[body].markers)[-1]}"


def times(model: kg.Model, coordinates: str, steps: int, repeats: int) -> tuple[float, float, float, int]:
    """Microseconds of a position, of a step of ali3p and of an instant of the gradient of an objective by every number, the
    least of turns that alternate, and the coordinates."""
    free, moved = kg.lower(model, coordinates), kg.lower(driven(model), coordinates)
    span = {"t_end": steps * STEP, "step": STEP}
    positions, runs, adjoints = [], [], []
    for _ in range(repeats):
        motion = kg.drive(moved, **span)
        positions.append(motion.us_per_step)
        gradient = kg.gradient(motion, wrt=[], method=kg.DiscreteAdjoint(every_slot=True))
        adjoints.append(1e6 * (gradient.cpu_s - gradient.simulation_cpu_s) / steps)
        runs.append(kg.simulate(free, "ali3p", "newmark", **span).us_per_step)
    return min(positions), min(runs), min(adjoints), moved.n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000, help="positions of a motion (5000)")
    parser.add_argument("--repeats", type=int, default=7, help="turns, the best of which counts (7)")
    options = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    models = {"spatial four-bar": kg.Model.from_yaml_text(FOUR_BAR)}
    for name in ("parallelogram", "slider_crank"):
        models[name] = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    print(f"{'':34}   n  position [us]  step [us]  ratio  positions a second  gradient [us]")
    for name, model in models.items():
        for kind in SETS:
            position, step, adjoint, n = times(model, kind, options.steps, options.repeats)
            told = f"{position:13.2f} {step:10.2f} {position / step:6.2f} {1e6 / position:19.0f} {adjoint:14.2f}"
            print(f"{name:18} {kind:15} {n:3} {told}")


if __name__ == "__main__":
    main()
