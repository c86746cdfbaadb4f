"""When Newton's iterations are done: on sequences of changes."""

import numpy as np
import pytest

from kinegrad.kernels.formulations.newton import (
    ROUNDING,
    STALLED,
    TIGHT,
    UNKNOWN,
    converged,
    is_clear,
    needs_no_second,
    settled,
)
from kinegrad.kernels.jit import entry

SIZE = 2.0
LOOSE, SHARP = 1e-8, 1e-15


@entry
def is_converged(it, e, last, tol, tight, size):
    return converged(it, e, last, tol, tight, size)


@entry
def is_settled(it, e, last, tol, tight, size):
    return settled(it, e, last, tol, tight, size)


@entry
def is_done_at_once(e, shrinking, tol, size):
    return needs_no_second(e, shrinking, tol, size)


@entry
def shows_the_next(e, size):
    return is_clear(e, size)


def rounds(rule, changes, tol):
    """The number of changes that are made."""
    last = 1e300
    for it, e in enumerate(changes):
        if rule(it, e, last, tol, tol < TIGHT, SIZE):
            return it + 1
        last = e
    return None


QUADRATIC = [1e-1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-16]
SLOW = [0.1 * 0.5**k for k in range(60)]
FAST = [1e-1, 1e-5, 1e-11, 1e-20]
NOISE = [1e-2, 1e-7, 1e-10, 1e-10, 1.1e-10]


@pytest.mark.parametrize(
    ("rule", "changes", "tol", "expected"),
    [
        (is_converged, QUADRATIC, LOOSE, 5),  # the change below the tolerance, not the one it foretells
        (is_converged, QUADRATIC, SHARP, 5),
        (is_converged, FAST, SHARP, 3),  # what the next one would change, if it shrinks as this one did, is below it
        (is_settled, FAST, SHARP, 4),
        (is_converged, SLOW, LOOSE, next(k for k, e in enumerate(SLOW) if e < LOOSE) + 1),
        (is_settled, SLOW, SHARP, next(k for k, e in enumerate(SLOW) if e < SHARP) + 1),  # shrinking is no rounding yet
        (is_converged, NOISE, SHARP, 4),  # changes that no longer shrink are rounding
        (is_settled, NOISE, SHARP, 4),
        (is_converged, [1e-14, 6e-15], SHARP, 2),  # of the size of rounding: enough that they shrink by less than half
        (is_converged, [1e-14, 4e-15, 3e-15], SHARP, 3),
        (is_converged, [1.0] * 20, LOOSE, None),  # but not large ones
        (is_converged, [1.0] * 20, SHARP, None),
        (is_settled, [1.0] * 20, SHARP, None),
    ],
)
def test_rounds(rule, changes, tol, expected):
    assert rounds(rule, changes, tol) == expected


@pytest.mark.parametrize("tight", [False, True])
def test_nan_never_converges(tight):
    for rule in (is_converged, is_settled):
        assert not rule(5, np.nan, 1e-3, LOOSE, tight, SIZE)


def test_far_from_the_origin_rounding_is_enough():
    """A tolerance that positions of this size cannot meet."""
    size = 1e9
    assert is_converged(0, ROUNDING * size, 1e300, LOOSE, False, size)
    assert not is_converged(0, 1.01 * ROUNDING * size, 1e300, LOOSE, False, size)
    assert is_converged(2, 0.9 * STALLED * size, 0.99 * STALLED * size, LOOSE, False, size)
    assert not is_converged(2, 1.1 * STALLED * size, 1.1 * STALLED * size, LOOSE, False, size)


def test_a_first_iteration_is_enough():
    """What it changed is of the size of rounding, and the next one, as far as is known, would change less than asked for."""
    near = 9.0 * ROUNDING * SIZE
    assert is_done_at_once(near, 0.01 * SHARP / near, SHARP, SIZE)
    assert not is_done_at_once(near, 1.01 * SHARP / near, SHARP, SIZE)
    assert not is_done_at_once(11.0 * ROUNDING * SIZE, 0.0, SHARP, SIZE)
    assert not is_done_at_once(near, UNKNOWN, SHARP, SIZE)
    assert not is_done_at_once(0.0, 0.0, 0.0, SIZE)  # all iterations are wanted
    assert not is_done_at_once(np.nan, 0.0, SHARP, SIZE)
    assert shows_the_next(1.01e3 * ROUNDING * SIZE, SIZE)
    assert not shows_the_next(0.99e3 * ROUNDING * SIZE, SIZE)
