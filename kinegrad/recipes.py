"""How systems and results travel to other processes: as recipes, sealed with the version that can follow them."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from kinegrad.errors import KinegradError


def sealed(what: str, make: Callable, *contents) -> tuple:
    """What ``__reduce__`` returns for an object that ``make(*contents)`` makes again; `what` it is, for people."""
    return opened, (what, _version(), pickle.dumps((make, contents), pickle.HIGHEST_PROTOCOL))


def opened(what: str, version: str, recipe: bytes):
    """The object of a recipe; one of another version is refused before anything of it is read."""
    if version != _version():
        raise KinegradError(
            f"This {what} was pickled by kinegrad {version}, and this is kinegrad {_version()}; make it again from its "
            "model, or save motions to files (Motion.save)."
        )
    make, contents = pickle.loads(recipe)
    return make(*contents)


def _version() -> str:
    import kinegrad

    return kinegrad.__version__
