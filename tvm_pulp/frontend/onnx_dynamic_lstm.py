"""onnxruntime's DynamicQuantizeLSTM: an LSTM whose weights are 8-bit integers and whose activations are quantized at
run time, the inputs of all steps at once, the state before each step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_protos import label
from tvm_pulp.frontend.onnx_recurrent import Unrolled

# Operands of the weights of inputs and of the state: values, scale, zero point.
_INPUT, _STATE = (1, 8, 9), (2, 10, 11)


class DynamicLstm(Unrolled):
    def _check_weights(self) -> None:
        for places in (_INPUT, _STATE):
            for place in places:
                name = self._operand(place)
                if name and name not in self.constants:
                    raise UserError(f"{label(self.node)}: '{name}' must be constant: make it an initializer")
            values, scale = (self.constants.get(self._operand(p)) for p in places[:2])
            columns = 4 * self.hidden
            where = label(self.node)
            if values is None or scale is None or values.shape[0] != self.directions or values.shape[2:] != (columns,):
                raise UserError(f"{where}: its weights do not fit {self.hidden} hidden values: quantize it again")
            if scale.size not in (self.directions, self.directions * columns):
                raise UserError(f"{where}: {scale.size} scales do not fit {columns} columns: quantize it again")

    def _emit_all(self, op: str, outputs: int, *operands: str, **attributes: Any) -> list[str]:
        """Names of all results of a node."""
        first = self.emit(op, *operands, **attributes)
        self.graph.node[-1].output.extend(f"{first}_{k}" for k in range(1, outputs))
        return list(self.graph.node[-1].output)

    def _product(self, value: str, direction: int, places: tuple[int, int, int]) -> str:
        """All gates of a value times its weights."""
        values, scale = (self.constants[self._operand(p)] for p in places[:2])
        zero = self.constants.get(self._operand(places[2]), np.zeros(self.directions, values.dtype))
        scale, zero = scale.reshape(self.directions, -1)[direction], zero.reshape(self.directions, -1)[direction]
        integers, unit, offset = self._emit_all("DynamicQuantizeLinear", 3, value)
        weights, zeros = self.constant(values[direction]), self.constant(zero)
        sums = self.emit("Cast", self.emit("MatMulInteger", integers, weights, offset, zeros), to=1)
        factors = self.constant(scale.astype(np.float32))
        return self.emit("Mul", sums, self.emit("Mul", unit, factors))

    def _gate_sums(self, x: str, direction: int) -> Callable[[int, str | None], list[str]]:
        biases = self.biases(direction)
        projected = self._product(x, direction, _INPUT)
        if biases is not None:
            projected = self.plus(projected, *biases.reshape(2, -1))

        def sums(step: int, state: str | None) -> list[str]:
            total = self.pick(projected, step, 0)
            if state is not None:
                total = self.emit("Add", total, self._product(state, direction, _STATE))
            gates = self._reshaped(total, [self.batch, 4, self.hidden])
            return [self._reshaped(self.pick(gates, k, 1), [self.batch, self.hidden]) for k in range(4)]

        return sums
