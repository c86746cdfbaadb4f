"""Numerical helpers of the tests: derivatives by complex step, and comparison by scale."""

import numpy as np

STEP = 1e-40  # far below the rounding of any real part, so that the derivative has no truncation error


def complex_step(f, x):
    """Derivative of `f` at the real array `x`, of shape ``f(x).shape + x.shape``, exact to rounding.

    `f` takes a complex array of the shape of `x` and returns an array or a number. It must be analytic: no abs, no
    comparison by value, no cast to float.
    """
    x = np.asarray(x, dtype=float)
    columns = []
    for index in np.ndindex(x.shape):
        z = x.astype(complex)
        z[index] += 1j * STEP
        columns.append(np.imag(np.asarray(f(z))) / STEP)
    shape = np.shape(columns[0]) if columns else np.shape(f(x.astype(complex)))
    return np.stack(columns, axis=-1).reshape(shape + x.shape) if columns else np.zeros(shape + x.shape)


def assert_close(actual, expected, tolerance=1e-12, scale=None):
    """Assert ``|actual − expected| ≤ tolerance · scale``.

    The scale is the largest |expected| unless given, and 1 where all expected values are 0.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"shape {actual.shape} instead of {expected.shape}"
    assert np.all(np.isfinite(actual)), "a value is not finite"
    if actual.size == 0:
        return
    if scale is None:
        scale = float(np.max(np.abs(expected))) or 1.0
    error = np.abs(actual - expected)
    worst = np.unravel_index(np.argmax(error), error.shape)
    assert error[worst] <= tolerance * scale, (
        f"entry {tuple(int(i) for i in worst)} is {actual[worst]!r} instead of {expected[worst]!r}: "
        f"off by {error[worst] / scale:.3g} of the scale {scale:.3g}, allowed {tolerance:.1g}"
    )
