"""The expression language: text to syntax tree and back, with nothing ever executed.

A sum and a product are flat (`a - b + c` is one node of three terms), so that only parentheses, calls, signs and
exponents nest, and the limit on these bounds every recursion over a tree.
"""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from kinegrad.errors import ExpressionError

MAX_LENGTH = 10_000
MAX_DEPTH = 100

FUNCTIONS = {
    **dict.fromkeys(("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh"), 1),
    "atan2": 2,
    "vec": 3,
    "dot": 2,
    "norm": 1,
    "norm2": 1,
    "cross": 2,
    "deg": 1,
    "smooth_abs": 2,
    "smooth_max": 3,
    "smooth_min": 3,
    "smooth_step": 2,
    "abs": 1,
    "min": 2,
    "max": 2,
    "sign": 1,
    "step": 1,
    "table": 2,
}
"""The number of arguments of each function."""

OR_MORE = frozenset({"min", "max"})
"""Functions that take more arguments than that too."""

OF_TIME = frozenset({"sign", "step"})
"""Functions that jump, whose argument is therefore an expression in the time t."""

KINKED = frozenset({"abs", "min", "max"})
"""Functions with a kink: continuous, with a slope that jumps."""

RESERVED = frozenset({"ground", "t", "pi", *keyword.kwlist})
"""The names a user may not give to anything: they mean something already, or are words of Python.

A function is known by its parenthesis, so its name is free.
"""


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Pi:
    pass


@dataclass(frozen=True)
class Name:
    """A dotted name such as `bar.P2.position`, or `u[3]` with its index."""

    dotted: str
    index: int | None = None


@dataclass(frozen=True)
class TableName:
    """The name of a table, as the second argument of `table`."""

    name: str


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Negative:
    operand: Node


@dataclass(frozen=True)
class Power:
    base: Node
    exponent: Node


@dataclass(frozen=True)
class Sum:
    """Terms with "+" or "-", from left to right; the first has "+"."""

    terms: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Product:
    """Factors with "*" or "/", from left to right; the first has "*"."""

    factors: tuple[tuple[str, Node], ...]


Node = Number | Pi | Name | TableName | Call | Negative | Power | Sum | Product

SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)
LEVEL = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "**": POWER}


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """A formula as the user wrote it: immutable, printable, equal to another of the same structure.

    Attributes
    ----------
    tree : Node
        The syntax tree.
    """

    tree: Node

    @classmethod
    def parse(cls, text: str) -> Expression:
        """The expression that `text` spells; an ExpressionError when it spells none."""
        expression = cls(Parser(text).parse())
        check_length(str(expression))  # may be longer than `text`, and can be parsed again all the same
        return expression

    @cached_property
    def _text(self) -> str:
        return to_text(self.tree)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Expression.parse({self._text!r})"

    # `parse` undoes `to_text`, so equal canonical texts are equal trees.
    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    @cached_property
    def references(self) -> tuple[tuple[str, int | None], ...]:
        """Each name used, with its index or None, once and in order of appearance."""
        return tuple(dict.fromkeys((n.dotted, n.index) for n in walk(self.tree) if isinstance(n, Name)))

    @cached_property
    def names(self) -> frozenset[str]:
        """The dotted names used: `u` for `u[0]`, and `t`, but neither `pi` nor functions."""
        return frozenset(dotted for dotted, _ in self.references)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables used."""
        return frozenset(n.name for n in walk(self.tree) if isinstance(n, TableName))

    def calls(self, functions: Collection[str]) -> tuple[Call, ...]:
        """The calls of these functions, in order of appearance."""
        return tuple(n for n in walk(self.tree) if isinstance(n, Call) and n.function in functions)


def parse(text: str) -> Expression:
    """The expression that `text` spells; an ExpressionError when it spells none."""
    return Expression.parse(text)


# --- trees ------------------------------------------------------------------------------------------------------------


def children(node: Node) -> tuple[Node, ...]:
    """The nodes just below `node`, from left to right."""
    match node:
        case Call(_, arguments):
            return arguments
        case Negative(operand):
            return (operand,)
        case Power(base, exponent):
            return (base, exponent)
        case Sum(parts) | Product(parts):
            return tuple(part for _, part in parts)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """All nodes of the tree in the order of the text."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def to_text(node: Node, at_least: int = SUM) -> str:
    """The text of a tree with no more parentheses than needed where a node of level `at_least` may stand."""
    match node:
        case Number(value):
            return number_text(value)
        case Pi():
            return "pi"
        case Name(dotted, index):
            return dotted if index is None else f"{dotted}[{index}]"
        case TableName(name):
            return name
        case Call(function, arguments):
            texts = []
            for argument in arguments:
                texts.append(to_text(argument))  # a comprehension would be one more frame per level
            return f"{function}({', '.join(texts)})"
        case Negative(operand):
            level, text = SIGN, "-" + to_text(operand, SIGN)
        case Power(base, exponent):
            level, text = POWER, f"{to_text(base, ATOM)}**{to_text(exponent, SIGN)}"
        case Sum(terms):
            level, text = SUM, to_text(terms[0][1], PRODUCT)
            for sign, term in terms[1:]:
                text += f" {sign} {to_text(term, PRODUCT)}"
        case Product(factors):
            level, text = PRODUCT, to_text(factors[0][1], SIGN)
            for sign, factor in factors[1:]:
                text += f"{sign}{to_text(factor, SIGN)}"
    return text if level >= at_least else f"({text})"


def number_text(value: float) -> str:
    """The shortest text that reads back as `value`, without `.0` on whole numbers."""
    return str(int(value)) if value < 1e16 and value == int(value) else repr(value)


def join(operator: str, left: Node, right: Node) -> Node:
    """`left operator right`; a sum or product on the left is continued, as `(a + b) + c` is `a + b + c`."""
    if operator == "**":
        return Power(left, right)
    if LEVEL[operator] == SUM:
        return Sum((*(left.terms if isinstance(left, Sum) else (("+", left),)), (operator, right)))
    return Product((*(left.factors if isinstance(left, Product) else (("*", left),)), (operator, right)))


# --- text -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<sign>\*\*|[-+*/(),\[\]])""",
    re.VERBOSE,
)
ALLOWED = "numbers, names, + - * / **, parentheses and the functions " + " ".join(FUNCTIONS)
HINTS = {
    "^": "a power is written **",
    **dict.fromkeys("<>=!", "there are no comparisons and no assignments"),
    **dict.fromkeys("'\"`", "there are no strings"),
    **dict.fromkeys("&|~", "there are no logical operators"),
    **dict.fromkeys("%@", "the operators are + - * / **"),
    **dict.fromkeys("−–—", "the minus sign is -"),
    **dict.fromkeys("×·⋅", "a product is written *"),
    ".": "a component is written behind a name only, such as bar.P.position.x",
}


def check_length(text: str) -> None:
    """Raise when `text` has more characters than an expression may have."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The expression {text[:30]!r}... has {len(text)} characters and may have {MAX_LENGTH}; "
            "name its parts as parameters.",
            MAX_LENGTH + 1,
        )


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    position: int


class Parser:
    """One pass over one text, by precedence climbing."""

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise TypeError(f"an expression is parsed from text, found {type(text).__name__}")
        self.text = text
        check_length(text)
        self.tokens = list(self.tokenise())
        self.next = 0
        self.depth = 0

    def parse(self) -> Node:
        if len(self.tokens) == 1:
            raise ExpressionError("The expression is empty; write a number, a name or a formula.", 1)
        node = self.expression(SUM)
        token = self.tokens[self.next]
        if token.kind != "end":
            self.fail_after(token)
        return node

    def fail(self, what: str, position: int):
        """Raise `what`, with the place in the text."""
        around = self.text[max(0, position - 30) : position + 30]
        raise ExpressionError(f"{what} (column {position + 1}, at {around!r}).", position + 1)

    def tokenise(self) -> Iterator[Token]:
        position = 0
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                found = self.text[position]
                hint = HINTS.get(found, f"allowed are {ALLOWED}")
                self.fail(f"The character {found!r} is not part of an expression: {hint}", position)
            if match.lastgroup != "space":
                yield Token(match.lastgroup, match.group(), position)
            position = match.end()
        yield Token("end", "", position)

    def take(self) -> Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def peek(self) -> str:
        """The next sign; empty when the next token is something else."""
        token = self.tokens[self.next]
        return token.text if token.kind == "sign" else ""

    def enter(self, position: int) -> None:
        """Count one more level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"The expression nests deeper than {MAX_DEPTH} levels; name its parts as parameters", position)

    def expression(self, at_least: int) -> Node:
        """The longest expression from here whose operators bind at level `at_least` or tighter."""
        left = self.signed() if self.peek() in ("+", "-") else self.atom()
        while LEVEL.get(self.peek(), 0) >= at_least:
            operator = self.take()
            level = LEVEL[operator.text]
            if level < POWER:
                right = self.expression(level + 1)
            else:  # to the right of ** a sign may stand, and another ** goes first
                self.enter(operator.position)
                right = self.expression(SIGN)
                self.depth -= 1
            left = join(operator.text, left, right)
        return left

    def signed(self) -> Node:
        sign = self.take()
        self.enter(sign.position)
        operand = self.expression(SIGN)
        self.depth -= 1
        return Negative(operand) if sign.text == "-" else operand

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            value = float(token.text)
            if value == float("inf"):
                self.fail(f"The number {token.text[:40]} is too large; the largest is 1.8e308", token.position)
            return Number(value)
        if token.kind == "name":
            return self.call(token) if self.peek() == "(" else self.name(token)
        if token.text == "(":
            self.enter(token.position)
            node = self.expression(SUM)
            self.close(token)
            return node
        found = f"{token.text!r} stands" if token.text else "the text ends"
        self.fail(f"Here {found} where a number, a name, a function or '(' is expected", token.position)

    def close(self, opening: Token) -> None:
        """Take the `)` that belongs to `opening`."""
        token = self.tokens[self.next]
        if token.text != ")":
            if token.kind == "end":
                self.fail(f"The '(' of column {opening.position + 1} is not closed; add ')'", token.position)
            self.fail_after(token)
        self.next += 1
        self.depth -= 1

    def fail_after(self, token: Token):
        """Raise for a token that cannot follow a complete operand."""
        if token.text in keyword.kwlist:
            self.fail(f"The word {token.text!r} is not part of the language; allowed are {ALLOWED}", token.position)
        before = self.tokens[self.next - 1].text
        remedy = {")": "remove it", "]": "remove it", ",": "only arguments of functions are separated by commas"}
        self.fail(
            f"{token.text!r} cannot follow {before!r}: {remedy.get(token.text, 'write an operator between them')}",
            token.position,
        )

    def name(self, token: Token) -> Node:
        first, *rest = token.text.split(".")
        for word in (first, *rest):
            if keyword.iskeyword(word):
                self.fail(f"The word {word!r} is not a name, it is reserved; choose another", token.position)
        index = self.index() if self.peek() == "[" else None
        if first in ("t", "pi") and (rest or index is not None):
            self.fail(f"{first!r} is a number and has no parts", token.position)
        return Pi() if first == "pi" else Name(token.text, index)

    def index(self) -> int:
        self.take()
        token = self.take()
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 9:
            self.fail("An index is a whole number from 0, as in u[3]", token.position)
        closing = self.tokens[self.next]
        if closing.text != "]":
            self.fail("The index is not closed; write it as in u[3]", closing.position)
        self.next += 1
        return int(token.text)

    def call(self, name: Token) -> Node:
        if name.text not in FUNCTIONS:
            near = difflib.get_close_matches(name.text, FUNCTIONS, 1)
            hint = f"did you mean {near[0]!r}?" if near else "the functions are " + " ".join(FUNCTIONS)
            self.fail(f"There is no function {name.text[:40]!r}; {hint}", name.position)
        opening = self.take()
        self.enter(opening.position)
        arguments = [] if self.peek() == ")" else [self.expression(SUM)]
        while self.peek() == ",":
            self.take()
            arguments.append(self.expression(SUM))
        self.close(opening)
        expected, more = FUNCTIONS[name.text], name.text in OR_MORE
        if len(arguments) < expected or (len(arguments) > expected and not more):
            plural = "or more arguments" if more else "argument" if expected == 1 else "arguments"
            self.fail(f"{name.text!r} takes {expected} {plural}, found {len(arguments)}", name.position)
        if name.text in OF_TIME and not any(n == Name("t") for n in walk(arguments[0])):
            smooth = f"smooth_step(x, w){' and smooth_abs(x, w)' if name.text == 'sign' else ''}"
            self.fail(f"{name.text!r} takes an expression in the time t; of anything else use {smooth}", name.position)
        if name.text.startswith("smooth_") and arguments[-1] == Number(0.0):
            self.fail(f"{name.text!r} ends with a width, which has to be larger than zero", name.position)
        if name.text == "table":
            arguments[1] = self.table(arguments[1], name)
        return Call(name.text, tuple(arguments))

    def table(self, node: Node, call: Token) -> TableName:
        """The name of a table, which was read as the name of a number."""
        if not isinstance(node, Name) or node.index is not None or "." in node.dotted:
            self.fail("'table' takes an expression and the name of a table, as in table(t, bump)", call.position)
        return TableName(node.dotted)
