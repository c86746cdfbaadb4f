"""Numbers and vectors with their first and second derivatives along several directions at once.

A jet holds a value `v` of shape S, and `d` and `dd` of shape (*S, lanes). Written once with jets, a formula gives its
value, its gradient by all motions of all bodies, and its rates along the motion at hand.
"""

import math
from functools import lru_cache

import numpy as np


class Jet:
    """A value with derivatives; the last lane is the motion at hand."""

    __array_ufunc__ = None
    __slots__ = ("d", "dd", "v")

    def __init__(self, v, d, dd):
        self.v, self.d, self.dd = np.asarray(v, float), np.asarray(d, float), np.asarray(dd, float)

    @classmethod
    def constant(cls, v, lanes):
        v = np.asarray(v, float)
        zero = np.zeros((*v.shape, lanes))
        return cls(v, zero, zero)

    def _other(self, other):
        return other if isinstance(other, Jet) else Jet.constant(other, self.d.shape[-1])

    def __add__(self, other):
        other = self._other(other)
        return Jet(self.v + other.v, self.d + other.d, self.dd + other.dd)

    def __neg__(self):
        return Jet(-self.v, -self.d, -self.dd)

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + (-self._other(other))

    def __mul__(self, other):
        b = self._other(other)
        av, bv = self.v[..., None], b.v[..., None]
        return Jet(self.v * b.v, av * b.d + bv * self.d, av * b.dd + bv * self.dd + 2.0 * self.d * b.d)

    def __truediv__(self, other):
        b = self._other(other)
        return self * b.unary(1.0 / b.v, -1.0 / b.v**2, 2.0 / b.v**3)

    def __pow__(self, n):
        n = float(n.v) if isinstance(n, Jet) else float(n)
        n = int(n) if n == int(n) else n
        second = n * (n - 1) * self.v ** (n - 2) if n not in (0, 1) else 0.0 * self.v
        return self.unary(self.v**n, n * self.v ** (n - 1) if n else 0.0 * self.v, second)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return self._other(other) - self

    def __rtruediv__(self, other):
        return self._other(other) / self

    def unary(self, f, f1, f2):
        """f(self) from the value of f and of its two derivatives."""
        f1, f2 = np.asarray(f1)[..., None], np.asarray(f2)[..., None]
        return Jet(f, f1 * self.d, f1 * self.dd + f2 * self.d**2)

    def __getitem__(self, k):
        return Jet(self.v[k], self.d[k], self.dd[k])

    # what a name in an expression may end with
    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])
    position = property(lambda self: self)

    @property
    def velocity(self):
        """The rate along the motion at hand, with no derivatives of its own."""
        return Jet.constant(self.d[..., -1], self.d.shape[-1])


def dot(a, b):
    p = a * b
    return Jet(p.v.sum(), p.d.sum(axis=0), p.dd.sum(axis=0))


def vec(*entries):
    lanes = next((x.d.shape[-1] for x in entries if isinstance(x, Jet)), 1)
    jets = [x if isinstance(x, Jet) else Jet.constant(x, lanes) for x in entries]
    return Jet(*(np.stack([getattr(x, part) for x in jets]) for part in ("v", "d", "dd")))


def cross(a, b):
    return vec(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm2(a):
    return dot(a, a)


def norm(a):
    return sqrt(norm2(a))


def sqrt(a):
    r = np.sqrt(a.v)
    return a.unary(r, 0.5 / r, -0.25 / r**3)


def sin(a):
    return a.unary(np.sin(a.v), np.cos(a.v), -np.sin(a.v))


def cos(a):
    return a.unary(np.cos(a.v), -np.sin(a.v), -np.cos(a.v))


def tanh(a):
    f = np.tanh(a.v)
    return a.unary(f, 1.0 - f * f, -2.0 * f * (1.0 - f * f))


def exp(a):
    return a.unary(*[np.exp(a.v)] * 3)


def acos(a):
    w = 1.0 - a.v**2
    return a.unary(np.arccos(a.v), -1.0 / np.sqrt(w), -a.v / w**1.5)


def atan2(y, x):
    """By the rate (x y' - y x')/(x² + y²) and its derivative."""
    n = x * x + y * y
    d = (x.v * y.d - y.v * x.d) / n.v
    dd = (x.v * y.dd - y.v * x.dd) / n.v - d * n.d / n.v
    return Jet(np.arctan2(y.v, x.v), d, dd)


FUNCTIONS = {f.__name__: f for f in (sqrt, sin, cos, tanh, exp, acos, atan2, dot, vec, cross, norm, norm2)}


def number(text, names):
    """The value of a number or of an expression in plain numbers."""
    if not isinstance(text, str):
        return float(text)
    functions = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tanh", "exp")}
    return float(run(text, {**functions, "pi": math.pi, **names}))


def run(text, names):
    """What an expression gives when its names stand for these objects."""
    return eval(compiled(text), {"__builtins__": {}}, names)


@lru_cache(maxsize=10_000)
def compiled(text):
    return compile(text, text, "eval")
