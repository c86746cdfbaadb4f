"""Solvers by name: a new one is a file and its place in `SOLVERS`."""

from kinegrad.optimize.solvers.base import Ended, Solver, Task
from kinegrad.optimize.solvers.ipopt import Ipopt
from kinegrad.optimize.solvers.lbfgsb import LBFGSB
from kinegrad.optimize.solvers.least_squares import LeastSquares
from kinegrad.optimize.solvers.nlopt import MMA, NLoptLBFGS, NLoptSLSQP
from kinegrad.optimize.solvers.slsqp import SLSQP
from kinegrad.optimize.solvers.tnc import TNC
from kinegrad.optimize.solvers.trust_constr import TrustConstr
from kinegrad.optimize.solvers.trust_ncg import TrustNCG

SOLVERS: dict[str, type[Solver]] = {
    kind.name: kind
    for kind in (LBFGSB, SLSQP, TNC, TrustConstr, TrustNCG, LeastSquares, Ipopt, MMA, NLoptSLSQP, NLoptLBFGS)
}

__all__ = ["SOLVERS", "Ended", "Solver", "Task"]
