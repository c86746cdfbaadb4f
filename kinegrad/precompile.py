"""Compilation of everything at once: for container images, classrooms and notebooks that should not wait later."""

from __future__ import annotations

import time
from collections.abc import Callable

from kinegrad.sensitivity.methods import METHODS

MODEL = """
kinegrad: 1
parameters: {L: 0.5, k: 1}
ground: {markers: {O: [0, 0, 0], u: {vector: [0, 1, 0]}, F: {origin: [0, 0, L]}}}
bodies:
  a: {mass: 1, com: [0, L, 0], inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [0, 0, L], F: {origin: [0, 0, L]}}}
  b: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], v: {vector: [1, 0, 0]}}}
  d: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0]}}
joints:
  j: {type: revolute, between: [ground.O, a.o], axis: [0, 0, 1]}
  held: {type: revolute, between: [ground.O, b.o], axis: [0, 0, 1]}
  led: {type: revolute, between: [ground.O, d.o], axis: [0, 0, 1]}
degrees_of_freedom: {j.angle: {position: 0}}
simulation: {t_end: 0.002}
"""
"""A model with a marker of each kind; the elements below are added to it."""

ELEMENTS = {
    "forces": {
        "gravity": "{type: gravity, acceleration: [0, -9.81, 0]}",
        "spring": "{type: spring, between: [ground.O, a.p], stiffness: k, natural_length: L}",
        "bushing": "{type: bushing, between: [ground.F, a.F], stiffness: [k, k, k], rotational_stiffness: [k, k, k]}",
        "law": "{type: torque, acts_on: j.angle, value: -k*j.angle}",
        "motor": "{type: actuator, acts_on: j.angle, value: k, time_constant: L}",
    },
    "constraints": {
        "row": "{type: dot, between: [ground.u, b.v]}",
        "course": "{type: guidance, measure: led.angle, value: 0*t}",
    },
    "objectives": {"o": "{integral: j.angle**2}"},
}
"""An element of each compiled kind."""


def _system(kind: str = "joint", **options):
    from kinegrad.coordinates.sets import lower
    from kinegrad.model.model import Model

    sections = [
        f"{section}:\n" + "".join(f"  {name}: {text}\n" for name, text in elements.items())
        for section, elements in ELEMENTS.items()
    ]
    return lower(Model.from_yaml_text(MODEL + "".join(sections)), kind, **options)


def _simulation(formulation: str, integrator: str) -> Callable[[], None]:
    def use():
        from kinegrad.simulate import simulate

        _ = simulate(_system(), formulation, integrator).energies

    return use


def _gradient(formulation: str, integrator: str, method: str) -> Callable[[], None]:
    def use():
        from kinegrad.sensitivity.gradient import gradient
        from kinegrad.simulate import simulate

        gradient(simulate(_system(), formulation, integrator), wrt=["L", "k"], method=method)

    return use


def _motion_by_drivers() -> None:
    from kinegrad.coordinates.sets import joint
    from kinegrad.model.model import Model
    from kinegrad.sensitivity.gradient import gradient
    from kinegrad.statics.drive import drive

    model = Model.from_yaml_text(MODEL)
    model.degrees_of_freedom = {}
    model.objectives["o"] = {"integral": "j.angle**2"}
    model.drivers.update({f"drive_{name}": {"measure": f"{name}.angle", "value": "t"} for name in model.joints})
    motion = drive(joint(model))
    for method in ("direct", "adjoint"):
        gradient(motion, wrt=["L"], method=method)


def _reactions() -> None:
    from kinegrad.simulate import simulate

    simulate(_system(), "ali3p", "newmark").reactions()


def _centres_of_mass() -> None:
    from kinegrad.kernels.products import EVALUATE

    _system(body_point="com").workspace().functions(EVALUATE)


def _other_set(kind: str) -> Callable[[], None]:
    def use():
        from kinegrad.kernels.products import N_FUNCTIONS

        system = _system(kind)
        system.workspace(ds=system.directions(system.parameters.independent)).functions(*range(N_FUNCTIONS))

    return use


def _signals() -> None:
    from kinegrad.simulate import simulate

    simulate(_system()).signals("kinetic_energy", "j.angle")


def _functions() -> None:
    from kinegrad.kernels.elements.callbacks import call_law
    from kinegrad.kernels.jit import JIT

    if JIT:
        _ = call_law.address


# Penalties, udwadia-kalaba, HHT and generalized-alpha run the code of index1 with Newmark, error control that of rk4;
# derivatives at acceleration level are the same code for all of them.
SIMULATED = (
    ("ali3p", "newmark"), ("matrix-r", "newmark"), ("matrix-r", "rk4"), ("index1", "newmark"), ("index1", "rk4"),
    ("recursive", "rk4"), ("recursive", "newmark"),
)  # fmt: skip
DIFFERENTIATED = (
    ("ali3p", "newmark"), ("matrix-r", "newmark"), ("matrix-r", "rk4"), ("index1", "newmark"), ("recursive", "rk4"),
)  # fmt: skip

EXACT = [name for name, method in METHODS.items() if method.exact]

FEATURES: dict[str, Callable[[], None]] = {
    **{f"{f} with {i}": _simulation(f, i) for f, i in SIMULATED},
    "signals": _signals,
    "motion by drivers": _motion_by_drivers,
    "reactions": _reactions,
    "motion at centres of mass": _centres_of_mass,
    "reference-point coordinates": _other_set("reference-point"),
    "natural coordinates": _other_set("natural"),
    "functions as laws": _functions,
    **{f"{method} gradient of {f} with {i}": _gradient(f, i, method) for method in EXACT for f, i in DIFFERENTIATED},
    "continuous-adjoint gradient": _gradient("index1", "rk4", "continuous-adjoint"),
}
"""Each feature by name, with a function that uses all its compiled entries on a tiny input."""


def precompile(progress: Callable[[str, float], None] | None = None) -> dict[str, float]:
    """Seconds taken by each feature to compile, or to load when it was compiled before.

    Parameters
    ----------
    progress : callable, optional
        Called with the name and the seconds of each feature as it is done; by default they are printed.
    """
    seconds = {}
    for name, use in FEATURES.items():
        start = time.perf_counter()
        use()
        seconds[name] = time.perf_counter() - start
        (progress or _print)(name, seconds[name])
    return seconds


def _print(name: str, seconds: float) -> None:
    print(f"{name:<30} {seconds:8.1f} s", flush=True)
