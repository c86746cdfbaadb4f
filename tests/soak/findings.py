"""What a check found: where, what, and by how much."""

import traceback
import warnings
from dataclasses import dataclass

from kinegrad.errors import (
    AccuracyWarning,
    DerivativeWarning,
    IterationWarning,
    KinegradError,
    ModelWarning,
    UnusedOptionWarning,
)

OWN = (AccuracyWarning, DerivativeWarning, IterationWarning, ModelWarning, UnusedOptionWarning)


@dataclass(frozen=True)
class Finding:
    """A difference beyond its tolerance, a run that failed, or a fault.

    Attributes
    ----------
    check : str
        Name of the check.
    case : str
        The pair, variant or number concerned.
    kind : str
        "difference", "refused" (an error of kinegrad) or "fault" (any other exception, or a foreign warning).
    text : str
    excess : float
        A difference in units of its tolerance.
    """

    check: str
    case: str
    kind: str
    text: str
    excess: float = 0.0


def compared(check, case, text, difference, tolerance):
    """A list with a finding if a difference is beyond its tolerance, or not a number."""
    if difference <= tolerance:
        return []
    return [Finding(check, case, "difference", f"{text}: {difference:.3g} > {tolerance:.3g}", difference / tolerance)]


def guarded(check, case, function, *arguments):
    """The findings of a function; errors of kinegrad are findings, and so are faults and warnings of others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
        except KinegradError as error:
            found = [Finding(check, case, "refused", f"{type(error).__name__}: {str(error)[:300]}")]
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
            found = [Finding(check, case, "fault", f"{type(error).__name__}: {str(error)[:200]} at {where}")]
    foreign = [w for w in caught if not issubclass(w.category, OWN)]
    texts = dict.fromkeys(f"{w.category.__name__}: {str(w.message)[:200]}" for w in foreign)
    return [*found, *(Finding(check, case, "fault", text) for text in texts)]
