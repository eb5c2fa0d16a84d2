"""TVM's TFLite converter with operators of our own: what it lacks, and what TFLite's kernels compute otherwise."""

import re
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax
from tvm.error import OpNotImplemented
from tvm.relax.frontend.tflite.tflite_frontend import OperatorConverter, get_tensor_name

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import tflite_hybrid, tflite_lstm, tflite_operators
from tvm_pulp.frontend.onnx_dialect_values import variable_name
from tvm_pulp.frontend.relax_values import constant, framework_reason
from tvm_pulp.qnn.lineage import Lineage

# Operators whose result has the scale and zero point of their operand, so that integers may be moved as they are.
_MOVEMENTS = frozenset(
    {
        *("DEPTH_TO_SPACE", "EXPAND_DIMS", "GATHER", "PAD", "PADV2", "RESIZE_NEAREST_NEIGHBOR", "SLICE"),
        *("SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK"),
    }
)
# Functions of the converter and an operator that give the result.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "BATCH_MATMUL": tflite_operators.batch_matmul,
    "CONV_2D": tflite_hybrid.conv2d,
    "DEPTHWISE_CONV_2D": tflite_hybrid.depthwise_conv2d,
    "FULLY_CONNECTED": tflite_hybrid.fully_connected,
    "LOGISTIC": tflite_operators.logistic,
    "RESIZE_BILINEAR": tflite_operators.resize_bilinear,
    "SOFTMAX": tflite_operators.softmax,
    "TANH": tflite_operators.tanh,
    "TRANSPOSE_CONV": tflite_operators.transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": tflite_lstm.unidirectional_sequence_lstm,
}


# Operators that nobody converts, files that end too early: their sentences name the file.
_SAID_ELSEWHERE = (UserError, OpNotImplemented, NotImplementedError, struct.error, IndexError, UnicodeDecodeError)
# Operators that may have quantized weights and float activations.
_HYBRID = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})


class TfliteConverter(OperatorConverter):
    _SUPPORTED_QUANTIZED_OPS = OperatorConverter._SUPPORTED_QUANTIZED_OPS | _MOVEMENTS | _OPERATORS.keys()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Variables and the operators whose results they are.
        self.named: dict[str, Lineage] = {}
        for name, rule in _OPERATORS.items():
            self.convert_map[name] = partial(rule, self, self.convert_map[name])

    def convert_op_to_relax(self) -> None:
        """Operators in order, each result bound to a variable that is called after its tensor: layers have its name."""
        for index in range(self.subgraph.OperatorsLength()):
            operator = self.subgraph.Operators(index)
            names = [get_tensor_name(self.subgraph, t.tensor_idx) for t in self.get_output_tensors(operator)]
            made = self._converted(operator, names[0] if names else "")
            if made is None:  # done beforehand
                continue
            if len(names) > 1:
                for number, name in enumerate(names):
                    self.exp_tab.set_expr(name, made[number])
                continue
            if isinstance(made, relax.Call) and isinstance(made.ty, relax.TensorType):
                called = variable_name(layer_name(names[0]))
                made = self.bb.emit(made, name_hint=called)
                # Converters join the names of operators that they fused.
                self.named[str(made.name)] = Lineage(called, tuple(filter(None, names[0].split(";"))))
            self.exp_tab.set_expr(names[0], made)

    def _converted(self, operator: Any, result: str) -> Any:
        """The result of one operator; where TVM's type rules refuse it, a sentence that names it and its operands."""
        kind = self.get_op_code_str(operator)
        try:
            made = self.convert_map[kind](op=operator)
            return made if made is None else self.bb.normalize(made)
        except _SAID_ELSEWHERE:
            raise
        except Exception as error:  # many classes
            shapes = [list(t.tensor.ShapeAsNumpy()) for t in self.get_input_tensors(operator) if t.tensor is not None]
            reason = framework_reason(error, shapes)
            raise UserError(f"operator {kind} with the result '{result}' {reason}: export the model again") from None

    def check_unsupported_ops(self) -> None:
        """Raise, naming them, for operators that nothing here converts."""
        unknown, hybrid, quantized = set(), set(), set()
        for index in range(self.subgraph.OperatorsLength()):
            op = self.subgraph.Operators(index)
            name, inputs = self.get_op_code_str(op), self.get_input_tensors(op)
            if name not in self.convert_map:
                unknown.add(name)
                continue
            data, others = bool(inputs and inputs[0].qnn_params), any(t.qnn_params for t in inputs[1:])
            results = any(t.qnn_params for t in self.get_output_tensors(op))
            if others and not data and not results and name not in _HYBRID:
                hybrid.add(name)
            elif (data or others or results) and name not in self._SUPPORTED_QUANTIZED_OPS:
                quantized.add(name)
        for found, what in (
            (unknown, "operators are not known"),
            (hybrid, "operators with quantized weights and float activations are not known"),
            (quantized, "operators are not known on quantized tensors"),
        ):
            if found:
                raise NotImplementedError(f"these {what}: {', '.join(sorted(found))}")

    def dequantize(self, expr: Any, tensor: Any) -> Any:
        """Biases of 64 bits as 32 bits, which hold all that occur."""
        values = constant(expr)
        if values is not None and values.dtype == np.int64 and np.abs(values).max(initial=0) < 1 << 31:
            expr = relax.const(values.astype(np.int32))
        return super().dequantize(expr, tensor)


def layer_name(tensor: str) -> str:
    """The name of a layer, after the tensor it makes.

    Converters join the names of fused operators with semicolons; the first is that of the last operator. Keras puts the
    model's name before each.
    """
    parts = re.sub(r"[^\w/]+", "_", tensor.split(";")[0], flags=re.ASCII).strip("_/").split("/")
    name = "_".join(parts[1:] if len(parts) > 2 else parts)
    return f"v_{name}" if not name or name[0].isdigit() else name
