"""Fully recursive dynamics on trees, constraint rows at acceleration level: with the Newmark family and Runge-Kutta methods.

The accelerations are those of `index1`, computed by sweeps; trajectories and derivatives are its own.
"""

from __future__ import annotations

from kinegrad.dynamics.acceleration_level import AccelerationLevel
from kinegrad.errors import KinegradError
from kinegrad.kernels.status import SINGULAR

MANY = 100  # coordinates of a tree from which on dense equations of motion take most of the time


def advice(system, formulation) -> str:
    """A sentence for those who simulate a long open tree with matrices of its size; empty where there is nothing to say."""
    if formulation.type == "recursive" or system.kind != "joint" or system.n < MANY or system.m > len(system.set.euler):
        return ""
    return (
        f"a step of {formulation.type} factors matrices of {system.n} x {system.n}; nothing closes the loops of this tree, so "
        "the formulation 'recursive' does the same in a time proportional to its length."
    )


class Recursive(AccelerationLevel):
    """index1 by sweeps: derivatives of explicit stages are solved by them too, steps of the Newmark family by substitution."""

    takes_fronts = False
    needs = ()
    only = "joint"
    _tree = None

    def __init__(self, system, options, integrator, given):
        if system.kind != self.only:
            raise KinegradError(
                f"The formulation 'recursive' sweeps over a tree of joints; it needs joint coordinates, not {system.kind}."
            )
        super().__init__(system, options, integrator, given)
        from kinegrad.kernels.formulations import recursive

        self.substitution = recursive

    def begin(self, work):
        tree = self.tree(work)
        if tree.evaluate() == SINGULAR:
            raise KinegradError(
                f"The formulation 'recursive' needs inertia in every motion of the tree before its loops are closed, and "
                f"{tree.idle_coordinate()!r} has none; give its bodies inertia there, or use the formulation 'index1'."
            )
        super().begin(work)
        if not len(tree.arrays["closing"]):  # nothing evaluates the rows that keep Euler parameters normal
            work["Phi"][:], work["J"][:] = 0.0, 0.0

    def tree(self, work):
        """The tree of a workspace, made once for each."""
        from kinegrad.coordinates.joint.recursive import ConstrainedTree

        tree = self._tree
        if tree is None or tree.work is not work:
            self._tree = tree = ConstrainedTree(work, self.opts[1:3])
        return tree

    def solved_by(self, work, fn):
        tree = self.tree(work)
        return tree, tree.functions(fn)

    def steps_by(self):
        return self.kernels.simulate_rk if self.integrator.explicit else self.substitution.simulate_newmark

    def sweep(self, work, fn, segment, variation):
        arguments = super().sweep(work, fn, segment, variation)
        if not self.integrator.explicit:
            return arguments
        tree = self.tree(work)
        return tree.derivative_functions(fn), tree.pointer, *arguments[2:]
