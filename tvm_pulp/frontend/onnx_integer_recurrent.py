"""LSTM, GRU and RNN nodes of floats whose products are sums of 8-bit integers.

Weights have one scale per gate and cell. A state that lies between -1 and 1 has the scale 1/127, whatever the samples
are. Inputs keep the integers they come from; other inputs get the scale that their values ask for when they are there.
Activation functions and cells stay float.
"""

from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_protos import operand
from tvm_pulp.frontend.onnx_recurrent import Unrolled

LARGEST = 127
# What may stand between a tensor and the integers it comes from.
_MOVES = frozenset({"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Slice", "Gather"})
_BOUNDED = ("Sigmoid", "Tanh")


class IntegerUnrolled(Unrolled):
    """A node whose products are integer where its weights are constant and its state lies between -1 and 1.

    `gates`: the numbers of those that are concerned; all of them unless stated.
    """

    def __init__(self, *where: Any, gates: frozenset[int] | None = None) -> None:
        self._gates = gates
        super().__init__(*where)

    def write(self) -> None:
        # Operators that made values, and the integer forms of inputs and states, by their names.
        self._made = {name: (node.op_type, operand(node, 0)) for node in self.graph.node for name in node.output}
        self._small: dict[str, list[str]] = {}
        super().write()

    def emit(self, op: str, *operands: str, **attributes: Any) -> str:
        name = super().emit(op, *operands, **attributes)
        self._made[name] = (op, operands[0])
        return name

    def _bounded(self, direction: int) -> bool:
        """Tell if no state leaves -1 to 1: functions do not, and neither does the first state."""
        per_direction = len(self.functions) // self.directions
        last = self.functions[(direction + 1) * per_direction - 1]
        first = self._operand(5)
        values = self.constants.get(first) if first else np.zeros(1)
        return last in _BOUNDED and values is not None and bool(np.abs(values).max(initial=0) <= 1)

    def _concerns(self, gate: int) -> bool:
        return self._gates is None or gate in self._gates

    def matrix(self, place: int, direction: int, gate: int) -> str:
        whole = self.constants.get(self._operand(place))
        if whole is None or not self._concerns(gate) or (place == 2 and not self._bounded(direction)):
            return super().matrix(place, direction, gate)
        rows = whole[direction, gate * self.hidden : (gate + 1) * self.hidden].T
        return self._dequantized(*per_column(rows))

    def _dequantized(self, integers: np.ndarray, scales: np.ndarray) -> str:
        zeros = np.zeros(scales.shape, np.int8)
        return self.emit("DequantizeLinear", *map(self.constant, (integers, scales, zeros)), axis=1)

    def times(self, state: str | None, matrix: str) -> str | None:
        """A state times weights; both are integers where the weights are."""
        if state is not None and self._made.get(matrix, ("",))[0] == "DequantizeLinear":
            if state not in self._small:
                unit, zero = self.constant(np.array(1 / LARGEST, np.float32)), self.constant(np.array(0, np.int8))
                rounded = self.emit("QuantizeLinear", state, unit, zero)
                self._small[state] = [self.emit("DequantizeLinear", rounded, unit, zero)]
            (state,) = self._small[state]
        return super().times(state, matrix)

    def _inputs(self, x: str, direction: int, gate: int, *biases: np.ndarray | None) -> str:
        whole = self.constants.get(self._operand(1))
        if whole is None or not self._concerns(gate) or self._from_integers(x):
            return super()._inputs(x, direction, gate, *biases)
        integers, scales = per_column(whole[direction, gate * self.hidden : (gate + 1) * self.hidden].T)
        if x not in self._small:
            self._small[x] = self.quantized(x)
        scaled = self.integer_product(self._small[x], integers, np.array(0, np.int8), scales)
        return self.plus(scaled, *biases)

    def _from_integers(self, name: str) -> bool:
        """Tell if a value is dequantized, and only moved since."""
        op, source = self._made.get(name, ("", ""))
        while op in _MOVES:
            op, source = self._made.get(source, ("", ""))
        return op == "DequantizeLinear"


def per_column(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [inputs, cells] as 8-bit integers, and the scale of each column."""
    largest = np.abs(weights).max(axis=0)
    scales = np.where(largest > 0, largest, 1).astype(np.float32) / np.float32(LARGEST)
    return np.clip(np.rint(weights / scales), -LARGEST, LARGEST).astype(np.int8), scales.astype(np.float32)
