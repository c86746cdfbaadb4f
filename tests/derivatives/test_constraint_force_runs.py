"""Gradients of sums, extremes and forces of constraints, in every coordinate set: direct, adjoint and complex step are one."""

from constraint_force_models import BODIES, OF_DRIVER, OF_JOINTS, SIMULATION, constrained
from every_formulation import gradient_tests, main
from whole_runs import EXAMPLES, Case, driven_crank, open_chain

from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, GeneralizedAlpha, Index1, MatrixR, Newmark, Penalty, Recursive, RungeKutta4

FIVE = ("L_s1", "L_s2", "m_A1", "r_G", "L_A1")
WRT = ("m", "L", "k", "w", "gy", "start", "spin", "y0[1]")


def of_driver() -> Model:
    return Model.from_yaml_text(BODIES + OF_DRIVER + SIMULATION)


def of_joints() -> Model:
    return Model.from_yaml_text(BODIES + OF_DRIVER + OF_JOINTS + SIMULATION)


def reactions_of(model: Model, **objectives) -> Model:
    """The model with these objectives, which use reactions of joints in the tree."""
    model.objectives = objectives
    return model


def reversed_chain() -> Model:
    """Reactions of balls and a hinge, one of them against the tree, and of a floating joint, which has none."""
    peak = {"maximum": "norm(tail.reaction.force) + 3*hinge.reaction.moment.y", "sharpness": 0.3}
    return reactions_of(
        open_chain(),
        peak=peak,
        rest={"integral": "ball.reaction.force.x*tail.reaction.force.z + air.reaction.moment.x"},
    )


def loaded_loop() -> Model:
    """Reactions of a slide, a Cardan and a planar joint with springs, splines, guidances and drivers on coordinates."""
    return reactions_of(
        driven_crank(),
        load={"integral": "norm2(slide.reaction.moment) + turn.force*main.reaction.force.x"},
        last={"final": "knee.reaction.moment.y*knee.angle1 + table.reaction.force.z + wrist.reaction.force.y"},
    )


def on_a_line() -> Model:
    return constrained("point-on-line")


def in_a_plane() -> Model:
    return constrained("point-in-plane")


def planar_loop() -> Model:
    """Reactions of a linkage whose redundant hinges bear nothing across its plane."""
    return reactions_of(
        Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"),
        peak={"maximum": "J1.reaction.force.norm + JB.reaction.force.norm", "sharpness": 0.5},
        last={"final": "norm2(J2.reaction.force) + J3.reaction.force.x"},
    )


STIFF = ALI3P(penalty=1e8)
CASES = {
    "joint, ali3p": Case(of_driver, STIFF, Newmark(), WRT, 0.012, 0.003),
    "joint, matrix-r": Case(of_driver, MatrixR(), RungeKutta4(), WRT, 0.009, 0.003),
    "joint, generalized-alpha": Case(of_driver, Index1(), GeneralizedAlpha(), WRT[::3], 0.009, 0.003),
    "joint, reactions, ali3p": Case(of_joints, STIFF, Newmark(), WRT, 0.009, 0.003),
    "joint, reactions, penalty": Case(of_joints, Penalty(penalty=1e7), Newmark(), WRT[::3], 0.009, 0.003),
    "joint, reactions against the tree, recursive": Case(
        reversed_chain, Recursive(), RungeKutta4(), ("L", "tilt", "m", "spin", "k"), 0.009, 0.0045
    ),
    "joint, reactions in a loop, matrix-r": Case(
        loaded_loop, MatrixR(), RungeKutta4(), ("bend", "r", "u", "zd0", "sway"), 0.011, 0.0055
    ),
    "joint, shared in a plane, ali3p": Case(planar_loop, STIFF, Newmark(), FIVE, 0.009, 0.003),
    "joint, shared in a plane, index1": Case(planar_loop, Index1(), RungeKutta4(), FIVE[1:3], 0.006, 0.003),
    "reference-point, shared in a plane, ali3p": Case(
        planar_loop, STIFF, Newmark(), FIVE, 0.009, 0.003, coordinates="reference-point"
    ),
    "reference-point, ali3p": Case(of_joints, STIFF, Newmark(), WRT, 0.009, 0.003, coordinates="reference-point"),
    "reference-point, index1": Case(
        of_joints, Index1(), RungeKutta4(), WRT[::2], 0.009, 0.003, coordinates="reference-point"
    ),
    "natural, reactions, ali3p": Case(of_joints, STIFF, Newmark(), WRT, 0.009, 0.003, coordinates="natural"),
    "natural, reactions in a loop, index1": Case(
        loaded_loop, Index1(), RungeKutta4(), ("bend", "r", "u", "zd0", "sway"), 0.011, 0.0055, coordinates="natural"
    ),
    "natural, shared in a plane, ali3p": Case(planar_loop, STIFF, Newmark(), FIVE, 0.009, 0.003, coordinates="natural"),
    **{
        f"{kind}, {case.__name__}": Case(
            case, Index1(), RungeKutta4(), ("m", "px", "s"), 0.004, 0.002, coordinates=kind
        )
        for kind, case in (("joint", in_a_plane), ("reference-point", on_a_line), ("natural", in_a_plane))
    },
    "natural, ali3p": Case(of_driver, STIFF, Newmark(), WRT[1::2], 0.009, 0.003, coordinates="natural"),
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
