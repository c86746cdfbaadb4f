"""Laws given by functions: a Python callable, or a compiled function by its address, as the value of a force or objective.

An expression is faster and its derivatives are exact, so a law is for what expressions cannot say: tables, branches, code of
others.  The function is called from the compiled loop; an exception in it ends the run and is raised again (LAW-7).
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinegrad.errors import DerivativeWarning, ExpressionError, KinegradError
from kinegrad.expressions.syntax import Expression

STEP = 1e-30  # of complex steps
DIFFERENCE = 6e-6  # of central differences: the cube root of the rounding error
FIRST_CHECKS, EVERY = 10, 100  # complex steps are compared with differences at the first points, then at each hundredth
AGREE, DIFFER, NOISE = 1e-3, 1e-2, 1e-13
ORDERS = 3  # of derivatives that a constraint needs

#: ``void law(const double *x, int64_t exact, double *y)``: the values, then, if exact, their partials by rows.
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


def law(
    function: Callable | int,
    arguments: Sequence[str | float] = (),
    parameters: Sequence[str] = (),
    derivative: Callable | Sequence[Callable] | None = None,
) -> Law:
    """A law for the value of a force or torque, for an objective, or for a constraint of type position or velocity.

    Parameters
    ----------
    function : callable, or compiled function
        Called as ``function(*arguments, *parameters)`` with numbers; it returns a number, or three for a force at a marker.
        A compiled one is an object with an `address` (``numba.cfunc``) or the address itself of a C function
        ``void law(const double *x, int64_t exact, double *y)``: it puts the values into y and, when exact is not 0, their
        partials after them, those of the first value first.
    arguments : expressions
        What it depends on: ``"t"``, ``"crank.angle"``, ``"crank.angle.velocity"``, ``"dot(a.p.position, a.p.velocity)"``.
    parameters : names of parameters
        They come after the arguments, and gradients by them include the law.
    derivative : callable, optional
        Called like the function; returns its partials by arguments and parameters, three rows of them for three values.
        Without it they come from complex steps if the function takes complex numbers, else from differences.
        For a constraint a list of three such functions, of which the others return the (n, n) second and the (n, n, n) third
        derivatives, or of two at velocity level; without it the formula of the function is found by calling it with symbols.
    """
    address = None
    if isinstance(function, int) and not isinstance(function, bool):
        address = function
    elif isinstance(getattr(function, "address", None), int):
        address = function.address
    elif not callable(function):
        raise KinegradError(
            f"A law is made of a function, not of {function!r}; give a callable or a compiled function."
        )
    if address is not None and derivative is not None:
        raise KinegradError("A compiled law computes its own derivatives; leave derivative out.")
    for word, given in (("arguments", arguments), ("parameters", parameters)):
        if isinstance(given, str):
            raise KinegradError(f"{word} of a law is the text {given!r}; give a list of texts.")
    inputs = tuple(_expression(x) for x in (*arguments, *parameters))
    given = tuple(derivative) if isinstance(derivative, Sequence) else () if derivative is None else (derivative,)
    if len(given) > ORDERS or not all(map(callable, given)):
        raise KinegradError(f"derivative of a law is {derivative!r}; give a function, or a list of one to {ORDERS}.")
    return Law(function, inputs, given[0] if given else None, address, given[1:])


def _expression(value: str | float) -> Expression:
    try:
        return value if isinstance(value, Expression) else Expression.parse(str(value))
    except ExpressionError as error:
        raise KinegradError(f"{value!r} is no argument of a law: {error.problems[0].sentence}") from None


@dataclass(frozen=True, eq=False)
class Law:
    """A function with the expressions it is called with; made by `law`."""

    function: Any
    inputs: tuple[Expression, ...]
    derivative: Callable | None = None
    address: int | None = None
    higher: tuple[Callable, ...] = ()  # second and third derivatives
    linear: tuple[int, ...] = ()  # arguments in which it has to be linear
    _state: dict = field(
        default_factory=lambda: {"complex": True, "calls": 0, "said": False, "warned": False}, repr=False
    )

    @property
    def name(self) -> str:
        """The function's name for people."""
        if isinstance(self.function, int):
            return f"at address {self.function:#x}"
        function = getattr(self.function, "__name__", None) or type(self.function).__name__
        return f"{function}()"

    def __repr__(self) -> str:
        return f"<law {self.name} of {', '.join(map(str, self.inputs)) or 'nothing'}>"

    def announce(self, owner: str) -> None:
        """Tell on standard error, once, that Python is called from the loop."""
        if self.address is None and not self._state["said"] and os.environ.get("KINEGRAD_QUIET", "0") in ("", "0"):
            text = (
                f"kinegrad: {owner} is the Python function {self.name}, called in every step; an expression is faster."
            )
            print(text, file=sys.stderr, flush=True)
        self._state["said"] = True

    # --- values ---

    def values(self, x: np.ndarray, owner: str, count: int) -> np.ndarray:
        """The `count` values at float or complex x."""
        if self.address is not None:
            return self._compiled(x, 0, count)[0]
        result = np.atleast_1d(np.asarray(self.function(*x.tolist())))
        if result.shape != (count,) or result.dtype.kind not in "fciub":
            needed = "one number is" if count == 1 else f"{count} numbers are"
            raise TypeError(f"{owner}: the function {self.name} returned {result.tolist()!r}, where {needed} needed.")
        if np.iscomplexobj(result) and not np.iscomplexobj(x):
            raise TypeError(f"{owner}: the function {self.name} returned {result.tolist()!r}, which is not real.")
        return result

    def _compiled(self, x: np.ndarray, exact: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        given, out = np.ascontiguousarray(x, float), np.zeros(count * (1 + len(x)))
        SIGNATURE(self.address)(given.ctypes.data, exact, out.ctypes.data)
        return out[:count], out[count:].reshape(count, len(x))

    # --- partials ---

    def partials(self, x: np.ndarray, owner: str, count: int, warn: bool = True, units=1.0) -> np.ndarray:
        """(count, arguments) partials at float x; `warn` where they come from differences, of arguments in these units."""
        if self.address is not None:
            return self._compiled(x, 1, count)[1]
        if self.derivative is not None:
            result = np.asarray(self.derivative(*x.tolist()), float)
            if result.size != count * len(x):
                needed = f"{count} x {len(x)}" if count > 1 else f"{len(x)}"
                text = f"the derivative of {self.name} returned {result.tolist()!r}, where {needed} numbers are needed."
                raise TypeError(f"{owner}: {text}")
            return result.reshape(count, len(x))
        if self._state["complex"]:
            calls = self._state["calls"] = self._state["calls"] + 1
            found = self._complex_steps(x, owner, count)
            if found is not None and (calls > FIRST_CHECKS and calls % EVERY):
                return found
            if found is not None and not self._contradicted(found, x, owner, count, units):
                return found
            self._state["complex"] = False
        if warn and not self._state["warned"]:
            self._state["warned"] = True
            warnings.warn(
                f"{owner}: the function {self.name} does not take complex numbers, so it is differentiated by central "
                "differences, and gradients are good to about 8 digits; give law(..., derivative=...) for all digits.",
                DerivativeWarning,
                stacklevel=2,
            )
        return self._differences(x, owner, count, 1.0, units)

    def derivatives(self, x: np.ndarray, owner: str, order: int) -> list[np.ndarray]:
        """The value and its given derivatives up to that order at float x, of 1, n, n², n³ numbers; of a law with one value."""
        n, out = len(x), [self.values(x, owner, 1), self.partials(x, owner, 1)[0]]
        for k, function in enumerate(self.higher[: max(order - 1, 0)], start=2):
            result = np.asarray(function(*x.tolist()), float)
            if result.size != n**k:
                text = f"derivative {k} of {self.name} returned {result.size} numbers, where {n**k} are needed ({n} arguments)."
                raise TypeError(f"{owner}: {text}")
            out.append(result.ravel())
            bent = out[2].reshape(n, n)[np.ix_(self.linear, self.linear)]
            if bent.any():
                raise TypeError(
                    f"{owner}: the function {self.name} is not linear in velocities; a row of velocities has to be."
                )
        return out

    def _complex_steps(self, x: np.ndarray, owner: str, count: int) -> np.ndarray | None:
        """Partials by complex steps; None where the function refuses complex numbers."""
        J = np.zeros((count, len(x)))
        for j in range(len(x)):
            z = x.astype(complex)
            z[j] += 1j * STEP
            try:
                J[:, j] = np.imag(self.values(z, owner, count)) / STEP
            except Exception:
                return None
        return J

    def _differences(self, x: np.ndarray, owner: str, count: int, factor: float, units) -> np.ndarray:
        J, sizes = np.zeros((count, len(x))), np.maximum(np.abs(x), units)
        for j in range(len(x)):
            up, down = x.copy(), x.copy()
            h = factor * DIFFERENCE * sizes[j]
            up[j] += h
            down[j] -= h
            J[:, j] = (self.values(up, owner, count) - self.values(down, owner, count)) / (up[j] - down[j])
        return J

    def _contradicted(self, J: np.ndarray, x: np.ndarray, owner: str, count: int, units) -> bool:
        """Whether differences, where two sizes of them agree, say something else than J."""
        try:
            one, two = (self._differences(x, owner, count, factor, units) for factor in (1.0, 0.5))
            values = np.abs(self.values(x, owner, count))[:, None]
            noise = NOISE / DIFFERENCE * values / np.maximum(np.abs(x), units)
        except Exception:  # the neighbours may be outside its domain
            return False
        sure = np.abs(one - two) <= AGREE * np.maximum(np.abs(one), np.abs(two))
        return bool((sure & (np.abs(J - two) > DIFFER * np.maximum(np.abs(J), np.abs(two)) + noise)).any())


class Calls:
    """The laws of one workspace: what compiled code calls, and the exception that ended it.

    Attributes
    ----------
    failure : (exception, owner) or None
    """

    def __init__(
        self,
        laws: Sequence[tuple[Law, str, int]],
        units: Sequence,
        arrays: dict[str, np.ndarray],
        failed: Callable[[], None],
    ):
        self.laws, self.units = tuple(laws), units
        self.x, self.y = arrays["call_x"], arrays["call_y"]
        self.failed = failed
        self.failure: tuple[BaseException, str] | None = None
        for entry, owner, _ in self.laws:
            entry.announce(owner)
        self._thunks = []

    @cached_property
    def addresses(self) -> list[int]:
        """Addresses of C functions for compiled code; they are valid as long as this object lives."""
        out = []
        for k, (entry, _, _) in enumerate(self.laws):
            if entry.address is not None:
                out.append(entry.address)
                continue
            self._thunks.append(SIGNATURE(lambda x, exact, y, k=k: self.run(k, exact)))
            out.append(ctypes.cast(self._thunks[-1], ctypes.c_void_p).value)
        return out

    def run(self, k: int, exact: int) -> None:
        """Fill y from x: values of law k and, if `exact` is 1 (about) or 2, their partials; nan once something was raised."""
        entry, owner, count = self.laws[k]
        n = len(entry.inputs)
        if self.failure is None:
            try:
                self._fill(k, self.x[:n], exact)
                return
            except BaseException as error:  # it must not pass through compiled code; simulate raises it again
                self.failure = error, owner
        self.y[: count * (1 + n)] = math.nan
        self.failed()

    def _fill(self, k: int, x: np.ndarray, exact: int) -> None:
        entry, owner, count = self.laws[k]
        n = len(entry.inputs)
        at = np.ascontiguousarray(x.real, float)
        if entry.higher and count == 1:
            self._fill_orders(entry, owner, at, x.imag if np.iscomplexobj(x) else None, exact)
            return
        J = entry.partials(at, owner, count, exact > 1, self.units[k]) if exact or np.iscomplexobj(x) else None
        value = entry.values(at, owner, count)
        self.y[:count] = value if not np.iscomplexobj(x) else value + 1j * (J @ x.imag)
        if exact:
            self.y[count : count * (1 + n)] = J.ravel()

    def _fill_orders(self, entry: Law, owner: str, at: np.ndarray, change: np.ndarray | None, exact: int) -> None:
        """The value and the derivatives that are wanted; with a change, of complex runs, each changes by the next order."""
        order = max(0, min(exact, 1) + max(exact - 2, 0))
        found = entry.derivatives(at, owner, order + (change is not None))
        first = 0
        for k, values in enumerate(found[: order + 1]):
            if change is not None and k + 1 < len(found):
                values = values + 1j * (found[k + 1].reshape(-1, len(at)) @ change)
            self.y[first : first + len(values)] = values
            first += len(values)

    def values(self, k: int, x: np.ndarray) -> np.ndarray:
        """The values of law k at x, computed apart from compiled code."""
        entry, owner, count = self.laws[k]
        return entry.values(x, owner, count)

    def check(self) -> None:
        """Raise what a function raised."""
        if self.failure is not None:
            error, owner = self.failure
            note = f"raised in {owner}, which kinegrad called"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise error
