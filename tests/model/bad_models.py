"""A small sound model, and texts made from it that are wrong in one place, which is marked by ``#!``."""

from kinegrad.errors import ModelError
from kinegrad.model.model import Model

SOUND = """\
kinegrad: 1
title: Test bench
parameters:
  m: 2.0
  L: 0.5
  J: m*L**2/12
  u: [0, 1, 2, 3]
design: [m, L]
variants:
  heavy: {m: 20}
ground:
  markers:
    O: [0, 0, 0]
    up: {vector: [0, 0, 1]}
bodies:
  arm:
    mass: m
    com: [L/2, 0, 0]
    inertia: [0, J, J]
    markers:
      A: [0, 0, 0]
      B: [L, 0, 0]
      side: {vector: [0, 1, 0]}
      tool: {origin: [L, 0, 0], x_axis: [1, 0, 0], z_axis: [0, 0, 1]}
    pose: {origin: [0, 0, 0], x_axis: [1, 0, 0]}
  ball:
    mass: 1
    inertia: [0.1, 0.1, 0.1]
    markers: {C: [0, 0, 0]}
    point_masses:
      tip: {mass: 0.1, at: [0, 0, 1]}
joints:
  hinge: {type: revolute, between: [ground.O, arm.A], axis: [0, 0, 1]}
  cup: {type: spherical, between: [arm.B, ball.C]}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  brake: {type: torque, acts_on: hinge.angle, value: -0.1*hinge.angle.velocity}
  spring: {type: spring, between: [ground.O, ball.C], stiffness: 10, natural_length: 1}
  motor: {type: spline, acts_on: hinge.angle, times: [0, 1, 2, 3], values: u}
constraints:
  square: {type: dot, between: [ground.up, arm.side]}
measures:
  reach: norm(arm.B.position)
degrees_of_freedom:
  hinge.angle: {position: 0.1}
  cup: {rotation: [0, 0, 0.1]}
objectives:
  effort: {integral: reach**2}
simulation:
  t_end: 1
  step: 1.0e-3
"""


def problems_of(text: str) -> tuple:
    """The problems of a model file; none when it can be read."""
    try:
        Model.from_yaml_text(text)
    except ModelError as error:
        return error.problems
    return ()


def spoil(*changes: tuple[str, str]) -> str:
    """SOUND with some places replaced."""
    text = SOUND
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        text = text.replace(old, new)
    return text


def marked_line(text: str) -> int:
    """Number of the line that holds ``#!``."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if "#!" in line)


def assert_one_problem(text: str, *words: str) -> None:
    """Assert that the text has one problem, in the marked line, whose sentence has all the words."""
    problems = problems_of(text)
    assert len(problems) == 1, [str(problem) for problem in problems]
    (problem,) = problems
    for word in words:
        assert word in problem.sentence, f"{word!r} is not in {problem.sentence!r}"
    assert problem.line == marked_line(text), f"line {problem.line} instead of {marked_line(text)}"
    assert problem.sentence.endswith((".", "?"))
