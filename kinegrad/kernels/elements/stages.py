"""The stages at which elements take part in the functions of a coordinate set, and what a kind of element is.

A set runs a stage and names no element; a kind of element says, in its own file, what it does at which stage.  The context
holds the addresses of those parts that its model has, stage by stage, so that nothing else is compiled::

    KIND = Kind({"spring": ("i", "j")})        # its table, and the fields of it that number markers

    @KIND.at(FORCES)
    @cfunction(what="the simulation kernels")
    def forces(ctx): ...

    FORCES      covectors f of markers, f of coordinates (f = -Q); the first status other than OK stays in the flag
    STIFFNESS   the lower triangle of K: about wk f_q + wc f_v, symmetric
    ROWS        Phi, Phi_t, Phi_q
    BIAS        c = Phidd at zero accelerations
    OBJECTIVES  g
    ENERGY      energy: adds what is stored, and the power of what has no potential
    LINEAR_FORCES, LINEAR_ROWS, LINEAR_OBJECTIVES
                covectors of markers, and all products of LINEARISE that curvature of markers does not give
    PULL        duals and covectors of markers, own slots in psi_s
    CALLS       the function of a user that a law is at; elements run this stage themselves
"""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import kernel
from kinegrad.kernels.table import call

(
    FORCES, STIFFNESS, ROWS, BIAS, OBJECTIVES, ENERGY, LINEAR_FORCES, LINEAR_ROWS, LINEAR_OBJECTIVES, PULL, CALLS,
) = range(11)  # fmt: skip
N_STAGES = 11

# A row of `stage`: how many parts it has, whether one of them reads scalars, and their addresses.
COUNT, SCALARS, FIRST = range(3)

stage_ = ELEMENTS.viewers("stage")[0]


@kernel
def run_stage(ctx, stage):
    """Run what the elements of the model do at a stage."""
    table = stage_(ctx)
    for i in range(FIRST, FIRST + table[stage, COUNT]):
        call(table[stage, i], ctx)


@kernel
def reads_scalars(ctx, stage):
    """Whether the scalars have to be up to date before a stage."""
    return stage_(ctx)[stage, SCALARS] != 0


@kernel
def is_empty(ctx, stage):
    """Whether no element of the model takes part in a stage."""
    return stage_(ctx)[stage, COUNT] == 0


class Kind:
    """A kind of element: its tables, and what it does at each stage.

    Parameters
    ----------
    tables : dict name -> names of fields
        The arrays that hold its elements, and their fields that number markers (-1: none).  A model has the kind when one of
        them is not empty.
    count : int, optional
        For kinds of rows: the place in `count` of how many rows of the first table are constraints.
    scalars : bool
        Whether its parts read scalars.
    works : bool or callable
        Whether its elements do work without having a potential; ``works(arrays)`` looks at the numbers of those there are.
    scratch : int
        How many rows of the arrays U, Ud, Udd, with a column for each coordinate and direction, its parts use.
    """

    def __init__(self, tables, *, count=None, scalars=False, works=False, scratch=0):
        self.tables, self.count, self.scalars, self.works, self.scratch = tables, count, scalars, works, scratch
        self.parts: dict = {}
        self.failures: dict = {}

    @property
    def table(self) -> str:
        """The first of its tables."""
        return next(iter(self.tables))

    def at(self, stage: int):
        """A decorator: the C function is what the kind does at a stage."""

        def decorate(function):
            if stage in self.parts:
                raise ValueError(f"the kind has a part at stage {stage} already")
            self.parts[stage] = function
            return function

        return decorate

    def failing(self, status: int, what, remedy: str):
        """A decorator: ``function(arrays)`` gives the row of the first table whose element leaves this status.

        `what`, a text or ``what(arrays)``, says, after the name of the element, what happened to it; `remedy` what to try.
        """

        def decorate(function):
            self.failures[status] = function, what, remedy
            return function

        return decorate

    def is_in(self, arrays) -> bool:
        """Whether a model has elements of the kind."""
        return any(len(arrays[name]) for name in self.tables)

    def does_work(self, arrays) -> bool:
        """Whether elements of the kind in a model do work without having a potential."""
        return self.is_in(arrays) and bool(self.works(arrays) if callable(self.works) else self.works)
