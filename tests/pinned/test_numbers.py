"""Three models in every set and scheme give the numbers that are written down here, to 1e-12 of the largest.

A change that is meant to change them says why and by how much, and writes the file anew:
``python tests/pinned/every_number.py tests/pinned/numbers.json five_bar simple_pendulum slider_crank`` after deleting it.
"""

import json
from pathlib import Path

import every_number
import numpy as np
import pytest

PINNED = json.loads(Path(__file__).with_name("numbers.json").read_text())
TOLERANCE = 1e-12  # of the largest number of an array


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
            off = np.abs(np.subtract(value, expected[key])).max(initial=0.0)
            if off > TOLERANCE * np.abs(expected[key]).max(initial=0.0):
                wrong.append((what, key, off))
    assert not wrong
