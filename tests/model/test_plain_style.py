"""Documents in plain style: the same values, of the same types, as the parser gives, or left to the parser."""

import random
from pathlib import Path

import pytest

from kinegrad.bench.large_models import FAMILIES
from kinegrad.model import parsed
from kinegrad.model.documents import load
from kinegrad.model.plain_style import MAX_DEPTH, MAX_VALUES, Other, read

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("kinegrad/data/*.yaml")])
SCALARS = (
    *(
        "1",
        "-2",
        "+3",
        "1.5",
        "1e5",
        "1e-3",
        "1.e3",
        ".5",
        "-.5",
        "1_000",
        "0o17",
        "017",
        "0x1F",
        "08",
        "12:30",
        "2001-01-01",
    ),
    *(
        "on",
        "off",
        "yes",
        "no",
        "y",
        "n",
        "true",
        "False",
        "TRUE",
        "null",
        "Null",
        "~",
        "",
        ".inf",
        "-.inf",
        ".nan",
        "٣",
        "²",
    ),
    *(
        "a",
        "a b",
        "it's",
        "é",
        "x°",
        "\u3000",
        "a*b + c",
        "-x",
        "--x",
        "(a)",
        "f(a)",
        "f(a, b)",
        "f(a",
        "a [b]",
        "a, b",
        "../a",
    ),
    *(
        "'x'",
        '"y z"',
        "'it''s'",
        r'"\n"',
        '"a"b',
        "'",
        'a"b',
        "=",
        "+",
        "-",
        ".",
        "..",
        "...",
        "x#y",
        "a # c",
        "#",
        "a:b",
        "a: b",
    ),
    *("*x", "&x y", "!t z", "|", ">", "%", "@", "`", "?", "? a", "a?", "<<", "- a", "- - 1", "\ta", "a\t", "a\t# c"),
)
KEYS = ("a", "b", "c1", "d.e", "f-g", "'q'", '"q r"', "yes", "null", "1", "x y", "é", "a:b", "<<", "", "?", "-", "*x")
ODD = (
    *"\t:#-?,[]{}\"'|>&*!%@`~.()+=<^ \\/\r\n",
    *(
        "\r\n",
        " # c",
        "# c",
        ": ",
        "- ",
        "---\n",
        "...\n",
        "<<: ",
        "*a",
        "&a ",
        "!!str ",
        "%YAML 1.1\n",
        "|\n",
        ">-\n",
        "  ",
    ),
    *(
        "\xa0",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\x00",
        "\x07",
        "😀",
        "? a\n",
        "\n  c: 2",
        "\n\n",
        "- - 1",
        "-\n",
        "[1, 2,]",
    ),
    *("{a}", "[a: b]", "{a:1}", '{"a":1}', "{", "]", "[]", "{}", "''", '""', "\\n"),
)


class Writer:
    """Writes odd documents."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.choice = self.random.choice

    def rarely(self, usual: str, *others: str) -> str:
        return self.choice(others) if self.random.random() < 0.2 else usual

    def document(self) -> str:
        text = self.block(self.choice((0, 0, 0, 2)), 0) + self.rarely("\n", "", "\n\n", "\n# c", "\n...", "\r\n")
        return self.damaged(text) if self.random.random() < 0.4 else text

    def block(self, indent: int, depth: int) -> str:
        lines = []
        listed = self.random.random() < 0.35
        for _ in range(self.random.randrange(1, 4)):
            here = " " * (indent + self.choice((0,) * 30 + (1, 2)))
            head = f"{here}- " if listed else f"{here}{self.choice(KEYS if self.random.random() < 0.3 else 'abcdef')}:"
            if self.random.random() < 0.35 and depth < 3:
                below = self.block(indent + self.choice((2, 2, 2, 1, 4, 0)), depth + 1)
                lines.append(
                    head + below.lstrip(" ") if listed else f"{head}{self.rarely('', ' ', ' # c', '#c')}\n{below}"
                )
            else:
                between = "" if listed else self.rarely(" ", "  ", "", f"\n{here}  ", f"\n{here}")
                lines.append(head + between + self.flow(0) + self.rarely("", "  ", " # c", "# c", "\n# c", "\n"))
        return "\n".join(lines)

    def flow(self, depth: int) -> str:
        kind = self.random.random()
        if depth > 3 or kind < 0.5:
            return self.choice(SCALARS if self.random.random() < 0.5 else SCALARS[:8] + SCALARS[28:36])
        comma = "," + self.rarely(" ", "", "  ", "\n   ", "\n", " # c\n    ", "# c\n")
        count = self.random.randrange(4)
        if kind < 0.75:
            return f"[{comma.join(self.flow(depth + 1) for _ in range(count))}{self.rarely('', ' ', ',')}]"
        entries = [
            self.choice("abcdef") + self.rarely(": ", ":", " : ", "") + self.flow(depth + 1) for _ in range(count)
        ]
        return f"{{{comma.join(entries)}}}"

    def damaged(self, text: str) -> str:
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text) + 1)
            lines = text.split("\n")
            text = self.choice(
                (
                    text[:at] + self.choice(ODD) + text[at:],
                    text[:at] + text[at + self.random.randrange(1, 4) :],
                    "\n".join([*lines[:2], self.choice(lines), *lines[2:]]),
                    "\n".join([*lines[:1], *(f" {line}" for line in lines[1:2]), *lines[2:]]),
                )
            )
        return text


def assert_as_parsed(text: str) -> bool:
    """Whether `text` is in plain style; it then has the values that the parser finds."""
    try:
        found = read(text)
    except Other:
        return False
    document, _, problems, split = parsed.parse(text)
    assert problems == [] and split == [], text
    assert repr(found) == repr(document), text  # types, signs of zeros, nan and the order of keys as well
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_are_in_plain_style(path):
    assert assert_as_parsed(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", FAMILIES)
def test_written_models_are_in_plain_style(family):
    assert assert_as_parsed(FAMILIES[family](8).to_yaml())


@pytest.mark.parametrize("text", SCALARS)
def test_scalars(text):
    for frame in (
        "a: {}\n",
        "- {}\n",
        "a: [{}]\n",
        "a: [1, {}, 2]\n",
        "a: {{b: {}}}\n",
        "a:\n  - {} # c\n",
        "{}: 1\n",
        "a: {{{}: 1}}\n",
    ):
        assert_as_parsed(frame.format(text))


@pytest.mark.parametrize("seed", range(4))
def test_odd_and_damaged_documents(seed):
    writer = Writer(seed)
    plain = sum(assert_as_parsed(writer.document()) for _ in range(2000))
    assert plain > 200


@pytest.mark.parametrize("seed", range(2))
def test_damaged_examples(seed):
    writer = Writer(seed)
    lines = [line for path in FILES for line in path.read_text(encoding="utf-8").split("\n")]
    plain = 0
    for _ in range(800):
        at = writer.random.randrange(len(lines))
        some = lines[at : at + writer.random.randrange(1, 8)]
        margin = min(len(line) - len(line.lstrip()) for line in some)
        plain += assert_as_parsed(writer.damaged("\n".join(line[margin:] for line in some)))
    assert plain > 100


def test_limits_are_those_of_the_parser():
    for depth in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1):
        deep = "".join(f"{'  ' * i}a:\n" for i in range(depth)) + "  " * depth
        for text in (
            deep + "a: 1",
            deep + "- 1",
            "[" * depth + "1" + "]" * depth,
            "a: " + "{a: " * depth + "1" + "}" * depth,
        ):
            assert_as_parsed(text)
    with pytest.raises(Other):
        read("a: [" + "1, " * MAX_VALUES + "1]")


def test_keys_that_stand_twice_and_windows_lines():
    for text in ("a: 1\na: 2", "a: {b: 1, b: 2}", 'a: 1\n"a": 2'):
        with pytest.raises(Other):
            read(text)
    assert read("a: 1\r\nb:\r\n  - c\r\n") == {"a": 1, "b": ["c"]}


def test_lines_are_found_when_they_are_asked_for():
    document, lines, problems, _ = load("a: 1\n\nb:\n  - c\n  - {d: 2,\n     e: 3}\n")
    assert document == {"a": 1, "b": ["c", {"d": 2, "e": 3}]} and problems == []
    assert [lines.line_of(path) for path in ((), ("a",), ("b",), ("b", 1), ("b", 1, "e"))] == [1, 1, 3, 5, 6]
