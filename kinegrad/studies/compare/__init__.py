"""compare: one model by every coordinate set, formulation and integrator, and whether they give one motion."""

from kinegrad.studies.compare.comparison import Comparison, ComparisonRow
from kinegrad.studies.compare.study import compare

__all__ = ["Comparison", "ComparisonRow", "compare"]
