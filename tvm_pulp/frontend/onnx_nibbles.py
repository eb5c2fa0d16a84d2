"""Four-bit constants of an ONNX model, two in a byte: kept as bytes of the same values from here on.

Engines take as few bits as the values need, so nothing is lost by the wider type. Activations of four bits do not exist
in the dialect: a QuantizeLinear to them is evaluated where its operand is constant, and refused otherwise.
"""

import math
from typing import Any

import numpy as np
import onnx

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, check_shape
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, label, operand, with_nodes
from tvm_pulp.frontend.onnx_tensors import all_tensors, array, stored_tensors

_T = onnx.TensorProto
# Type -> (the byte that holds it, least, largest).
_NIBBLES: dict[int, tuple[int, int, int]] = {_T.INT4: (_T.INT8, -8, 7), _T.UINT4: (_T.UINT8, 0, 15)}


def packed_bytes(element: int, size: int) -> int:
    """Bytes that `size` elements of one byte take in a file when their type is `element`."""
    return (size + 1) // 2 if element in _NIBBLES else size


def widen_nibbles(model: Any) -> Any:
    """The model without tensors of four bits; itself where it has none."""
    if not any(t.data_type in _NIBBLES for t in all_tensors(model.graph)) and not _declares_nibbles(model.graph):
        return model
    result = with_nodes(model, model.graph.node)
    graph = result.graph
    narrow = {name: t.data_type for name, t in stored_tensors(graph).items() if t.data_type in _NIBBLES}
    for tensor in all_tensors(graph):
        if tensor.data_type in _NIBBLES:
            _widen(tensor)
    _quantize_constants(graph, narrow)
    for value in graph.value_info:
        kind = value.type.tensor_type
        kind.elem_type = _NIBBLES.get(kind.elem_type, (kind.elem_type,))[0]
    return result


def _declares_nibbles(graph: Any) -> bool:
    return any(_target(node, {}) in _NIBBLES for node in graph.node)


def _widen(tensor: Any) -> None:
    what, count = f"tensor '{tensor.name}'", math.prod(tensor.dims)
    check_shape(what, tensor.dims, 1, LARGEST_CONSTANTS)
    raw = tensor.HasField("raw_data")
    stored = np.frombuffer(tensor.raw_data, np.uint8) if raw else np.asarray(list(tensor.int32_data), np.int64)
    if len(stored) != (count + 1) // 2 or (not raw and stored.size and not 0 <= stored.min() <= stored.max() <= 255):
        unit = "bytes" if raw else "values"
        needed = f"its shape {list(tensor.dims)} needs {(count + 1) // 2} bytes"
        raise UserError(f"{what} holds {len(stored)} {unit} of two elements each, {needed}: export it again")
    pairs = stored.astype(np.uint8)
    values = np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(-1)[:count].astype(np.int8)
    wide, least, _ = _NIBBLES[tensor.data_type]
    values = np.where(values > 7, values - 16, values) if least < 0 else values
    del tensor.int32_data[:]
    tensor.raw_data = values.astype(np.int8 if least < 0 else np.uint8).tobytes()
    tensor.data_type = wide


def _target(node: Any, narrow: dict[str, int]) -> int:
    """The four-bit type that a node quantizes or casts to, or 0."""
    if node.op_type == "QuantizeLinear" and operand(node, 2) in narrow:
        return narrow[operand(node, 2)]
    name = {"QuantizeLinear": "output_dtype", "Cast": "to"}.get(node.op_type)
    return next((int(a.i) for a in node.attribute if a.name == name and a.i in _NIBBLES), 0)


def _quantize_constants(graph: Any, narrow: dict[str, int]) -> None:
    """Weights stored as floats in front of a QuantizeLinear become constants of bytes."""
    constants = stored_tensors(graph)
    for node in [n for n in graph.node if _target(n, narrow)]:
        element = _target(node, narrow)
        name = "int4" if element == _T.INT4 else "uint4"
        operands = [array(constants[i]) for i in node.input if i in constants]
        refuse_if(
            node.op_type != "QuantizeLinear" or len(operands) < len([i for i in node.input if i]),
            f"{label(node)} makes {name} values at run time, which no kernel reads: use int8 for activations",
        )
        attributes = attributes_of(node)
        if attributes.get("block_size"):
            raise UserError(f"{label(node)} quantizes to {name} in blocks: quantize per tensor or per channel")
        values = _quantized(*operands, axis=int(attributes.get("axis", 1)), element=element)
        graph.initializer.append(constant_of(node.output[0], values))
        graph.node.remove(node)


def _quantized(
    real: np.ndarray, scale: np.ndarray, zero_point: np.ndarray | None = None, *, axis: int, element: int
) -> np.ndarray:
    _, least, largest = _NIBBLES[element]
    shape = [1] * real.ndim
    if scale.size > 1:
        shape[axis % real.ndim] = scale.size
    zeros = np.zeros(1, np.int64) if zero_point is None else zero_point.astype(np.int64)
    zeros = zeros.reshape(shape if zeros.size > 1 else ())
    rounded = np.rint(real / scale.reshape(shape if scale.size > 1 else ())).astype(np.int64) + zeros
    return np.asarray(np.clip(rounded, least, largest).astype(np.int8 if least < 0 else np.uint8))
