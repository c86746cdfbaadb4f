"""Summaries for notebooks: a motion and a gradient as small pieces of HTML."""

from __future__ import annotations

from html import escape

from kinegrad.markup import frame, grid, table
from kinegrad.sketch import sketch

MOST_ROWS = 20


def motion_html(motion) -> str:
    """How a motion was made, what it gave, and the mechanism at its end with the paths of its markers."""
    system = motion.system
    energies, violation = motion.energies, motion.constraint_violation
    freedoms = sum(freedom.independent for freedom in system.freedoms)
    rows = [
        ("how", ", ".join((f"{system.kind} coordinates", *motion.how))),
        ("size", f"{len(system.model.bodies)} bodies, {freedoms} degrees of freedom, n = {system.n}, m = {system.m}"),
        ("steps", f"{len(motion.hs)} to t = {motion.ts[-1]:g} s, {len(motion.t)} states kept"),
        ("status", "done" if motion.status == 0 else "stopped early"),
        ("energy drift", energies.drift_in_words),
        ("constraint violation", f"{violation[:, 0].max(initial=0.0):.2g}"),
        *((f"objective {name}", f"{value:.8g}") for name, value in list(motion.objectives.items())[:MOST_ROWS]),
    ]
    return frame(system.model.title or "Motion", table(rows), sketch(motion))


def gradient_html(gradient) -> str:
    """Derivatives, a row for each parameter and a column for each objective."""
    head = "".join(f"<th>{escape(name)}</th>" for name in gradient.values)
    value = "".join(f"<td>{x:.8g}</td>" for x in gradient.values.values())
    rows = [f"<tr><td>value</td>{value}</tr>"]
    for label, column in list(zip(gradient.wrt, gradient.matrix.T, strict=True))[:MOST_ROWS]:
        rows.append(f"<tr><td>by {escape(label)}</td>{''.join(f'<td>{x:.8g}</td>' for x in column)}</tr>")
    if len(gradient.wrt) > MOST_ROWS:
        rows.append(f"<tr><td>and {len(gradient.wrt) - MOST_ROWS} more</td></tr>")
    note = f"{gradient.method}, {gradient.cpu_s:.2g} s of processor time"
    body = f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table><div>{escape(note)}</div>"
    if gradient.by_slot is not None:
        body += _ranked_html(gradient)
    if gradient.certificate is not None:
        body += gradient.certificate._repr_html_()
    return frame(gradient.motion.system.model.title or "Gradient", body)


def _ranked_html(gradient) -> str:
    """The most important numbers of the model, by what one per cent of them changes [%]."""
    ranked = gradient.ranked()
    rows = [
        [number.path, f"{number.value:.6g}", *("none" if x != x else f"{x:.4g}" for x in number.relative.values())]
        for number in ranked[:MOST_ROWS]
    ]
    title = f"The most important of {len(ranked)} numbers: change in % when they grow by 1 %"
    return frame(title, grid(["", "value", *gradient.values], rows))
