"""The interpreter of expression tapes: straight-line programs of one operation a row.

A row of a tape is ``(operation, a, b, destination)``: registers a and b are read, the destination is written. For
``powi`` b is the exponent itself, for ``find`` the first slot of a table; operations of one operand ignore b.

Tables stand among the slots (LAW-12): the number of pieces, the ends, where each piece begins, and coefficients.  ``find``
gives the number of the piece that a lies in, ``slot`` the slot whose number is in a.
"""

from __future__ import annotations

from math import nan

from kinegrad.kernels.jit import (
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    entry,
    exp,
    kernel,
    log,
    real,
    sin,
    sqrt,
    tan,
    tanh,
)

(
    MULTIPLY,
    ADD,
    SUBTRACT,
    DIVIDE,
    NEGATE,
    SIN,
    COS,
    SQRT,
    POWI,
    POWER,
    EXP,
    TANH,
    SECH2,
    LOG,
    ATAN2,
    TAN,
    ATAN,
    ASIN,
    ACOS,
    WRAP,
    FIND,
    SLOT,
    ABS,
    MIN,
    MAX,
    SIGN,
    BELOW,
) = range(27)

TURN = 6.283185307179586

# A table: its first slots, and what `find` gives outside of one that ends.
PIECES, LOW, HIGH, KNOTS = range(4)
OUTSIDE = -1e12

OPS = {
    "multiply": MULTIPLY,
    "add": ADD,
    "subtract": SUBTRACT,
    "divide": DIVIDE,
    "negate": NEGATE,
    "sin": SIN,
    "cos": COS,
    "sqrt": SQRT,
    "powi": POWI,
    "power": POWER,
    "exp": EXP,
    "tanh": TANH,
    "sech2": SECH2,
    "log": LOG,
    "atan2": ATAN2,
    "tan": TAN,
    "atan": ATAN,
    "asin": ASIN,
    "acos": ACOS,
    "wrap": WRAP,
    "find": FIND,
    "slot": SLOT,
    "abs": ABS,
    "min": MIN,
    "max": MAX,
    "sign": SIGN,
    "below": BELOW,
}
"""The number of each operation; the interpreter tries them in this order, the frequent ones first."""


@kernel
def powi(x, n):
    """x ** n for a whole n, by squaring."""
    result = 1.0
    k = n if n > 0 else -n
    while k > 0:
        if k & 1:
            result = result * x
        k >>= 1
        if k > 0:
            x = x * x
    return 1.0 / result if n < 0 else result


@kernel
def sech2(x):
    """1 - tanh(x)**2, with all digits also where tanh is nearly 1."""
    e = exp(-x if x.real > 0.0 else x)
    s = 2.0 * e / (1.0 + e * e)
    return s * s


@kernel
def wrap(x):
    """x less the nearest whole number of turns."""
    turns = real(x) / TURN
    if not abs(turns) < 1e15:  # it has lost its angle
        return 0.0 * x
    return x - TURN * int(turns + 0.5) if turns >= 0.0 else x + TURN * int(0.5 - turns)


@kernel
def find(x, s, first):
    """The number of the piece that x lies in, of the table whose numbers begin at slot `first`."""
    at = real(x)
    if not real(s[first + LOW]) <= at <= real(s[first + HIGH]):
        return OUTSIDE
    low = 0
    high = int(real(s[first + PIECES])) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if at >= real(s[first + KNOTS + middle]):
            low = middle
        else:
            high = middle - 1
    return float(low)


@kernel
def slot(place, s):
    """The number in a slot; nan outside of a table."""
    k = real(place)
    return s[int(k)] if k >= 0.0 else nan


@kernel
def smaller(a, b):
    """The one of a and b whose real part is smaller; nan when one is."""
    if real(b) < real(a):
        return b
    return a if real(a) <= real(b) else a + b


@kernel
def larger(a, b):
    """The one of a and b whose real part is larger; nan when one is."""
    if real(b) > real(a):
        return b
    return a if real(a) >= real(b) else a + b


@kernel
def sign(x):
    """1 or -1 by the real part, 0 at 0."""
    if real(x) > 0.0:
        return 1.0
    return -1.0 if real(x) < 0.0 else 0.0 * x


@kernel
def run_tape_at(code, first, n, r, base, s):
    """Run rows `first` to `first + n` of `code` on the registers that begin at `r[base]`; s are the slots."""
    for i in range(first, first + n):
        op = code[i, 0]
        x = r[base + code[i, 1]]
        b = code[i, 2]
        if op == MULTIPLY:
            y = x * r[base + b]
        elif op == ADD:
            y = x + r[base + b]
        elif op == SUBTRACT:
            y = x - r[base + b]
        elif op == DIVIDE:
            y = x / r[base + b]
        elif op == NEGATE:
            y = -x
        elif op == SIN:
            y = sin(x)
        elif op == COS:
            y = cos(x)
        elif op == SQRT:
            y = sqrt(x)
        elif op == POWI:
            y = powi(x, b)
        elif op == POWER:
            y = x ** r[base + b]
        elif op == EXP:
            y = exp(x)
        elif op == TANH:
            y = tanh(x)
        elif op == SECH2:
            y = sech2(x)
        elif op == LOG:
            y = log(x)
        elif op == ATAN2:
            y = atan2(x, r[base + b])
        elif op == TAN:
            y = tan(x)
        elif op == ATAN:
            y = atan(x)
        elif op == ASIN:
            y = asin(x)
        elif op == ACOS:
            y = acos(x)
        elif op == WRAP:
            y = wrap(x)
        elif op == FIND:
            y = find(x, s, b)
        elif op == SLOT:
            y = slot(x, s)
        elif op == ABS:
            y = absolute(x)
        elif op == MIN:
            y = smaller(x, r[base + b])
        elif op == MAX:
            y = larger(x, r[base + b])
        elif op == SIGN:
            y = sign(x)
        else:
            y = 1.0 if real(x) <= real(r[base + b]) else 0.0
        r[base + code[i, 3]] = y


@entry(what="the simulation kernels")
def run_tape_entry(code, n, r, s):
    """The first n rows of `code` run on the registers `r`, whose inputs and constants are in place; from Python."""
    run_tape_at(code, 0, n, r, 0, s)
