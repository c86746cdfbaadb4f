"""Objectives of a simulation as a function in JAX, with its derivative: for losses, networks and optimisers written there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model
from kinegrad.optimize.analyses import ANALYSES, cheaper
from kinegrad.sensitivity.gradient import labels_of

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise ImportError(
        "kinegrad.bridge.jax needs jax, which is not installed; run: pip install 'kinegrad[jax]'."
    ) from None

METHODS = ("auto", "direct", "discrete-adjoint", "adjoint")
REMEMBERED = 4  # runs, and their derivatives, that may be asked for again


class Objectives:
    """The objectives of a model as a differentiable function of parameters: ``f(x)`` is an array (o,) for an array x (p,).

    One run gives the values, and one pass, direct or adjoint, all derivatives that reverse mode asks for.
    ``jax.grad``, ``jax.jacrev``, ``jax.jit`` and ``jax.vmap`` (one run after the other) work.  Forward mode and second
    derivatives are refused by JAX.  Numbers are in double precision: ``jax.config.update("jax_enable_x64", True)``.

    Parameters
    ----------
    model : Model or System
        It is run as its simulation section says.
    wrt : sequence of str, optional
        Independent parameters, lists as a whole or by entry; the model's design by default.
    analysis : str
        "dynamics", "kinematics" or "equilibrium".
    method : str
        "auto" takes the cheaper of "direct" and "discrete-adjoint".

    Attributes
    ----------
    names, wrt : tuple of str
        Of the values, and of the entries of x.
    start : (p,) array
        The values of the model.
    runs, gradients : int
        Simulations, and passes of derivatives, that were done.
    """

    def __init__(
        self,
        model: Model | System,
        wrt: Sequence[str] | None = None,
        *,
        analysis: str = "dynamics",
        method: str = "auto",
    ):
        self.system = system = lower(model) if isinstance(model, Model) else model
        if not system.objectives:
            raise KinegradError("The model has no objectives; add them under objectives.")
        if analysis not in ANALYSES:
            raise KinegradError(f"There is no analysis {analysis!r}; choose from {', '.join(ANALYSES)}.")
        if method not in METHODS:
            raise KinegradError(f"There is no method {method!r}; choose from {', '.join(METHODS)}.")
        self.names, self.wrt = tuple(system.objectives), labels_of(system, wrt)
        self._places = system.parameters.positions(self.wrt)
        self.start = system.rho[self._places].copy()
        self.method = cheaper(len(self.wrt), len(self.names)) if method == "auto" else method
        self.runs = self.gradients = 0
        self._analysis = ANALYSES[analysis](system.model.simulation)
        self._known: OrderedDict[bytes, object] = OrderedDict()
        self._matrices: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()
        self._function = self._made()

    def __call__(self, x):
        """(o,) the objectives with the parameters x."""
        if not jax.config.jax_enable_x64:
            raise KinegradError(
                "JAX computes in single precision; call jax.config.update('jax_enable_x64', True) before anything else."
            )
        x = jnp.asarray(x, jnp.float64)
        if x.shape != (len(self.wrt),):
            raise KinegradError(f"x has the shape {x.shape}; ({len(self.wrt)},) is needed: {', '.join(self.wrt[:8])}.")
        return self._function(x)

    def _made(self):
        values = jax.ShapeDtypeStruct((len(self.names),), np.float64)
        slopes = jax.ShapeDtypeStruct((len(self.names), len(self.wrt)), np.float64)

        @jax.custom_vjp
        def objectives(x):
            return jax.pure_callback(self._values, values, x, vmap_method="sequential")

        def forwards(x):
            return objectives(x), x

        def backwards(x, weights):
            return (weights @ jax.pure_callback(self._slopes, slopes, x, vmap_method="sequential"),)

        objectives.defvjp(forwards, backwards)
        return objectives

    def _found(self, x: np.ndarray):
        """The run at x, done once."""
        key = x.tobytes()
        if key not in self._known:
            rho = self.system.rho.copy()
            rho[self._places] = x
            self._known[key] = self._analysis.run(self.system.with_parameters(rho), None)
            self.runs += 1
            _forget(self._known)
        return self._known[key]

    def _values(self, x) -> np.ndarray:
        with self._lock:
            return np.array(list(self._found(np.array(x, float)).objectives.values()), float)

    def _slopes(self, x) -> np.ndarray:
        with self._lock:
            x = np.array(x, float)
            key = x.tobytes()
            if key not in self._matrices:
                matrix = self._found(x).gradient(self.wrt, self.method)
                self._matrices[key] = np.ascontiguousarray(matrix)
                self.gradients += 1
                _forget(self._matrices)
            return self._matrices[key]


def _forget(known: OrderedDict) -> None:
    """The oldest entries, so that few are left."""
    while len(known) > REMEMBERED:
        known.popitem(last=False)


def objectives(model: Model | System, wrt: Sequence[str] | None = None, **options) -> Objectives:
    """The objectives of a model as a function of parameters in JAX; see `Objectives`."""
    return Objectives(model, wrt, **options)
