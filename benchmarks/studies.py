"""Designs and gradients that solvers need, beside the simulations by differences: the table of docs/optimisation.md."""

from pathlib import Path

import kinegrad as kg

EXAMPLES = Path(__file__).parents[1] / "examples"
SOLVERS = ("slsqp", "trust-constr", "ipopt", "nlopt-slsqp")
ORDINATES = 60


def crane() -> kg.Study:
    return kg.Study.from_yaml(EXAMPLES / "studies" / "crane_control" / "study.yaml")


def slide() -> kg.Study:
    """The mass on a slide with many ordinates."""
    document = kg.Model.from_yaml(EXAMPLES / "slide" / "model.yaml").to_dict()
    document["parameters"]["u"] = [0.0] * ORDINATES
    document["forces"]["push"]["times"] = [k / (ORDINATES - 1) for k in range(ORDINATES)]
    document["simulation"]["step"] = 0.5 / (ORDINATES - 1)
    return kg.Study(
        kg.Model.from_dict(document), variables={"u": {"bounds": [-20, 20], "scale": 10}}, minimise="effort",
        constraints={"arrives": {"value": "x", "equals": 1}, "rests": {"value": "v", "equals": 0}},
    )  # fmt: skip


def main() -> None:
    for make in (crane, slide):
        study = make()
        p = len(study.plan.variables)
        for solver in SOLVERS:
            found = study.optimize(solver)
            differences = found.gradients * (p + 1)
            fewer = differences / (found.evaluations + found.gradients)
            print(
                f"{make.__name__:6} {p:3} {solver:12} {found.status:8} {found.values['minimise']:.7g} {found.evaluations:4} "
                f"{found.gradients:4} {differences:6} {fewer:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
