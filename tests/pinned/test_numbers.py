"""Three models in every set and scheme give the numbers that are written down here, to 1e-12 of the largest."""

import json
from pathlib import Path

import every_number
import numpy as np
import pytest

PINNED = json.loads(Path(__file__).with_name("numbers.json").read_text())
TOLERANCE = 1e-12  # of the largest number of an array
#: multipliers of stiff rows are known to rounding times their stiffness
LOOSE = {}


@pytest.mark.parametrize("name", sorted({key.split()[0] for key in PINNED}))
def test_numbers_are_those_written_down(name):
    wrong = []
    for what, found in every_number.of_example(name):
        expected = PINNED[f"{name} {what}"]
        assert found.keys() == expected.keys()
        for key, value in found.items():
            if key in ("error", "warnings"):
                assert value == expected[key]
                continue
            a, b = np.array(value), np.array(expected[key])
            if np.abs(a - b).max() > TOLERANCE * np.abs(b).max():
                wrong.append((what, key, np.abs(a - b).max() / np.abs(b).max()))
    assert not wrong
