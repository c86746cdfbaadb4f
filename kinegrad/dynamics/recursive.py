"""Fully recursive dynamics on trees, constraint rows at acceleration level: with the Newmark family and Runge-Kutta methods.

The accelerations are those of `index1`, computed by sweeps; trajectories and derivatives are its own.
"""

from __future__ import annotations

from kinegrad.dynamics.acceleration_level import AccelerationLevelNewmark, AccelerationLevelRungeKutta
from kinegrad.dynamics.runge_kutta import RungeKutta4, RungeKutta54
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


class RecursiveScheme:
    """What the integrators share; goes before a scheme at acceleration level."""

    needs = ()
    _tree = None

    def __init__(self, system, options):
        if system.kind != "joint":
            raise KinegradError(
                f"The formulation 'recursive' sweeps over a tree of joints; it needs joint coordinates, not {system.kind}."
            )
        super().__init__(system, options)

    def begin(self, work):
        tree = self.tree(work)
        if tree.evaluate() == SINGULAR:
            raise KinegradError(
                f"The formulation 'recursive' needs inertia in every motion of the tree before its loops are closed, and "
                f"{tree.idle_coordinate()!r} has none; give its bodies inertia there, or use the formulation 'index1'."
            )
        super().begin(work)

    def solved_by(self, work, fn):
        tree = self.tree(work)
        return tree, tree.functions(fn)

    def tree(self, work):
        """The tree of a workspace, made once for each."""
        from kinegrad.coordinates.joint.recursive import ConstrainedTree

        tree = self._tree
        if tree is None or tree.work is not work:
            self._tree = tree = ConstrainedTree(work, self.opts[1:3])
        return tree


class RecursiveRungeKutta(RecursiveScheme, AccelerationLevelRungeKutta):
    """With a Runge-Kutta method; the derivatives of its stages are solved by sweeps too."""

    def controlled(self, work, fn, *rest):
        return super().controlled(*self.solved_by(work, fn), *rest)

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        return self._swept("direct", work, fn, ts, hs, after, final, traj, self.rates(state), *state[:2], grad)

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        return self._swept("adjoint", work, fn, ts, hs, after, final, traj, self.rates(state), *state[:2])

    def _swept(self, method, work, fn, ts, hs, after, final, traj, *rest):
        from kinegrad.kernels.formulations import recursive_derivatives

        self.put_scales(work)
        tree = self.tree(work)
        return getattr(recursive_derivatives, method)(
            tree.derivative_functions(fn), tree.pointer, self.system.m, *self.tableau[:3], ts, hs, after, self.opts, final,
            traj, *rest,
        )  # fmt: skip


class RecursiveRungeKutta4(RungeKutta4, RecursiveRungeKutta):
    """With the classical Runge-Kutta method."""


class RecursiveRungeKutta54(RungeKutta54, RecursiveRungeKutta):
    """With Dormand and Prince's method and steps chosen by its error estimate."""


class RecursiveNewmark(RecursiveScheme, AccelerationLevelNewmark):
    """With Newmark, HHT or generalized-alpha, by substitution."""

    def call(self, work, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags):
        from kinegrad.kernels.formulations.recursive import simulate_newmark

        tree, functions = self.solved_by(work, fn)
        return simulate_newmark, (
            functions, tree.pointer, self.system.m, ts, hs, self.opts, self.family, self.auxiliary,
            self.options["max_iterations"], final, psi, g_last, stride, traj, iterations,
        )  # fmt: skip
