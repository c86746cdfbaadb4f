"""When Newton's iterations are done: one rule for all formulations  (NEW-1).

An iteration is judged by what it changed, e, in the unit of the coordinates, against the tolerance and against rounding of
positions of this size: far from the origin no tolerance below that can be met.
"""

from kinegrad.kernels.jit import kernel

TIGHT = 1e-12  # a tolerance below this asks for all digits
ROUNDING = 4.0 * 2.0**-52  # of positions
STALLED = 1e-10  # of positions: changes below this that no longer shrink are rounding, made larger by the equations
FEW = 10.0  # times ROUNDING: changes that rounding alone may have made
CLEAR = 1e3  # times ROUNDING: changes that show what iterations make of them
OF_RATES = (
    1e-3  # of the tolerance: what changes of rates may move in a step, where rates and accelerations are solved for
)
UNKNOWN = 1.0  # what iterations make of a change before one was clear


@kernel
def converged(it, e, last, tol, tight, size):
    """Whether iteration `it`, which changed positions of this size by e after `last`, was the last one needed."""
    if e < tol:
        return True
    if not tight:
        return e <= ROUNDING * size or (it > 1 and e > 0.9 * last and e < STALLED * size)
    if it > 0 and (e * e < tol * last or (e > 0.5 * last and e < FEW * ROUNDING * size)):
        return True  # what the next one would change, or rounding
    return it > 1 and e > 0.9 * last and e < STALLED * size


@kernel
def needs_no_second(e, shrinking, tol, size):
    """Whether a first iteration with new factors, which changed positions of this size by e, leaves rounding only."""
    return e < FEW * ROUNDING * size and e * shrinking < tol


@kernel
def is_clear(e, size):
    """Whether what the next iteration makes of a change e is known beyond rounding."""
    return e > CLEAR * ROUNDING * size


@kernel
def settled(it, e, last, tol, tight, size):
    """`converged` for rounds of substitution: changes that shrink slowly are no rounding yet, and all that follow add up."""
    if not tight:
        return converged(it, e, last, tol, tight, size)
    return e < tol or (it > 1 and e > 0.9 * last and e < STALLED * size)
