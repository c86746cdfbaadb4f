"""Simulations as functions of other libraries; each bridge is a module that is loaded when it is asked for."""

import importlib

BRIDGES = ("jax",)


def __getattr__(name):
    if name not in BRIDGES:
        raise AttributeError(f"there is no bridge {name!r}; there are: {', '.join(BRIDGES)}")
    return importlib.import_module(f"{__name__}.{name}")
