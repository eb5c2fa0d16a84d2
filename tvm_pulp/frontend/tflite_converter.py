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
from tvm_pulp.frontend import tflite_dilated, tflite_hybrid, tflite_lstm, tflite_operators, tflite_products
from tvm_pulp.frontend.onnx_dialect_values import variable_name
from tvm_pulp.frontend.relax_values import constant, framework_reason, shape_of
from tvm_pulp.frontend.tflite_fold import folded
from tvm_pulp.qnn.lineage import Lineage

# Operators whose result has the scale and zero point of their operand, so that integers may be moved as they are.
_MOVEMENTS = frozenset(
    {
        *("DEPTH_TO_SPACE", "EXPAND_DIMS", "GATHER", "PAD", "PADV2", "RESIZE_NEAREST_NEIGHBOR", "SELECT"),
        *("SELECT_V2", "SHAPE", "SLICE", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE"),
        *("TILE", "TRANSPOSE", "UNPACK"),
    }
)
# Functions of the converter and an operator that give the result.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "BATCH_MATMUL": tflite_operators.batch_matmul,
    "BATCH_TO_SPACE_ND": tflite_dilated.batch_to_space_nd,
    "CONV_2D": tflite_hybrid.conv2d,
    "DEPTHWISE_CONV_2D": tflite_hybrid.depthwise_conv2d,
    "EXPAND_DIMS": tflite_operators.expand_dims,
    "FULLY_CONNECTED": tflite_hybrid.fully_connected,
    "GELU": tflite_operators.gelu,
    "LOGISTIC": tflite_operators.logistic,
    "REDUCE_PROD": tflite_products.reduce_prod,
    "RESIZE_BILINEAR": tflite_operators.resize_bilinear,
    "SOFTMAX": tflite_operators.softmax,
    "SPACE_TO_BATCH_ND": tflite_dilated.space_to_batch_nd,
    "SQUARED_DIFFERENCE": tflite_operators.squared_difference,
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
        # Tensors, by their numbers, that follow from constants.
        self._folded: dict[int, np.ndarray] = {}

    def emit(self, value: Any) -> Any:
        """A variable bound to a value."""
        return self.bb.emit(self.bb.normalize(value))

    def convert_op_to_relax(self) -> None:
        """Operators in order, each result bound to a variable that is called after its tensor: layers have its name."""
        dilated, ends = (
            tflite_dilated.DilatedConvolutions(self),
            set(tflite_operators.indices(self.subgraph, "Outputs")),
        )
        for index in range(self.subgraph.OperatorsLength()):
            operator, chain = self.subgraph.Operators(index), dilated.found.get(index)
            places = [chain.result] if chain else [t.tensor_idx for t in self.get_output_tensors(operator)]
            names = [get_tensor_name(self.subgraph, place) for place in places]
            if index in dilated.others or (not ends & {*places} and self._fold(operator, places[0])):
                continue
            made = self._converted(operator, names[0] if names else "", chain)
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

    def _fold(self, operator: Any, place: int) -> bool:
        """Tell if the result of an operator is a constant, which is noted."""
        made = folded(self, self.get_op_code_str(operator), operator)
        if made is not None:
            self._folded[place] = made
        return made is not None

    def known_value(self, tensor: Any) -> Any:
        """A tensor's value where it is a constant of the file or follows from some, else None."""
        if tensor.tensor_idx in self._folded:
            return self._folded[tensor.tensor_idx]
        is_held = not self.has_expr(tensor.tensor_idx) and tensor.buffer.DataLength() > 0
        return self.get_tensor_value(tensor) if is_held else None

    def get_tensor_value(self, tensor_wrapper: Any, is_sparse: bool = False) -> Any:
        if tensor_wrapper.tensor_idx in self._folded:
            return self._folded[tensor_wrapper.tensor_idx]
        return super().get_tensor_value(tensor_wrapper, is_sparse)

    def get_tensor_shape(self, tensor_wrapper: Any) -> Any:
        """Sizes that the file leaves open are those of what was computed."""
        place, tensor = tensor_wrapper.tensor_idx, tensor_wrapper.tensor
        if place in self._folded:
            return np.array(self._folded[place].shape, np.int32)
        is_open = tensor.ShapeSignatureLength() and -1 in tensor.ShapeSignatureAsNumpy()
        if is_open and self.has_expr(place) and (shape := shape_of(self.get_expr(place))) is not None:
            return np.array(shape, np.int32)
        return super().get_tensor_shape(tensor_wrapper)

    def _converted(self, operator: Any, result: str, chain: tflite_dilated.Dilated | None) -> Any:
        """The result of one operator; where TVM's type rules refuse it, a sentence that names it and its operands."""
        kind = self.get_op_code_str(operator)
        try:
            if chain is not None:
                return self.bb.normalize(tflite_dilated.dilated_convolution(self, operator, chain))
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
