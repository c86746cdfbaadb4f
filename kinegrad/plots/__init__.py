"""Figures of motions, reactions and gradients; matplotlib is imported when one is drawn."""

from kinegrad.plots.figure import check_suffix
from kinegrad.plots.gradient import plot_gradient
from kinegrad.plots.motion import moving_markers, plot
from kinegrad.plots.reactions import plot_reactions

__all__ = ["check_suffix", "moving_markers", "plot", "plot_gradient", "plot_reactions"]
