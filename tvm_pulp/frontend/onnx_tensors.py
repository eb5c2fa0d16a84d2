"""Every tensor stored in an ONNX model: checked against its own header before any array is made of it."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, check_shape

_T = onnx.TensorProto
# Element types the compiler can hold: bytes of one element and the field that holds them when there are no raw bytes.
_STORED: dict[int, tuple[int, str]] = {
    _T.FLOAT: (4, "float_data"),
    _T.DOUBLE: (8, "double_data"),
    _T.INT8: (1, "int32_data"),
    _T.UINT8: (1, "int32_data"),
    _T.INT16: (2, "int32_data"),
    _T.UINT16: (2, "int32_data"),
    _T.INT32: (4, "int32_data"),
    _T.UINT32: (4, "uint64_data"),
    _T.INT64: (8, "int64_data"),
    _T.UINT64: (8, "uint64_data"),
    _T.BOOL: (1, "int32_data"),
}
# Graphs inside graphs inside graphs: no exporter goes deeper.
_DEEPEST = 16


def type_name(element: int) -> str:
    """Name of an ONNX element type, for messages."""
    known = element in _T.DataType.values()
    return str(_T.DataType.Name(element)).lower() if known else f"number {element}"


def item_bytes(element: int) -> int | None:
    """Bytes of one element; None for a type the compiler does not know."""
    return _STORED[element][0] if element in _STORED else None


def all_tensors(graph: Any, depth: int = 0) -> Iterator[Any]:
    """Initializers and tensor attributes of a graph and of the graphs inside it."""
    if depth > _DEEPEST:
        raise UserError(f"graph '{graph.name[:80]}' is nested more than {_DEEPEST} levels deep: check the model")
    refuse_if(graph.sparse_initializer, "the model stores sparse initializers: export them dense")
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
                raise UserError(f"node '{node.name}' ({node.op_type}) stores a sparse tensor: export it dense")
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from all_tensors(inner, depth + 1)


def stored_tensors(graph: Any) -> dict[str, Any]:
    """By name: initializers and Constant nodes."""
    found = {t.name: t for t in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" else ():
            if attribute.name == "value":
                found[node.output[0]] = attribute.t
    return found


def check_tensors(graph: Any) -> None:
    """Types, shapes and stored lengths of all tensors, and their size together."""
    total = 0
    for tensor in all_tensors(graph):
        total += check_tensor(tensor)
        if total > LARGEST_CONSTANTS:
            raise UserError(f"the model's constants need more than {LARGEST_CONSTANTS >> 20} MiB: it does not fit here")


def check_tensor(tensor: Any) -> int:
    """Type, shape and stored length; the bytes that it needs."""
    what = f"tensor '{tensor.name}'"
    if tensor.data_type not in _STORED:
        raise UserError(f"{what} has the unsupported type {type_name(tensor.data_type)}: export it as float32 or int8")
    each, field = _STORED[tensor.data_type]
    wanted = check_shape(what, tensor.dims, each, LARGEST_CONSTANTS)
    if tensor.data_location == _T.EXTERNAL:
        raise UserError(f"{what} is external data, but the model was not read from a file: load it from its folder")
    if tensor.HasField("raw_data"):
        stored, unit = len(tensor.raw_data), "bytes"
    else:
        stored, unit, wanted = len(getattr(tensor, field)), "values", math.prod(tensor.dims)
        _check_range(tensor, what)
    if stored != wanted:
        raise UserError(f"{what} holds {stored} {unit}, its shape {list(tensor.dims)} needs {wanted}: export it again")
    return wanted * (1 if unit == "bytes" else each)


def _check_range(tensor: Any, what: str) -> None:
    """Small integers are stored as 32-bit ones when there are no raw bytes: they may be too large for their type."""
    kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    if kind.kind not in "iu" or _STORED[tensor.data_type][1] != "int32_data":
        return
    limits = np.iinfo(kind)
    for value in tensor.int32_data:
        if not limits.min <= value <= limits.max:
            raise UserError(f"{what} holds {value}, which is outside its type {kind}: quantize the model again")


def array(tensor: Any) -> np.ndarray:
    """A checked tensor as an array."""
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, OverflowError) as error:
        raise UserError(f"tensor '{tensor.name}' cannot be read ({error}): export the model again") from None
