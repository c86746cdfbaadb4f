"""The operations of kernels by name."""

from __future__ import annotations

from kinegrad.kernels.compiler import intrinsics, vectors


def definition_of(name: str, parameters):
    """What Numba asks for: a function of types that gives a signature and how to generate code."""
    return (getattr(intrinsics, name, None) or getattr(vectors, name))(*parameters)
