"""Gradients of objectives over signals, in every coordinate set: direct, adjoint and complex step are one."""

from every_formulation import gradient_tests, main
from signal_models import MODEL
from whole_runs import Case

from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, Index1, Newmark, RungeKutta4

OBJECTIVES = """
objectives:
  o_strut: {integral: "strut.force**2 + strut.power*strut.length + reach.acceleration"}
  energy: {final: kinetic_energy*potential_energy}
  turning: {integral: "norm2(rod.angular_velocity) + crank.angular_acceleration.z*momentum.norm + angular_momentum.z"}
  motors: {integral: "servo.force*motor.power + coil.force**2 + pull.force"}
  o_course: {integral: "course.force**2 + course.power"}
  course_end: {final: "course.force*hinge.angle"}
  o_bush: {final: "bush.force.norm*bush.torque.x + bush.power + bush.rotation.z + bush.deflection.y"}
  loads: {integral: "wind.power + jet.force.x*twist.power + crank.com.x*rod.com.y.velocity + jet.power + wind.force.norm"}
"""
WRT = ("k", "c", "L", "push", "u[1]", "u[2]", "mc", "ax", "kb", "kt", "tau", "spin", "lump")


def mechanism() -> Model:
    text = MODEL[: MODEL.index("objectives:")].replace(
        "push: 2.5", "push: 2.5, mc: 1.2, ax: 0.2, kb: 30, kt: 2, tau: 0.05, spin: 3, lump: 0.1"
    )
    for old, new in (
        ("mass: 1.2", "mass: mc"), ("com: [0.2, 0.03", "com: [ax, 0.03"), ("stiffness: [30, 20", "stiffness: [kb, 20"),
        ("rotational_stiffness: [1, 2", "rotational_stiffness: [1, kt"), ("time_constant: 0.05", "time_constant: tau"),
        ("velocity: 3}", "velocity: spin}"), ("at: [0.1, 0.1, 0.2]", "at: [0.1, lump, 0.2]"),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    return Model.from_yaml_text(text + OBJECTIVES)


STIFF = ALI3P(penalty=1e8)
CASES = {
    "joint, ali3p": Case(mechanism, STIFF, Newmark(), WRT, 0.012, 0.006),
    "joint, index1": Case(mechanism, Index1(), RungeKutta4(), WRT, 0.006, 0.006),
    "reference-point, ali3p": Case(mechanism, STIFF, Newmark(), WRT[::3], 0.006, 0.006, coordinates="reference-point"),
    "natural, ali3p": Case(mechanism, STIFF, Newmark(), WRT[1::3], 0.006, 0.006, coordinates="natural"),
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
