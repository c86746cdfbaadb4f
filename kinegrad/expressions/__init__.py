"""Formulas in model files: a safe language, its exact derivatives, and tapes that compiled code evaluates."""

from kinegrad.expressions.graph import Graph, Scalar, evaluate, scalarise, scalarise_number
from kinegrad.expressions.syntax import FUNCTIONS, RESERVED, Expression, parse

__all__ = [
    "FUNCTIONS",
    "RESERVED",
    "Expression",
    "Graph",
    "Scalar",
    "evaluate",
    "parse",
    "scalarise",
    "scalarise_number",
]
