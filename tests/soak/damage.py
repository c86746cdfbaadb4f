"""Damaged logs, tables of numbers, studies and models: a sentence, or what the undamaged files give.

From the folder `tests`:

    python -m soak.damage --trials 5000               # of each four: a log, a table, a study, a model
    python -m soak.damage --trials 1 --first 1234     # one of them again

A log is damaged and its study asked again: the optimum is the true one, whatever the log says. What is accepted of a table of
numbers is read a second time, by a reader of a few lines. Of models and studies only errors of kinegrad may come.
"""

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import kinegrad as kg
from kinegrad.model.tables import beside, read_columns
from soak.findings import Finding, compared, guarded
from soak.mutations import damaged, exercise, pick

MODEL = """\
kinegrad: 1
parameters: {u: 1.0, c: 0.1}
tables: {road: {x: [0, 0.5, 1], y: [0, 1, 0.5], outside: hold}}
ground: {markers: {O: [0, 0, 0]}}
bodies: {b: {mass: 2, inertia: [1, 1, 1], markers: {O: [0, 0, 0], P: [0.3, 0, 0]}}}
joints: {s: {type: prismatic, between: [ground.O, b.O], axis: [1, 0, 0]}}
forces:
  push: {type: force, acts_on: s.distance, value: "u*(1 + table(t, road)) - c*s.distance.velocity"}
  spring: {type: spring, acts_on: s.distance, stiffness: 3}
degrees_of_freedom: {s.distance: {position: 0}}
objectives: {x: {final: b.P.x}, work: {integral: push.force**2}}
simulation: {t_end: 0.4, step: 0.02}
"""
STUDY = """\
kinegrad_study: 1
title: Push
model:
{model}
variables: {{u: {{bounds: [-5, 5], scale: 1}}, c: {{bounds: [0.05, 2]}}}}
minimise: (x - 0.4)**2 + 0.001*work + (c - 0.3)**2
constraints: {{near: {{value: x, at_least: 0.31}}}}
solver: {{type: slsqp}}
"""
TABLE = "# measured\nt,x,y [m]\n" + "".join(f"{0.1 * k:.2f},{np.sin(k):.6f},{10.0**-k:.3e}\n" for k in range(12))
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
SAME = 1e-4  # of the scale of a variable: optima that are one; a search that goes on comes from elsewhere


def in_bytes(data, rng):
    """Bytes with one to three of them, of their bits or of their lines changed, or with what no parser likes put in."""
    for _ in range(max(1, rng.integers(-2, 4))):
        k, action = int(rng.integers(max(len(data), 1))), rng.integers(6)
        if action == 0:
            data = data[:k] + bytes([int(rng.integers(256))]) + data[k + 1 :]
        elif action == 1 and data:
            data = data[:k] + bytes([data[k] ^ (1 << int(rng.integers(8)))]) + data[k + 1 :]
        elif action == 2:
            data = data[:k]
        elif action == 3:
            digits = [m.start() for m in re.finditer(rb"[0-9]", data)]
            if digits:
                k = pick(rng, digits)
                data = data[:k] + b"%d" % rng.integers(10) + data[k + 1 :]
        elif action == 4:
            lines = data.split(b"\n")
            i, j = rng.integers(len(lines), size=2)
            lines[i] = lines[j]
            data = b"\n".join(lines)
        else:
            deep = (
                b"[" * 100_000,
                b'{"a":' * 5000,
                b"\r",
                b"\0",
                b"1e999",
                b"NaN",
                b"_",
                b"0x1",
                b"\xff\xfe",
                b"(" * 5000,
            )
            data = data[:k] + pick(rng, deep) + data[k:]
    return data


class Trials:
    """Files in a folder, and what they give undamaged."""

    def __init__(self, folder):
        self.folder, self.path = Path(folder), Path(folder) / "log.jsonl"
        self.text = STUDY.format(model="".join(f"  {line}\n" for line in MODEL.splitlines()))
        self.study = kg.Study.from_yaml_text(self.text)
        self.truth = self.study.optimize(log=self.path)
        self.whole = self.path.read_bytes()
        self.outcomes = Counter()

    def trial(self, number):
        """The findings of one trial."""
        rng = np.random.default_rng([number, 27])
        kind = ("log", "table", "study", "model")[number % 4]
        found = guarded(kind, str(number), getattr(self, f"of_{kind}"), rng)
        told = [one for one in found if one.kind == "refused"]
        self.outcomes[kind, "refused" if told else "other" if found else "accepted"] += 1
        return [one for one in found if one.kind != "refused"]

    def of_log(self, rng):
        """A study asked again with a damaged log tells its optimum, or refuses a line."""
        self.path.write_bytes(in_bytes(self.whole, rng))
        found = self.study.optimize(log=self.path)
        scales = self.study.plan.variables.scale
        away = np.abs(np.array(found.outcome.values) - self.truth.outcome.values) / scales
        value = abs(found.values["minimise"] - self.truth.values["minimise"])
        return [
            *compared("log", "", f"{found.status}, variables", float(away.max()), SAME),
            *compared("log", "", f"{found.status}, minimise", value, SAME * abs(self.truth.values["minimise"])),
        ]

    def of_table(self, rng):
        """What is accepted of a table is what a second reader finds there."""
        text = damaged(TABLE, rng).encode() if rng.random() < 0.5 else in_bytes(TABLE.encode(), rng)
        (self.folder / "data.csv").write_bytes(text)
        with beside(self.folder / "study"):
            try:
                found = read_columns("data.csv", ["t", "x"], "study")
            except ValueError as error:
                raise kg.KinegradError(str(error)) from None
        if b'"' in text:
            return []
        lines = [line for line in re.split("\r\n|\r|\n", text.decode("utf-8-sig")) if line and not line.startswith("#")]
        separator = max(",;\t", key=lines[0].count)
        rows = [line.split(separator) for line in lines if any(entry.strip() for entry in line.split(separator))]
        head = [entry.strip() for entry in rows[0]]
        expected = []
        for name in ("t", "x"):
            entries = [row[head.index(name)] for row in rows[1:]]
            if not all(NUMBER.fullmatch(entry) for entry in entries):
                return [Finding("table", "", "difference", f"accepted {entries}")]
            expected.append([float(entry) for entry in entries])
        return [] if found == expected else [Finding("table", "", "difference", f"{found} for {expected}")]

    def of_study(self, rng):
        """A study is read, and some designs of it are tried."""
        text = some_damage(self.text, rng)
        study = kg.Study.from_yaml_text(text)
        if study.description.minimise is not None and len(study.plan.variables) < 5:
            study.optimize(max_evaluations=4)
        return []

    def of_model(self, rng):
        """A model is read, run and differentiated."""
        text = some_damage(MODEL, rng)
        return exercise(text, ("index1", "rk4"), 0.02)


def some_damage(text, rng):
    """A text with a digit changed, or worse."""
    if rng.random() < 0.4:
        k = pick(rng, [m.start() for m in re.finditer("[0-9]", text)])
        return text[:k] + str(rng.integers(10)) + text[k + 1 :]
    return damaged(text, rng) if rng.random() < 0.8 else text_of(in_bytes(text.encode(), rng))


def text_of(data):
    """A text as a file of these bytes has it, or an error as for such a file."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise kg.KinegradError("no text in UTF-8") from None


def main(argv=None):
    """Does trials, prints what was found and the counts; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m soak.damage", description=__doc__)
    parser.add_argument("--trials", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(argv)
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(folder)
        for number in range(options.first, options.first + options.trials):
            for one in trials.trial(number):
                findings.append(one)
                print(f"{one.check} {one.case} {one.kind}: {one.text}", flush=True)
    for (kind, outcome), count in sorted(trials.outcomes.items()):
        print(f"{kind}: {count} {outcome}")
    print(f"{options.trials} trials, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
