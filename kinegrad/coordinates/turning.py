"""How bodies turn, in formulas: from the rates of their axes (SIG-3)."""

from __future__ import annotations

from kinegrad.coordinates.joints.rows import cross, dot


def angular(elements, formula, body: str, rate: int = 1) -> list:
    """ω (rate 1) or its rate (2) of a body, global, from its axes (SIG-3)."""
    if rate == 1:
        return along(*turning(elements, formula, body))
    total = None
    for marker in elements.axes(body):
        term = cross(elements.components(formula, marker), elements.components(formula, marker, rate))
        total = term if total is None else [a + b for a, b in zip(total, term, strict=True)]
    return [0.5 * x for x in total]


def turning(elements, formula, body: str) -> tuple[list, list]:
    """The axes of a body, and its angular velocity along them: ω_1 = ė_2·e_3 and so on (SIG-3)."""
    markers = elements.axes(body)
    e, ed = ([elements.components(formula, marker, k) for marker in markers] for k in range(2))
    return e, [dot(ed[k - 2], e[k - 1]) for k in range(3)]


def along(axes: list, x: list) -> list:
    """Σ x_k e_k."""
    return [sum((axes[k][c] * x[k] for k in (1, 2)), axes[0][c] * x[0]) for c in range(3)]
