"""Units: products of powers of kg, m, s and rad; and the unit that an expression has, as far as its names tell.

Parameters have no units, so what is made of them may have none that is known (None). A plain number in a sum has the unit of
the other terms; in a product it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from kinegrad.expressions import syntax

ANGLES = ("asin", "acos", "atan", "atan2", "deg")
NUMBERS = ("sin", "cos", "tan", "exp", "log", "tanh", "smooth_step", "sign", "step")
AS_ARGUMENT = ("norm", "vec", "smooth_abs", "smooth_max", "smooth_min", "abs", "min", "max")


@dataclass(frozen=True)
class Unit:
    """kg^a m^b s^c rad^d."""

    kg: Fraction = Fraction(0)
    m: Fraction = Fraction(0)
    s: Fraction = Fraction(0)
    rad: Fraction = Fraction(0)

    @classmethod
    def of(cls, **powers: int) -> Unit:
        """The unit with these powers."""
        return cls(**{name: Fraction(power) for name, power in powers.items()})

    @property
    def powers(self) -> tuple[Fraction, ...]:
        return self.kg, self.m, self.s, self.rad

    def __mul__(self, other: Unit) -> Unit:
        return Unit(*(a + b for a, b in zip(self.powers, other.powers, strict=True)))

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, power) -> Unit:
        return Unit(*(a * Fraction(power) for a in self.powers))

    @property
    def plain(self) -> Unit:
        """The same without radians where other units stand beside them: the arc r φ is a length."""
        return Unit(self.kg, self.m, self.s) if self.kg or self.m else self

    def __str__(self) -> str:
        unit = self.plain
        if unit in NAMES:
            return NAMES[unit][0]
        powers = dict(zip(("kg", "m", "s", "rad"), unit.powers, strict=True))
        above = [_power(name, power) for name, power in powers.items() if power > 0]
        below = [_power(name, -power) for name, power in powers.items() if power < 0]
        return " ".join(above or ["1"]) + "".join(f"/{text}" for text in below)

    @property
    def dimension(self) -> str:
        """What is measured in it, in a word or two; the powers where there is no word."""
        return NAMES[self.plain][1] if self.plain in NAMES else str(self)


def _power(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}{power}" if power.denominator == 1 else f"{name}^({power})"


ONE, METRE, RADIAN, SECOND = Unit.of(), Unit.of(m=1), Unit.of(rad=1), Unit.of(s=1)
JOULE = Unit.of(kg=1, m=2, s=-2)
NEWTON = JOULE / METRE
WATT = JOULE / SECOND

NAMES: dict[Unit, tuple[str, str]] = {
    ONE: ("1", "number"), ONE / SECOND: ("1/s", "rate"), ONE / SECOND**2: ("1/s2", "rate of a rate"),
    METRE: ("m", "length"), METRE / SECOND: ("m/s", "velocity"), METRE / SECOND**2: ("m/s2", "acceleration"),
    RADIAN: ("rad", "angle"), RADIAN / SECOND: ("rad/s", "angular velocity"),
    RADIAN / SECOND**2: ("rad/s2", "angular acceleration"), SECOND: ("s", "time"), NEWTON: ("N", "force"),
    Unit.of(kg=1, m=1, s=-1): ("kg m/s", "momentum"), Unit.of(kg=1, m=2, s=-1): ("kg m2/s", "angular momentum"),
    WATT: ("W", "power"), METRE**2: ("m2", "area"), METRE**3: ("m3", "volume"), Unit.of(kg=1): ("kg", "mass"),
}  # fmt: skip
ENERGY, TORQUE = "J", "N m"  # the same powers: what is meant follows from the element

UnitOf = Callable[[str], Unit | None]


def unit_of(expression: syntax.Expression | float, unit_of_name: UnitOf) -> Unit | None:
    """The unit of an expression; None where it is not known.  ``unit_of_name(name)`` tells those of names."""
    if not isinstance(expression, syntax.Expression):
        return None
    return _unit(expression.tree, unit_of_name)


def _unit(node: syntax.Node, of: UnitOf) -> Unit | None:
    match node:
        case syntax.Number() | syntax.Pi():
            return ONE
        case syntax.Name(dotted, _):
            return of(dotted)
        case syntax.Negative(operand):
            return _unit(operand, of)
        case syntax.Sum(terms):
            return _shared([term for _, term in terms], of)
        case syntax.Product(factors):
            total = ONE
            for sign, factor in factors:
                unit = _unit(factor, of)
                if unit is None:
                    return None
                total = total * unit if sign == "*" else total / unit
            return total
        case syntax.Power(base, syntax.Number(power)):
            unit = _unit(base, of)
            return None if unit is None else unit ** Fraction(power).limit_denominator(12)
        case syntax.Power() | syntax.TableName():
            return None
    return _of_call(node, of)


def _of_call(node: syntax.Call, of: UnitOf) -> Unit | None:
    if node.function in ANGLES:
        return RADIAN
    if node.function in NUMBERS:
        return ONE
    if node.function in AS_ARGUMENT:
        return _shared(node.arguments, of)
    units = [_unit(argument, of) for argument in node.arguments]
    if None in units:
        return None
    if node.function == "sqrt":
        return units[0] ** Fraction(1, 2)
    if node.function in ("dot", "cross", "norm2"):
        return units[0] * units[-1]
    return None


def _shared(nodes, of: UnitOf) -> Unit | None:
    """The unit of what is added: that of the terms that are no plain numbers, if it is one."""
    units = {unit for node in nodes if not _is_number(node) and (unit := _unit(node, of)) is not None}
    if len(units) == 1:
        return units.pop()
    return ONE if all(map(_is_number, nodes)) else None


def _is_number(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Number | syntax.Pi) or (
        isinstance(node, syntax.Negative) and _is_number(node.operand)
    )
