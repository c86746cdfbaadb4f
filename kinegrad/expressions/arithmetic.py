"""The operations of a graph on Python numbers: floats as the processor does them, complex numbers analytically.

No operation raises: `1/0` is inf and `sqrt(-1)` is nan, as in compiled code, and who uses the number looks at it.
With complex numbers a tiny imaginary part is the derivative (complex step), so nothing here may mix the two parts.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

NAN = math.nan


def finite(x: complex) -> bool:
    """Whether x is a number, neither infinite nor nan."""
    return cmath.isfinite(x)


def _elementary(name: str) -> Callable:
    real, analytic = getattr(math, name), getattr(cmath, name)

    def function(x):
        try:
            return analytic(x) if isinstance(x, complex) else real(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return NAN

    return function


def log(x):
    """The natural logarithm; -inf at 0."""
    return -math.inf if x == 0 else _elementary("log")(x)


def atan2(y, x):
    """The angle of (x, y), continued analytically: the real parts choose the quadrant."""
    if not (isinstance(y, complex) or isinstance(x, complex)):
        return math.atan2(y, x)
    if abs(y.real) > abs(x.real):
        return math.copysign(0.5 * math.pi, y.real) - cmath.atan(x / y)
    return cmath.atan(divide(y, x)) + (math.copysign(math.pi, y.real) if x.real < 0.0 else 0.0)


def divide(a, b):
    """a / b; infinite or nan when b is 0."""
    try:
        return a / b
    except ZeroDivisionError:
        if isinstance(a, complex) or isinstance(b, complex) or a == 0.0 or a != a:
            return NAN
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    except OverflowError:
        return NAN


def power(a, b):
    """a ** b; nan when a is negative and b is not whole."""
    if isinstance(a, complex) or isinstance(b, complex):
        try:
            return a**b
        except (ZeroDivisionError, OverflowError):
            return NAN
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError) as error:
        if isinstance(error, ValueError) and a != 0.0:
            return NAN
        return math.copysign(math.inf, a) if b % 2.0 == 1.0 else math.inf


def powi(x, n: int):
    """x ** n for a whole n, by squaring."""
    result, k = 1.0, abs(n)
    while k:
        if k & 1:
            result = result * x
        x = x * x
        k >>= 1
    return divide(1.0, result) if n < 0 else result


def sech2(x):
    """1 - tanh(x)**2, with all digits also where tanh is nearly 1."""
    e = _exp(-x if x.real > 0.0 else x)
    s = 2.0 * e / (1.0 + e * e)
    return s * s


_exp = _elementary("exp")


def wrap(x):
    """x less the nearest whole number of turns."""
    turns = x.real / (2.0 * math.pi)
    if not abs(turns) < 1e15:  # it has lost its angle
        return 0.0 * x
    return x - 2.0 * math.pi * (int(turns + 0.5) if turns >= 0.0 else -int(0.5 - turns))


def absolute(x):
    """x or -x, by the sign of the real part."""
    return -x if x.real < 0.0 else x


def smaller(a, b):
    """The one of a and b whose real part is smaller, a when they are equal; nan when one is."""
    return b if b.real < a.real else a if a.real <= b.real else a + b


def larger(a, b):
    """The one of a and b whose real part is larger, a when they are equal; nan when one is."""
    return b if b.real > a.real else a if a.real >= b.real else a + b


def sign(x):
    """1 or -1 by the real part, 0 at 0."""
    return 1.0 if x.real > 0.0 else -1.0 if x.real < 0.0 else 0.0 * x


def below(a, b):
    """1 where the real part of a is at most that of b, else 0."""
    return 1.0 if a.real <= b.real else 0.0


OPERATIONS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divide,
    "negate": lambda a: -a,
    "power": power,
    "powi": powi,
    **{name: _elementary(name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "tanh")},
    "log": log,
    "atan2": atan2,
    "sech2": sech2,
    "wrap": wrap,
    "abs": absolute,
    "min": smaller,
    "max": larger,
    "sign": sign,
    "below": below,
}
"""Operation by name; `powi` takes the exponent as its second argument."""
