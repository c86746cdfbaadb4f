"""Gradients of runs with tables, kinks and jumps, in every set and by several formulations, against complex step."""

import table_models
from every_formulation import FORMULATIONS, gradient_tests, main
from whole_runs import Case

RUN = {"wrt": ("m", "L", "bend", "road", "stiff", "late"), "t_end": 0.021, "step": 0.007}
CASES = {key: Case(table_models.tables, *FORMULATIONS[key], **RUN) for key in ("ali3p", "matrix-r, rk4", "index1")}
CASES |= {
    key: Case(table_models.tables, *FORMULATIONS["ali3p"], **RUN, coordinates=key)
    for key in ("natural", "reference-point")
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
