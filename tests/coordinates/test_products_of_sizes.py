"""Products of powers of the sizes of a model."""

import numpy as np

from kinegrad.coordinates.sizes import product


def test_products_are_exact_and_within_the_range_of_numbers():
    sizes = 2.0**660, 2.0, 0.25
    powers = np.array([[1, 0, 0], [1, 3, -2], [0.5, 0, 0], [2, 0, 0], [2, 0, 1], [-2, 0, 0]])
    least, most = 2.0**-1022, 2.0**1023
    assert product(sizes, powers).tolist() == [2.0**660, 2.0**667, 2.0**330, most, most, least]
    assert product(sizes, np.zeros((0, 3))).shape == (0,)
