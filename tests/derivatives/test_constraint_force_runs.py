"""Gradients of sums, extremes and forces of constraints, in every coordinate set: direct, adjoint and complex step are one."""

from constraint_force_models import BODIES, OF_DRIVER, OF_JOINTS, SIMULATION
from every_formulation import gradient_tests, main
from whole_runs import Case

from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, GeneralizedAlpha, Index1, MatrixR, Newmark, RungeKutta4

WRT = ("m", "L", "k", "w", "gy", "start", "spin", "y0[1]")


def of_driver() -> Model:
    return Model.from_yaml_text(BODIES + OF_DRIVER + SIMULATION)


def of_joints() -> Model:
    return Model.from_yaml_text(BODIES + OF_DRIVER + OF_JOINTS + SIMULATION)


STIFF = ALI3P(penalty=1e8)
CASES = {
    "joint, ali3p": Case(of_driver, STIFF, Newmark(), WRT, 0.012, 0.003),
    "joint, matrix-r": Case(of_driver, MatrixR(), RungeKutta4(), WRT, 0.009, 0.003),
    "joint, generalized-alpha": Case(of_driver, Index1(), GeneralizedAlpha(), WRT[::3], 0.009, 0.003),
    "reference-point, ali3p": Case(of_joints, STIFF, Newmark(), WRT, 0.009, 0.003, coordinates="reference-point"),
    "reference-point, index1": Case(
        of_joints, Index1(), RungeKutta4(), WRT[::2], 0.009, 0.003, coordinates="reference-point"
    ),
    "natural, ali3p": Case(of_driver, STIFF, Newmark(), WRT[1::2], 0.009, 0.003, coordinates="natural"),
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
