"""kinegrad: rigid multibody systems, simulated and differentiated."""

import importlib

__version__ = "0.1.0"

_PUBLIC = {
    "KinegradError": "errors",
    "ModelError": "errors",
    "ExpressionError": "errors",
    "AssemblyError": "errors",
    "SimulationError": "errors",
}

__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name):
    """Load the module of a public name at its first use."""
    if name in _PUBLIC:
        value = getattr(importlib.import_module(f"kinegrad.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'kinegrad' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_PUBLIC])
