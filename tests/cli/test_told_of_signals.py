"""Names and widths that cannot be: one sentence with the line, exit code 2."""

import pytest

MODEL = """\
kinegrad: 1
parameters: {k: 200}
ground: {markers: {O: [0, 0, 0], Q: [0.4, -0.3, 0]}}
bodies:
  arm: {mass: 2, com: [0.3, 0, 0], inertia: [0, 0.06, 0.06], markers: {O: [0, 0, 0], B: [0.6, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces:
  strut: {type: spring, between: [ground.Q, arm.B], stiffness: k, natural_length: 0.5}
  stop: {type: torque, acts_on: hinge.angle, value: "-5*smooth_max(hinge.angle - 1, 0, 0.01)"}
degrees_of_freedom: {hinge.angle: {position: 0.3}}
objectives: {load: {integral: strut.force**2}}
simulation: {t_end: 0.01}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ("strut.force**2", "strut.forc**2", 11, "did you mean 'force'?); it has .force, .length, .rate, .power."),
        ("strut.force**2", "stop.rate", 11, "names 'stop.rate', which 'stop' does not have; it has .force, .power."),
        ("0, 0.01)", "0, 0)", 9, "'smooth_max' ends with a width, which has to be larger than zero"),
    ],
)
def test_one_sentence_with_the_line(right, wrong, line, words, command, tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(MODEL.replace(right, wrong))
    code, out, err = command("signals", file)
    assert (code, out) == (2, "") and err.startswith(f"line {line}: ") and words in err and err.count("\n") == 1
