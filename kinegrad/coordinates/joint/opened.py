"""The systems beside a system in which joints of its tree are opened, for objectives with their forces (OBJ-6, OBJ-7)."""

from __future__ import annotations

from dataclasses import replace

from kinegrad.coordinates.joint.lowering import Lowering
from kinegrad.coordinates.lowered import refuse_idle
from kinegrad.coordinates.system import System

MOST_OPENED = 16  # joints in loops that are opened together


def with_opened(system: System, lowering: Lowering) -> System:
    """`system` with those beside it: one with the joints opened whose reactions objectives use, and, where rows are redundant,
    one with all joints in loops opened, which tells what they share."""
    to_open, idle = lowering.elements.to_open, bool(system.tables["idle"])
    in_loops = dict.fromkeys(lowering.joints_in_loops() if lowering.elements.asks_reactions else ())
    redundant = system.tables["written"] + len(system.freedoms) > system.n
    all_too = redundant and not in_loops.keys() <= to_open.keys() and len(in_loops) <= MOST_OPENED
    made = {}
    if to_open and not (idle and all_too):
        made["opened"] = lowering.opened().system()
    if all_too:
        to_open |= in_loops
        made["all_opened"] = lowering.opened().system()
    if idle and not made:
        refuse_idle(system)
    complete = in_loops.keys() <= to_open.keys()
    system.tables["complete"] = complete and not made
    if not made:
        return system
    slots = list(made.values())[-1].slots  # of all of them: one continues where the other ended
    for name, one in made.items():
        one.tables.update(again=system.tables["again"], complete=complete and (name == "all_opened" or not all_too))
    made = {name: replace(one, slots=slots) for name, one in made.items()}
    if idle and all_too:
        made["opened"] = made["all_opened"]
    return replace(system, slots=slots, tables=system.tables | made | {"known": {}})
