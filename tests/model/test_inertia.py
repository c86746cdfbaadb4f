"""Inertias of simple solids against integrals over points."""

import numpy as np
import pytest

from kinegrad.errors import ModelError
from kinegrad.expressions.syntax import Expression
from kinegrad.model.bodies import Body
from kinegrad.model.inertia import box, cylinder, rod, sphere
from kinegrad.model.parameters import Parameters


def moments(points, weights, mass):
    """Principal moments of weighted points, scaled to a mass."""
    square = (weights[:, None] * points**2).sum(axis=0) * mass / weights.sum()
    return square.sum() - square


def line(a, b, n=40):
    """Nodes and weights of Gauss's rule on [a, b]: exact for the polynomials that occur here."""
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (a + b) + 0.5 * (b - a) * x, 0.5 * (b - a) * w


def grid(*axes):
    nodes = np.meshgrid(*(x for x, _ in axes), indexing="ij")
    weights = np.prod(np.meshgrid(*(w for _, w in axes), indexing="ij"), axis=0)
    return [node.ravel() for node in nodes], weights.ravel()


def test_rod():
    x, w = line(-1.5, 1.5)
    points = np.column_stack([0 * x, x, 0 * x])
    np.testing.assert_allclose(rod(2, 3, "y"), moments(points, w, 2), rtol=1e-14, atol=1e-15)


def test_box():
    (x, y, z), w = grid(line(-0.5, 0.5, 5), line(-1, 1, 5), line(-1.5, 1.5, 5))
    np.testing.assert_allclose(box(4, (1, 2, 3)), moments(np.column_stack([x, y, z]), w, 4), rtol=1e-14)


@pytest.mark.parametrize("inner", [0.0, 0.4])
def test_cylinder(inner):
    angles = 2 * np.pi * np.arange(8) / 8, np.full(8, 1.0)
    (r, phi, z), w = grid(line(inner, 0.7, 8), angles, line(-1, 1, 5))
    points = np.column_stack([z, r * np.cos(phi), r * np.sin(phi)])
    np.testing.assert_allclose(cylinder(3, 0.7, 2, "x", inner), moments(points, w * r, 3), rtol=1e-13)


@pytest.mark.parametrize("inner", [0.0, 0.4])
def test_sphere(inner):
    angles = 2 * np.pi * np.arange(8) / 8, np.full(8, 1.0)
    (r, phi, c), w = grid(line(inner, 0.7, 8), angles, line(-1, 1, 8))
    s = np.sqrt(1 - c**2)
    points = np.column_stack([r * s * np.cos(phi), r * s * np.sin(phi), r * c])
    np.testing.assert_allclose(sphere(3, 0.7, inner), moments(points, w * r**2, 3), rtol=1e-13)


def test_thin_shell():
    np.testing.assert_allclose(sphere(3, 0.7, 0.7), 2 / 3 * 3 * 0.49, rtol=1e-15)


@pytest.mark.parametrize(
    ("shape", "symbolic", "plain"),
    [
        (rod, ("m", "L"), (2, 3)),
        (box, ("m", ("a", "L", "a + 1")), (2, (0.5, 3, 1.5))),
        (cylinder, ("m", "a", "L"), (2, 0.5, 3)),
        (cylinder, ("m", "a", "L", "z", "a/2"), (2, 0.5, 3, "z", 0.25)),
        (sphere, ("m", "a", "a - 0.1"), (2, 0.5, 0.4)),
    ],
)
def test_expressions_follow_their_parameters(shape, symbolic, plain):
    parameters = Parameters({"m": 2.0, "L": 3.0, "a": 0.5})
    inertia = Body(mass="m", inertia=shape(*symbolic)).inertia
    np.testing.assert_allclose([parameters.evaluate(number) for number in inertia], shape(*plain), rtol=1e-15)


def test_text_of_an_expression():
    assert rod("m", "L") == (0.0, Expression.parse("m*L**2/12"), Expression.parse("m*L**2/12"))


@pytest.mark.parametrize(
    "call", [lambda: rod(1, 1, "w"), lambda: box(1, (1, 2)), lambda: sphere("m +", 1), lambda: rod(None, 1)]
)
def test_wrong_arguments(call):
    with pytest.raises(ModelError):
        call()
