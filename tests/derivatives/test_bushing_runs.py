"""Gradients of runs with bushings in every formulation against complex step."""

import bushing_models
from every_formulation import cases, gradient_tests, main

OPEN = {"wrt": ("k", "c", "kt", "ct", "tilt", "off", "L", "turn", "spin"), "t_end": 0.03, "step": 0.006}
LOOP = {"wrt": ("k", "c", "kt", "ct", "skew", "off", "L", "spin"), "t_end": 0.03, "step": 0.006}
CASES = cases(("open", bushing_models.open_tree, OPEN), ("loop", bushing_models.loop, LOOP))

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
