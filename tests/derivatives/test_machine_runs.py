"""Gradients of machines in every coordinate set: direct, adjoint and complex step are one."""

from every_formulation import gradient_tests, main
from whole_runs import EXAMPLES, Case

from kinegrad.bench.large_models import chain
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, Index1, Newmark, RungeKutta4


def quarter_car() -> Model:
    return Model.from_yaml(EXAMPLES / "quarter_car" / "model.yaml")


def buggy() -> Model:
    """The buggy without the objective that vanishes by symmetry."""
    model = Model.from_yaml(EXAMPLES / "buggy" / "model.yaml")
    model.objectives = dict(list(model.objectives.items())[:1])
    return model


def links() -> Model:
    """A chain of ten links, of which one has a mass of its own."""
    model = chain(10)
    model.parameters |= {"m": 1.3, "a": 0.2}
    model.bodies["b4"] = model.bodies["b4"].model_copy(update={"mass": "m"})
    model.degrees_of_freedom["j6.angle"] = {"position": "a", "velocity": 1.0}
    return Model.from_dict(model.to_dict())


IMPLICIT, EXPLICIT = (ALI3P(), Newmark()), (Index1(), RungeKutta4())
CASES = {
    f"{model.__name__}, {coordinates}": Case(model, *scheme, wrt, t_end, step, coordinates=coordinates)
    for model, scheme, wrt, t_end, step in (
        (quarter_car, IMPLICIT, ("spring", "damper", "upper_y"), 0.004, 0.002),
        (buggy, EXPLICIT, ("k_f", "m_c"), 0.001, 0.001),
        (links, IMPLICIT, ("g", "m", "a"), 0.03, 0.01),
    )
    for coordinates in ("joint", "reference-point", "natural")
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
