"""Graphs flattened to tapes: integer tables that compiled code runs without compiling anything anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.expressions.graph import Scalar


@dataclass(frozen=True)
class Tape:
    """A straight-line program that computes several numbers from several inputs.

    Registers are the inputs, then the constants, then the result of each row.

    Attributes
    ----------
    code : (k, 4) int64 array
        Rows ``(operation, a, b, destination)``; see `kinegrad.kernels.tape`.
    constants : float64 array
    n_inputs : int
    outputs : int64 array
        The register of each output; it may be that of an input or of a constant.
    """

    code: np.ndarray
    constants: np.ndarray
    n_inputs: int
    outputs: np.ndarray

    @property
    def n_registers(self) -> int:
        """How many registers a run needs."""
        return self.n_inputs + len(self.constants) + len(self.code)

    @classmethod
    def build(cls, outputs: Sequence[Scalar], inputs: Sequence[Scalar]) -> Tape:
        """The tape of what `outputs` need, each common sub-expression once."""
        from kinegrad.kernels.tape import OPS

        register = {x.index: i for i, x in enumerate(inputs)}
        graph = next((x.graph for x in (*outputs, *inputs)), None)
        nodes = [i for i in graph.needed(outputs) if i not in register] if graph else []
        missing = [graph.payload[i] for i in nodes if graph.operations[i] == "input"]
        if missing:
            raise ValueError(f"the outputs depend on {', '.join(missing)}, which are not among the inputs")

        constants = [i for i in nodes if graph.operations[i] == "constant"]
        register |= {i: len(inputs) + k for k, i in enumerate(constants)}
        code = []
        for i in nodes:
            if graph.operations[i] == "constant":
                continue
            register[i] = len(inputs) + len(constants) + len(code)
            operands = [register[k] for k in graph.operands[i]]
            second = operands[-1] if graph.payload[i] is None else graph.payload[i]
            code.append((OPS[graph.operations[i]], operands[0], second, register[i]))
        return cls(
            code=np.array(code, np.int64).reshape(-1, 4),
            constants=np.array([graph.payload[i] for i in constants], np.float64),
            n_inputs=len(inputs),
            outputs=np.array([register[x.index] for x in outputs], np.int64),
        )

    def registers(self, values, dtype=np.float64) -> np.ndarray:
        """A register array with the inputs and the constants in place."""
        r = np.zeros(self.n_registers, dtype)
        r[: self.n_inputs] = values
        r[self.n_inputs : self.n_inputs + len(self.constants)] = self.constants
        return r

    def run(self, values) -> np.ndarray:
        """The outputs for float `values` of the inputs."""
        from kinegrad.kernels.tape import run_tape_entry

        r = self.registers(values)
        if len(self.code):
            run_tape_entry(self.code, len(self.code), r, np.zeros(0))
        return r[self.outputs]
