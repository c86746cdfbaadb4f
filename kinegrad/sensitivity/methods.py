"""Methods of differentiation by name: a new one is a file and its place in `METHODS`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace

from kinegrad.errors import KinegradError
from kinegrad.sensitivity.continuous_adjoint import ContinuousAdjoint
from kinegrad.sensitivity.direct import Direct
from kinegrad.sensitivity.discrete_adjoint import DiscreteAdjoint
from kinegrad.sensitivity.method import Method

METHODS: dict[str, type[Method]] = {method.name: method for method in (Direct, DiscreteAdjoint, ContinuousAdjoint)}
#: other names of methods, accepted wherever a method is named
ALSO = {"adjoint": DiscreteAdjoint.name}


def method_of(
    value: Method | str, what: str = "method", names: Collection[str] = tuple(METHODS), **options: bool
) -> Method:
    """A method from an object or a name, with the options that are True.

    Where it is neither, the sentence says that it is no `what`, and tells the `names` to choose from.
    """
    chosen = METHODS.get(ALSO.get(value, value)) if isinstance(value, str) else None
    if chosen is None and not isinstance(value, Method):
        raise KinegradError(f"{value!r} is no {what}; choose from {', '.join(names)}.")
    method = value if chosen is None else chosen()
    given = [name for name, wanted in options.items() if wanted]
    for name in given:
        if name not in _options(method):
            others = [other for other, kind in METHODS.items() if name in _options(kind)]
            raise KinegradError(f"{name}=True does not go with {method.name!r}; use method={others[0]!r}.")
    return replace(method, **dict.fromkeys(given, True)) if given else method


def _options(method: Method | type[Method]) -> list[str]:
    return [field.name for field in fields(method)]
