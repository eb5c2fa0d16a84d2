"""onnxruntime's DynamicQuantizeLSTM: an LSTM whose weights are 8-bit integers and whose activations are quantized at
run time, the inputs of all steps at once, the state before each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_order import label
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
            if values is None or scale is None or values.shape[0] != self.directions or values.shape[2:] != (columns,):
                raise UserError(
                    f"{label(self.node)}: its weights do not fit {self.hidden} hidden values: quantize it again"
                )
            refuse_if(
                scale.size not in (self.directions, self.directions * columns),
                f"{label(self.node)}: {scale.size} scales do not fit {columns} columns: quantize it again",
            )

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
        single = scale.size == 1
        integers, unit, offset = self._emit_all("DynamicQuantizeLinear", 3, value)
        weights = self.constant(values[direction]), self.constant(zero.reshape(()) if zero.size == 1 else zero)
        sums = self.emit("Cast", self.emit("MatMulInteger", integers, weights[0], offset, weights[1]), to=1)
        factors = self.constant((scale.reshape(()) if single else scale).astype(np.float32))
        return self.emit("Mul", sums, self.emit("Mul", unit, factors))

    def _lstm(self, x: str, direction: int, order: list[int]) -> tuple[dict[int, str], str | None]:
        f, g, h = self.functions[3 * direction : 3 * direction + 3]
        name, biases = self._operand(3), []
        if name:
            if name not in self.constants:
                raise UserError(f"{label(self.node)}: the bias '{name}' must be constant: make it an initializer")
            biases = list(self.constants[name][direction].reshape(2, -1))
        projected = self.plus(self._product(x, direction, _INPUT), *biases)
        state, cell, states = self.state(5, direction), self.state(6, direction), {}
        for step in order:
            sums = self.pick(projected, step, 0)
            if state is not None:
                sums = self.emit("Add", sums, self._product(state, direction, _STATE))
            gates = self._reshaped(sums, [self.batch, 4, self.hidden])
            each = [self._reshaped(self.pick(gates, k, 1), [self.batch, self.hidden]) for k in range(4)]
            admit, out, forget = (self.emit(f, s) for s in each[:3])
            fresh = self.emit("Mul", admit, self.emit(g, each[3]))
            cell = fresh if cell is None else self.emit("Add", self.emit("Mul", forget, cell), fresh)
            state = self.emit("Mul", out, self.emit(h, cell))
            states[step] = state
        return states, cell
