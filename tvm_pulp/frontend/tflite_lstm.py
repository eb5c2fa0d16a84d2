"""TFLite's integer UNIDIRECTIONAL_SEQUENCE_LSTM (8-bit weights and activations, 16-bit gates and cells).

All gates are one product of the inputs, for all steps at once, and one of the state per step. States are as the file
says, zero: what a network remembers from one inference to the next is not kept.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.tflite_operators import options_of
from tvm_pulp.qnn.fixed_point import quantize_multiplier

# First operand of the gates' weights of inputs, of the state, and of the biases: input, forget, cell, output.
_INPUT, _STATE, _BIAS = 1, 5, 12
_REFUSED = {"peephole weights": (9, 10, 11), "a projection": (16, 17), "layer normalization": (20, 21, 22, 23)}
# One unit of a gate's sum.
_GATE_SCALE = np.float32(2.0**-12)


def unidirectional_sequence_lstm(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    if not converter.is_quantized(op):
        return upstream(op)
    return _Lstm(converter, op).result()


def _parameters(tensor: Any) -> tuple[np.float32, int]:
    """The one scale and zero point of a tensor."""
    scales, zero_points = (np.ravel(tensor.qnn_params[name].value.numpy()) for name in ("scale", "zero_point"))
    if len(scales) > 1:
        raise NotImplementedError("an integer UNIDIRECTIONAL_SEQUENCE_LSTM with a scale for each channel is not known")
    return np.float32(scales[0]), int(zero_points[0])


class _Lstm:
    def __init__(self, converter: Any, op: Any) -> None:
        self.converter, self.options = converter, options_of(op, "UnidirectionalSequenceLSTMOptions")
        self.tensors = converter.get_input_tensors(op)
        for what, places in _REFUSED.items():
            if any(place < len(self.tensors) and self._given(place) for place in places):
                raise NotImplementedError(f"an integer UNIDIRECTIONAL_SEQUENCE_LSTM with {what} is not known")
        types = [converter.get_tensor_type_str(self.tensors[place].tensor.Type()) for place in (0, 18, 19)]
        if types != ["int8", "int8", "int16"] or self.options.FusedActivationFunction() != 4:
            raise NotImplementedError("an integer UNIDIRECTIONAL_SEQUENCE_LSTM must have int8 states and TANH")
        self.coupled = not self._given(_INPUT)
        self.gates = range(1 if self.coupled else 0, 4)
        hidden = converter.get_tensors([int(op.Intermediates(4))])[0]
        self.cells = int(converter.get_tensor_shape(self.tensors[19])[-1])
        self._hidden_rule(*_parameters(hidden))

    def _given(self, place: int) -> bool:
        return bool(self.tensors[place].tensor_idx != -1)

    def _hidden_rule(self, scale: np.float32, zero_point: int) -> None:
        """From products of the output gate and the cell's tangent, 15 bits each, to the state."""
        real = float(np.float32(2.0**-15) / scale * np.float32(2.0**-15))
        multiplier, exponent = quantize_multiplier(real)
        rule = qnn.Requant("tflite", 0, zero_point, -128, 127, dtype="int8")
        self.rule, self.constants = rule, [self._constant([multiplier], np.int32), self._constant([exponent], np.int32)]
        cell_scale, _ = _parameters(self.tensors[19])
        self.bits = 15 + round(math.log2(float(cell_scale)))
        clip = float(self.options.CellClip())
        self.clip = int(min(clip / float(cell_scale), 32767)) if clip > 0 else 0

    @staticmethod
    def _constant(values: Any, dtype: Any) -> Any:
        return relax.const(np.asarray(values).astype(dtype))

    def _products(self, value: Any, first: int, source: Any, *, biased: bool) -> Any:
        """Sums that a value contributes to all gates."""
        tensors = [self.tensors[first + gate] for gate in self.gates]
        weights = np.concatenate([self.converter.get_tensor_value(t) for t in tensors])
        operands = [value, relax.const(weights)]
        if biased:
            biases = [self.converter.get_tensor_value(self.tensors[_BIAS + gate]) for gate in self.gates]
            operands.append(self._constant(np.concatenate(biases), np.int32))
        attributes = {**qnn.Requant().attributes(), "zero_point": _parameters(source)[1], "has_bias": int(biased)}
        return self.converter.emit(qnn.emit("dense", operands, attributes))

    def _scales(self, first: int, source: Any) -> list[int]:
        """Multiplier and exponent of each gate's sums, gate after gate."""
        scale = _parameters(source)[0]
        weights = [_parameters(self.tensors[first + gate])[0] for gate in self.gates]
        pairs = [quantize_multiplier(float(np.float32(w * scale) / _GATE_SCALE)) for w in weights]
        return [number for pair in pairs for number in pair]

    def result(self) -> Any:
        x, state, emit = self.tensors[0], self.tensors[18], self.converter.emit
        value = emit(self.converter.get_tensor_expr(x))
        batch, steps, _ = (int(d) for d in self.converter.get_tensor_shape(x))
        if self.options.TimeMajor():
            steps, batch = batch, steps
            value = emit(qnn.emit("transpose", [value], {"axes": [1, 0, 2]}))
        shape = (batch, self.cells)
        hidden = self._constant(np.full(shape, _parameters(state)[1]), np.int8)
        cells = self._constant(np.zeros(shape), np.int16)
        inputs = self._products(value, _INPUT, x, biased=True)
        common = {
            "coupled": int(self.coupled),
            "bits": self.bits,
            "input_scales": self._scales(_INPUT, x),
            "state_scales": self._scales(_STATE, state),
        }
        columns = len(self.gates) * self.cells
        results = []
        for step in range(steps):
            cut = {"begin": [0, step, 0], "stride": [1, 1, 1], "size": [batch, 1, columns]}
            of_inputs = emit(relax.op.reshape(emit(qnn.emit("slice", [inputs], cut)), (batch, columns)))
            parts = [of_inputs, self._products(hidden, _STATE, state, biased=False)]
            cells = emit(qnn.emit("lstm_cell", [*parts, cells], {**common, "clip": self.clip}))
            attributes = {**common, **self.rule.attributes()}
            hidden = emit(qnn.emit("lstm_hidden", [*parts, cells, *self.constants], attributes))
            results.append(emit(relax.op.reshape(hidden, (batch, 1, self.cells))))
        joined = results[0] if steps == 1 else emit(qnn.emit("concat", results, {"axis": 1}))
        if self.options.TimeMajor():
            return qnn.emit("transpose", [joined], {"axes": [1, 0, 2]})
        return joined
