"""Numbers beyond the range of doubles: without warnings from inside, and in a sentence where a matrix cannot be decomposed."""

from __future__ import annotations

from functools import wraps

import numpy as np

from kinegrad.errors import KinegradError


def without_warnings(function):
    """Decorates what users call: NumPy would warn with places inside kinegrad, and LAPACK fail with its own words.

    Where it matters, and the name of an element can be told, numbers are looked at before.
    """
    quiet = np.errstate(all="ignore")(function)

    @wraps(function)
    def guarded(*arguments, **options):
        try:
            return quiet(*arguments, **options)
        except np.linalg.LinAlgError as error:
            if getattr(
                error, "__notes__", ()
            ):  # raised by a function of the model, as its note tells: passed on as it is
                raise
            raise KinegradError(
                "A matrix of the equations cannot be decomposed; look for masses, lengths, stiffnesses or velocities that are "
                "too large or too small."
            ) from None

    return guarded
