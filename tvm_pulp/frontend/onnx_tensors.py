"""Every tensor stored in an ONNX model: checked against its own header before any array is made of it.

External data is read from files beside the model, and from nowhere else. Four-bit constants, two in a byte, are kept as
bytes of the same values from here on: engines take as few bits as the values need, so nothing is lost by the wider
type. Activations of four bits do not exist in the dialect: a QuantizeLinear to them is evaluated where its operand is
constant, and refused otherwise.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, check_shape
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, label, operand, with_nodes
from tvm_pulp.input_file import open_input

_T = onnx.TensorProto
# Element types the compiler can hold: bytes of one element and the field that holds them when there are no raw bytes.
_STORED: dict[int, tuple[int, str]] = {
    element: (np.dtype(helper.tensor_dtype_to_np_dtype(element)).itemsize, helper.tensor_dtype_to_field(element))
    for element in (
        *(_T.FLOAT, _T.DOUBLE, _T.BOOL, _T.INT8, _T.INT16, _T.INT32, _T.INT64),
        *(_T.UINT8, _T.UINT16, _T.UINT32, _T.UINT64),
    )
}
# Types of four bits: the byte that holds one, least, largest.
_NIBBLES: dict[int, tuple[int, int, int]] = {_T.INT4: (_T.INT8, -8, 7), _T.UINT4: (_T.UINT8, 0, 15)}
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
    made = ((n.output[0], a) for n in graph.node if n.op_type == "Constant" for a in n.attribute)
    return {t.name: t for t in graph.initializer} | {name: a.t for name, a in made if a.name == "value"}


def check_tensors(graph: Any) -> None:
    """Types, shapes and stored lengths of all tensors, and their size together."""
    if sum(map(check_tensor, all_tensors(graph))) > LARGEST_CONSTANTS:
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
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if kind.kind in "iu" else (-math.inf, math.inf)
    for value in tensor.int32_data:
        if not low <= value <= high:
            raise UserError(f"{what} holds {value}, which is outside its type {kind}: quantize the model again")


def array(tensor: Any) -> np.ndarray:
    """A checked tensor as an array."""
    with refuse_library_errors(f"tensor '{tensor.name}' cannot be read", ": export the model again", str):
        return np.asarray(numpy_helper.to_array(tensor))


def load_external(model: Any, folder: Path) -> None:
    """Put the bytes of external tensors into the model. A path that leaves `folder` is a user error."""
    root, total = folder.resolve(), 0
    for tensor in all_tensors(model.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        content = _read(tensor, root, LARGEST_CONSTANTS - total)
        total += len(content)
        tensor.raw_data = content
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _read(tensor: Any, root: Path, room: int) -> bytes:
    what = f"tensor '{tensor.name}'"
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    path = _inside(what, location, root)
    offset, length = (_number(what, entries, key) for key in ("offset", "length"))
    needed = check_shape(what, tensor.dims, item_bytes(tensor.data_type) or 1, LARGEST_CONSTANTS)
    needed = (needed + 1) // 2 if tensor.data_type in _NIBBLES else needed
    length = needed if length is None else length
    if length > room or length != needed:
        found = f"{length} bytes, its shape {list(tensor.dims)} needs {needed}"
        raise UserError(f"{what}: its external data has {found}: export the model again")
    unreadable = f"{what}: external data '{location}' cannot be read"
    with open_input(path, unreadable, None, ": put it beside the model") as stream:
        stream.seek(offset or 0)
        content = stream.read(length)
    if len(content) != length:
        raise UserError(f"{what}: external data '{location}' ends before its {length} bytes: copy the file again")
    return content


def _inside(what: str, location: str, root: Path) -> Path:
    """The file of a location, proven to be a regular file under the model's folder; links are followed first."""
    outside = UserError(f"{what}: external data '{location}' lies outside the model's folder: put it beside the model")
    if not location or "\0" in location or Path(location).is_absolute() or "\\" in location:
        raise outside
    try:
        path = (root / location).resolve()
    except (OSError, RuntimeError):
        raise outside from None
    if root not in path.parents:
        raise outside
    refuse_if(not path.is_file(), f"{what}: external data '{location}' is missing: put it beside the model")
    return path


def _number(what: str, entries: dict[str, str], key: str) -> int | None:
    text = entries.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise UserError(f"{what}: external data has the {key} '{text[:40]}', not a byte count: export the model again")
    return int(text)


def widen_nibbles(model: Any) -> Any:
    """The model without tensors of four bits; itself where it has none."""
    declared = any(_target(node, {}) for node in model.graph.node)
    if not declared and not any(t.data_type in _NIBBLES for t in all_tensors(model.graph)):
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


def _widen(tensor: Any) -> None:
    what, count = f"tensor '{tensor.name}'", math.prod(tensor.dims)
    check_shape(what, tensor.dims, 1, LARGEST_CONSTANTS)
    raw = tensor.HasField("raw_data")
    stored = np.frombuffer(tensor.raw_data, np.uint8) if raw else np.asarray(list(tensor.int32_data), np.int64)
    if len(stored) != (count + 1) // 2 or (not raw and stored.size and not 0 <= stored.min() <= stored.max() <= 255):
        unit = "bytes" if raw else "values"
        needed = f"its shape {list(tensor.dims)} needs {(count + 1) // 2} bytes"
        raise UserError(f"{what} holds {len(stored)} {unit} of two elements each, {needed}: export it again")
    wide, *_ = _NIBBLES[tensor.data_type]
    values = numpy_helper.to_array(tensor).astype(helper.tensor_dtype_to_np_dtype(wide))
    tensor.CopyFrom(constant_of(tensor.name, values))


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
