"""Signals along a motion: histories of the named scalars of a model, computed in one compiled loop."""
