"""ONNX: nodes, attributes, constants, types, shapes and edges of valid models, which stay protocol buffers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.fuzz import seed_models
from tests.fuzz.draws import NAMES, NUMBERS, REALS, Random, edit_bytes, one
from tests.fuzz.formats.format import Format, Trial

_OPERATORS = [
    *("Conv", "Relu", "Add", "Mul", "MatMul", "Gemm", "Softmax", "Reshape", "Transpose", "Concat", "Slice", "Gather"),
    *("Resize", "Pad", "LSTM", "QuantizeLinear", "DequantizeLinear", "QLinearConv", "ConvTranspose", "ReduceMean"),
    *("ConstantOfShape", "Tile", "Expand", "Range", "If", "Loop", "Identity", "Cast", "Where", "TopK", "NonZero"),
    *("LayerNormalization", "Split", "AveragePool", "MaxPool", "GlobalAveragePool", "Einsum", "ScatterND", "ArgMax"),
    *("RequantShift", "iSoftmax", "Mystery", "BatchNormalization", "DepthToSpace", "OneHot", "CumSum", "Upsample"),
]


def _values(model: Any) -> list[str]:
    graph = model.graph
    names = [i.name for i in graph.input] + [i.name for i in graph.initializer]
    return names + [o for n in graph.node for o in n.output]


def drop_node(rng: Random, model: Any) -> None:
    if model.graph.node:
        del model.graph.node[int(rng.integers(len(model.graph.node)))]


def repeat_node(rng: Random, model: Any) -> None:
    node = one(rng, model.graph.node)
    if node is not None:
        model.graph.node.add().CopyFrom(node)


def rename_operator(rng: Random, model: Any) -> None:
    node = one(rng, model.graph.node)
    if node is not None:
        node.op_type = one(rng, _OPERATORS)
        if rng.random() < 0.2:
            node.domain = one(rng, ["", "com.microsoft", "com.example"])


def rewire(rng: Random, model: Any) -> None:
    node = one(rng, model.graph.node)
    if node is not None and node.input:
        place = int(rng.integers(len(node.input)))
        choice = rng.random()
        if choice < 0.6:
            node.input[place] = one(rng, _values(model))
        elif choice < 0.8:
            del node.input[place]
        else:
            node.input.append(one(rng, _values(model)))


def attribute(rng: Random, model: Any) -> None:
    node = one(rng, [n for n in model.graph.node if n.attribute])
    if node is None:
        return
    place = int(rng.integers(len(node.attribute)))
    found, choice = node.attribute[place], rng.random()
    if choice < 0.15:
        del node.attribute[place]
    elif choice < 0.25:
        found.type = int(rng.integers(0, 16))
    elif found.ints:
        found.ints[int(rng.integers(len(found.ints)))] = one(rng, NUMBERS)
        if rng.random() < 0.3:
            del found.ints[int(rng.integers(len(found.ints)))]
    elif found.type == onnx.AttributeProto.FLOAT:
        found.f = one(rng, REALS)
    elif found.type == onnx.AttributeProto.STRING:
        found.s = one(rng, [b"", b"SAME_UPPER", b"reflect", b"nearest", b"\xff\xfe", b"linear"])
    else:
        found.i = one(rng, NUMBERS)


def add_attribute(rng: Random, model: Any) -> None:
    node = one(rng, model.graph.node)
    if node is not None:
        name = one(rng, ["axis", "axes", "keepdims", "group", "strides", "pads", "auto_pad", "perm", "to", "mode"])
        value = one(rng, [one(rng, NUMBERS), [one(rng, NUMBERS) for _ in range(3)], b"text", 0.5])
        node.attribute.append(helper.make_attribute(name, value))


def initializer_header(rng: Random, model: Any) -> None:
    tensor = one(rng, model.graph.initializer)
    if tensor is None:
        return
    choice = rng.random()
    if choice < 0.4 and tensor.dims:
        tensor.dims[int(rng.integers(len(tensor.dims)))] = one(rng, NUMBERS)
    elif choice < 0.5:
        tensor.dims.append(one(rng, NUMBERS))
    elif choice < 0.7:
        tensor.data_type = int(rng.integers(0, 26))
    elif choice < 0.8:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=one(rng, ["/etc/passwd", "../x", "missing.bin", "", "."]))
    else:
        model.graph.initializer.remove(tensor)


def initializer_values(rng: Random, model: Any) -> None:
    tensor = one(rng, model.graph.initializer)
    if tensor is None or not tensor.raw_data:
        return
    if tensor.data_type == onnx.TensorProto.FLOAT and rng.random() < 0.7:
        values = np.frombuffer(tensor.raw_data, np.float32).copy()
        values[int(rng.integers(values.size))] = one(rng, REALS)
        tensor.raw_data = values.tobytes()
    elif tensor.data_type == onnx.TensorProto.INT64:
        values = np.frombuffer(tensor.raw_data, np.int64).copy()
        values[int(rng.integers(values.size))] = one(rng, NUMBERS)
        tensor.raw_data = values.tobytes()
    else:
        tensor.raw_data = tensor.raw_data[: int(rng.integers(len(tensor.raw_data)))]


def input_type(rng: Random, model: Any) -> None:
    value = one(rng, model.graph.input)
    if value is None:
        return
    kind, choice = value.type.tensor_type, rng.random()
    if choice < 0.5 and kind.shape.dim:
        dim = one(rng, kind.shape.dim)
        dim.dim_value = one(rng, NUMBERS)
    elif choice < 0.6:
        kind.shape.dim.add().dim_value = one(rng, [1, 2, 1 << 30])
    elif choice < 0.7 and kind.shape.dim:
        one(rng, kind.shape.dim).dim_param = "n"
    elif choice < 0.8:
        kind.ClearField("shape")
    elif choice < 0.95:
        kind.elem_type = int(rng.integers(0, 26))
    else:
        value.ClearField("type")


def ends(rng: Random, model: Any) -> None:
    graph, choice = model.graph, rng.random()
    if choice < 0.4 and graph.output:
        graph.output[0].name = one(rng, [*_values(model), "nowhere"])
    elif choice < 0.6 and graph.output:
        graph.output.add().CopyFrom(graph.output[0])
    elif choice < 0.7:
        del graph.output[:]
    elif graph.input:
        del graph.input[int(rng.integers(len(graph.input)))]


def version(rng: Random, model: Any) -> None:
    if rng.random() < 0.8 and model.opset_import:
        model.opset_import[0].version = one(rng, [-1, 0, 1, 6, 9, 11, 13, 18, 21, 23, 99, 1 << 62])
    else:
        del model.opset_import[:]


def names(rng: Random, model: Any) -> None:
    """Rename one value everywhere, so that the graph stays whole."""
    old, new = one(rng, _values(model)), one(rng, NAMES)
    for node in model.graph.node:
        node.input[:] = [new if n == old else n for n in node.input]
        node.output[:] = [new if n == old else n for n in node.output]
        if rng.random() < 0.3:
            node.name = one(rng, NAMES)
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        value.name = new if value.name == old else value.name


STRUCTURE: list[Callable[[Random, Any], None]] = [
    *(drop_node, repeat_node, rename_operator, rewire, rewire, attribute, attribute, add_attribute),
    *(initializer_header, initializer_values, initializer_values, input_type, ends, version, names),
]


def edit(rng: Random, content: bytes) -> bytes:
    """One change; of bytes now and then."""
    if rng.random() < 0.1:
        return edit_bytes(rng, content)
    model = onnx.load_model_from_string(content)
    one(rng, STRUCTURE)(rng, model)
    return bytes(model.SerializeToString())


def seeds(folder: Path) -> Sequence[Path]:
    """Quantized, float and integer networks."""
    found = []
    for name, build in seed_models.ONNX.items():
        found.append(folder / f"{name}.onnx")
        found[-1].write_bytes(build(np.random.default_rng(1)).SerializeToString())
    return found


# Machines of every kind; the host is the one that results are compared on.
_TARGETS = (
    *([],) * 6,
    ["--target", "c", "--soc", "siracusa"],
    ["--target", "uma-neureka"],
    ["--target", "uma-ita"],
    ["--target", "c", "--soc", "cortex-m4"],
)


def compile_command(rng: Random, trial: Trial) -> list[str]:
    """Compile it for some machine."""
    return ["compile", str(trial.mutant), "-q", "-o", str(trial.out / "model.tar"), *one(rng, _TARGETS)]


FORMAT = Format("onnx", seeds, edit, compile_command, compare=4)
