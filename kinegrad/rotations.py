"""Euler parameters on arrays: the functions of `kinegrad.kernels.rotations`, checked, with arrays in and out.

Euler parameters are scalar first, ``p = (e0, e1, e2, e3)``; ``A`` maps body to global components; names that end in
``_b`` hold body components.  The functions run as plain Python and compile nothing; inside compiled code, call the
kernels of the same names.

>>> from kinegrad import rotations
>>> p = rotations.p_from_axis_angle([0, 0, 1], 0.3)
>>> rotations.omega_b_from_pd(p, rotations.pd_from_omega_b(p, [0, 0, 2.0]))
array([0., 0., 2.])
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels import rotations as kernels

# The shape of an argument follows from its name.
_SHAPES = {
    **dict.fromkeys(("p", "pd", "pdd", "q", "s"), (4,)),
    **dict.fromkeys(("a", "b", "u", "v", "omega", "omegad", "omega_b", "omegad_b"), (3,)),
    "A": (3, 3),
    "angle": (),
}
_ORTHOGONAL_WITHIN = 1e-6


@functools.cache
def uncompiled(kernel):
    """`kernel` as a plain Python function that compiles nothing; so are the kernels it calls by their plain names."""
    function = getattr(kernel, "py_func", None)
    if function is None:
        return kernel
    known = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    names = {name: uncompiled(value) for name, value in known.items() if value is not None and value is not kernel}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def _numbers(function, name, value):
    """`value` as an array of the shape its name asks for."""
    shape = _SHAPES[name]
    wanted = {(): "one number", (3,): "3 numbers", (4,): "4 numbers", (3, 3): "a (3, 3) matrix"}[shape]
    try:
        x = np.asarray(value)
        if np.iscomplexobj(x):
            raise TypeError
        x = x.astype(float)
    except (TypeError, ValueError):
        raise KinegradError(f"{function}: {name} is {value!r}; give {wanted}.") from None
    if x.shape != shape:
        raise KinegradError(f"{function}: {name} has the shape {x.shape}; give {wanted}.")
    if not np.isfinite(x).all():
        raise KinegradError(f"{function}: {name} is {x.tolist()}; give finite numbers.")
    return x


def _rotation_matrix(function, A):
    error = np.abs(A @ A.T - np.eye(3)).max()
    if error > _ORTHOGONAL_WITHIN:
        raise KinegradError(
            f"{function}: A is not a rotation matrix, A Aᵀ differs from the identity by {error:.2g} "
            f"(tolerance {_ORTHOGONAL_WITHIN:.0e}). Give three orthogonal unit columns."
        )
    if np.linalg.det(A) < 0.0:
        raise KinegradError(f"{function}: A is left-handed, its determinant is -1. Change the sign of one column.")
    return A


def _unit_axis(function, u):
    length = np.linalg.norm(u)
    if length == 0.0:
        raise KinegradError(f"{function}: the axis u is zero. Give a direction; its length does not matter.")
    return u / length


def _on_arrays(kernel, *, zero_p=True):
    """`kernel` with arrays in and out; with ``zero_p=False`` a zero p is refused."""
    function = uncompiled(kernel)
    source = getattr(kernel, "py_func", kernel)
    name, parameters = source.__name__, tuple(inspect.signature(source).parameters)

    @functools.wraps(source)
    def call(*args, **kwargs):
        bound = call.__signature__.bind(*args, **kwargs).arguments
        x = {key: _numbers(name, key, bound[key]) for key in parameters}
        if not zero_p and not x["p"].any():
            raise KinegradError(f"{name}: p is zero and stands for no orientation. Give Euler parameters, p·p = 1.")
        if "A" in x:
            x["A"] = _rotation_matrix(name, x["A"])
        if "u" in x:
            x["u"] = _unit_axis(name, x["u"])
        result = function(*(_nested_tuple(value.tolist()) for value in x.values()))
        if isinstance(result[0], tuple) and not isinstance(result[-1], tuple):
            return np.array(result[0]), float(result[1])
        return np.array(result)

    call.__signature__ = inspect.signature(source)
    call.__module__ = __name__
    return call


def _nested_tuple(x):
    return tuple(_nested_tuple(part) for part in x) if isinstance(x, list) else x


skew = _on_arrays(kernels.skew)
normalise = _on_arrays(kernels.normalise, zero_p=False)
scalar_last_from_first = _on_arrays(kernels.scalar_last_from_first)
scalar_first_from_last = _on_arrays(kernels.scalar_first_from_last)

E_of = _on_arrays(kernels.E_of)
G_of = _on_arrays(kernels.G_of)
T_of = _on_arrays(kernels.T_of)
T_last_of = _on_arrays(kernels.T_last_of)
R_of = _on_arrays(kernels.R_of)
S_of = _on_arrays(kernels.S_of)

A_of = _on_arrays(kernels.A_of)
A_orthogonal_of = _on_arrays(kernels.A_orthogonal_of, zero_p=False)
B_of = _on_arrays(kernels.B_of)
C_of = _on_arrays(kernels.C_of)
K_of = _on_arrays(kernels.K_of)
L_of = _on_arrays(kernels.L_of)
B_orthogonal_of = _on_arrays(kernels.B_orthogonal_of, zero_p=False)
K_orthogonal_of = _on_arrays(kernels.K_orthogonal_of, zero_p=False)

omega_from_pd = _on_arrays(kernels.omega_from_pd, zero_p=False)
omega_b_from_pd = _on_arrays(kernels.omega_b_from_pd, zero_p=False)
pd_from_omega = _on_arrays(kernels.pd_from_omega)
pd_from_omega_b = _on_arrays(kernels.pd_from_omega_b)
omegad_from_pdd = _on_arrays(kernels.omegad_from_pdd, zero_p=False)
omegad_b_from_pdd = _on_arrays(kernels.omegad_b_from_pdd, zero_p=False)
pdd_from_omegad = _on_arrays(kernels.pdd_from_omegad)
pdd_from_omegad_b = _on_arrays(kernels.pdd_from_omegad_b)

p_from_axis_angle = _on_arrays(kernels.p_from_axis_angle)
A_from_axis_angle = _on_arrays(kernels.A_from_axis_angle)
p_from_A = _on_arrays(kernels.p_from_A)
axis_angle_from_p = _on_arrays(kernels.axis_angle_from_p, zero_p=False)
axis_angle_from_A = _on_arrays(kernels.axis_angle_from_A)
p_from_rotation_vector = _on_arrays(kernels.p_from_rotation_vector)
p_v_of = _on_arrays(kernels.p_v_of)
rotation_vector_from_p = _on_arrays(kernels.rotation_vector_from_p, zero_p=False)
