"""Mutations of ONNX models: bytes, and structure that stays a valid protocol buffer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper

Random = np.random.Generator
_NUMBERS = [-(1 << 63), -(1 << 31), -7, -2, -1, 0, 1, 2, 3, 5, 17, 255, 1 << 16, 1 << 31, 1 << 40, (1 << 63) - 1]
_REALS = [0.0, -1.0, 1e-38, 1e38, float("nan"), float("inf"), -float("inf"), 1e-3, 3.0]
_NAMES = ["", "a*/b", 'q"uote', "new\nline", "../../up", "int", "while", "größe", "\u202e", "x" * 5000, "%s%n", "\\"]
_OPERATORS = [
    *("Conv", "Relu", "Add", "Mul", "MatMul", "Gemm", "Softmax", "Reshape", "Transpose", "Concat", "Slice", "Gather"),
    *("Resize", "Pad", "LSTM", "QuantizeLinear", "DequantizeLinear", "QLinearConv", "ConvTranspose", "ReduceMean"),
    *("ConstantOfShape", "Tile", "Expand", "Range", "If", "Loop", "Identity", "Cast", "Where", "TopK", "NonZero"),
    *("LayerNormalization", "Split", "AveragePool", "MaxPool", "GlobalAveragePool", "Einsum", "ScatterND", "ArgMax"),
    *("RequantShift", "iSoftmax", "Mystery", "BatchNormalization", "DepthToSpace", "OneHot", "CumSum", "Upsample"),
]


def _one(rng: Random, items: Any) -> Any:
    return items[int(rng.integers(len(items)))] if len(items) else None


def _values(model: Any) -> list[str]:
    graph = model.graph
    names = [i.name for i in graph.input] + [i.name for i in graph.initializer]
    return names + [o for n in graph.node for o in n.output]


def drop_node(rng: Random, model: Any) -> None:
    if model.graph.node:
        del model.graph.node[int(rng.integers(len(model.graph.node)))]


def repeat_node(rng: Random, model: Any) -> None:
    node = _one(rng, model.graph.node)
    if node is not None:
        model.graph.node.add().CopyFrom(node)


def rename_operator(rng: Random, model: Any) -> None:
    node = _one(rng, model.graph.node)
    if node is not None:
        node.op_type = _one(rng, _OPERATORS)
        if rng.random() < 0.2:
            node.domain = _one(rng, ["", "com.microsoft", "com.example"])


def rewire(rng: Random, model: Any) -> None:
    node = _one(rng, model.graph.node)
    if node is not None and node.input:
        place = int(rng.integers(len(node.input)))
        choice = rng.random()
        if choice < 0.6:
            node.input[place] = _one(rng, _values(model))
        elif choice < 0.8:
            del node.input[place]
        else:
            node.input.append(_one(rng, _values(model)))


def attribute(rng: Random, model: Any) -> None:
    node = _one(rng, [n for n in model.graph.node if n.attribute])
    if node is None:
        return
    place = int(rng.integers(len(node.attribute)))
    found, choice = node.attribute[place], rng.random()
    if choice < 0.15:
        del node.attribute[place]
    elif choice < 0.25:
        found.type = int(rng.integers(0, 16))
    elif found.ints:
        found.ints[int(rng.integers(len(found.ints)))] = _one(rng, _NUMBERS)
        if rng.random() < 0.3:
            del found.ints[int(rng.integers(len(found.ints)))]
    elif found.type == onnx.AttributeProto.FLOAT:
        found.f = _one(rng, _REALS)
    elif found.type == onnx.AttributeProto.STRING:
        found.s = _one(rng, [b"", b"SAME_UPPER", b"reflect", b"nearest", b"\xff\xfe", b"linear"])
    else:
        found.i = _one(rng, _NUMBERS)


def add_attribute(rng: Random, model: Any) -> None:
    node = _one(rng, model.graph.node)
    if node is not None:
        name = _one(rng, ["axis", "axes", "keepdims", "group", "strides", "pads", "auto_pad", "perm", "to", "mode"])
        value = _one(rng, [_one(rng, _NUMBERS), [_one(rng, _NUMBERS) for _ in range(3)], b"text", 0.5])
        node.attribute.append(helper.make_attribute(name, value))


def initializer_header(rng: Random, model: Any) -> None:
    tensor = _one(rng, model.graph.initializer)
    if tensor is None:
        return
    choice = rng.random()
    if choice < 0.4 and tensor.dims:
        tensor.dims[int(rng.integers(len(tensor.dims)))] = _one(rng, _NUMBERS)
    elif choice < 0.5:
        tensor.dims.append(_one(rng, _NUMBERS))
    elif choice < 0.7:
        tensor.data_type = int(rng.integers(0, 26))
    elif choice < 0.8:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=_one(rng, ["/etc/passwd", "../x", "missing.bin", "", "."]))
    else:
        model.graph.initializer.remove(tensor)


def initializer_values(rng: Random, model: Any) -> None:
    tensor = _one(rng, model.graph.initializer)
    if tensor is None or not tensor.raw_data:
        return
    if tensor.data_type == onnx.TensorProto.FLOAT and rng.random() < 0.7:
        values = np.frombuffer(tensor.raw_data, np.float32).copy()
        values[int(rng.integers(values.size))] = _one(rng, _REALS)
        tensor.raw_data = values.tobytes()
    elif tensor.data_type == onnx.TensorProto.INT64:
        values = np.frombuffer(tensor.raw_data, np.int64).copy()
        values[int(rng.integers(values.size))] = _one(rng, _NUMBERS)
        tensor.raw_data = values.tobytes()
    else:
        tensor.raw_data = tensor.raw_data[: int(rng.integers(len(tensor.raw_data)))]


def input_type(rng: Random, model: Any) -> None:
    value = _one(rng, model.graph.input)
    if value is None:
        return
    kind, choice = value.type.tensor_type, rng.random()
    if choice < 0.5 and kind.shape.dim:
        dim = _one(rng, kind.shape.dim)
        dim.dim_value = _one(rng, _NUMBERS)
    elif choice < 0.6:
        kind.shape.dim.add().dim_value = _one(rng, [1, 2, 1 << 30])
    elif choice < 0.7 and kind.shape.dim:
        _one(rng, kind.shape.dim).dim_param = "n"
    elif choice < 0.8:
        kind.ClearField("shape")
    elif choice < 0.95:
        kind.elem_type = int(rng.integers(0, 26))
    else:
        value.ClearField("type")


def ends(rng: Random, model: Any) -> None:
    graph, choice = model.graph, rng.random()
    if choice < 0.4 and graph.output:
        graph.output[0].name = _one(rng, [*_values(model), "nowhere"])
    elif choice < 0.6 and graph.output:
        graph.output.add().CopyFrom(graph.output[0])
    elif choice < 0.7:
        del graph.output[:]
    elif graph.input:
        del graph.input[int(rng.integers(len(graph.input)))]


def version(rng: Random, model: Any) -> None:
    if rng.random() < 0.8 and model.opset_import:
        model.opset_import[0].version = _one(rng, [-1, 0, 1, 6, 9, 11, 13, 18, 21, 23, 99, 1 << 62])
    else:
        del model.opset_import[:]


def names(rng: Random, model: Any) -> None:
    """Rename one value everywhere, so that the graph stays whole."""
    old, new = _one(rng, _values(model)), _one(rng, _NAMES)
    for node in model.graph.node:
        node.input[:] = [new if n == old else n for n in node.input]
        node.output[:] = [new if n == old else n for n in node.output]
        if rng.random() < 0.3:
            node.name = _one(rng, _NAMES)
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        value.name = new if value.name == old else value.name


STRUCTURE: list[Callable[[Random, Any], None]] = [
    *(drop_node, repeat_node, rename_operator, rewire, rewire, attribute, attribute, add_attribute),
    *(initializer_header, initializer_values, initializer_values, input_type, ends, version, names),
]


def mutate_bytes(rng: Random, content: bytes) -> bytes:
    """Flip, overwrite, cut, insert or repeat a few bytes."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        if not data:
            break
        place, choice = int(rng.integers(len(data))), rng.random()
        if choice < 0.4:
            data[place] ^= 1 << int(rng.integers(8))
        elif choice < 0.6:
            data[place] = _one(rng, [0, 1, 127, 128, 255])
        elif choice < 0.7:
            del data[place:]
        elif choice < 0.8:
            del data[place : place + int(rng.integers(1, 9))]
        elif choice < 0.9:
            data[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 9))).astype(np.uint8))
        else:
            data[place : place + 4] = int(rng.integers(0, 1 << 32)).to_bytes(4, "little")
    return bytes(data)


def mutate(rng: Random, content: bytes) -> bytes:
    """A mutant of a serialized model."""
    if rng.random() < 0.3:
        return mutate_bytes(rng, content)
    model = onnx.load_model_from_string(content)
    for _ in range(int(rng.integers(1, 4))):
        try:
            _one(rng, STRUCTURE)(rng, model)
        except (ValueError, TypeError, AttributeError):  # earlier mutations may have left nothing to change
            continue
    return bytes(model.SerializeToString())
