"""Gradients of runs with Python functions in rows, at either level, against complex step."""

import row_functions
from every_formulation import cases, gradient_tests, main

SHORT = {"t_end": 0.05, "step": 0.01}
CASES = {
    name: case
    for name, case in cases(
        ("wire", lambda: row_functions.bead(row_functions.wire), {"wrt": ("m", "a", "w", "v0", "L")} | SHORT),
        ("edge", lambda: row_functions.sleigh(row_functions.edge), {"wrt": ("m", "J", "a", "w")} | SHORT),
        ("called wire", row_functions.called_bead, {"wrt": ("m", "a", "w", "v0", "L")} | SHORT),
        ("called edge", row_functions.called_sleigh, {"wrt": ("m", "J", "a", "w")} | SHORT),
    ).items()
    if name.split(", ", 1)[1] in ("ali3p", "index1, rk4", "recursive")
}

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
