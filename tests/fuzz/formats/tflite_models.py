"""TFLite: tensors, quantization, buffers, options, edges and tables of operators; bytes of the flatbuffer too."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import seed_models
from tests.fuzz.draws import NUMBERS, REALS, Random, edit_bytes, one
from tests.fuzz.formats.format import Format
from tests.fuzz.formats.onnx_models import compile_command

_NEAR = (-1, 0, 1, 2, 3, 7, 127, 1 << 20, (1 << 31) - 1, -(1 << 31))


def seeds(folder: Path) -> Sequence[Path]:
    """One operator each, and a network of several."""
    return seed_models.write_tflite(folder, np.random.default_rng(2))


def edit(rng: Random, content: bytes) -> bytes:
    """One change of the object that the file is; of bytes now and then, and where there is no object."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    if rng.random() < 0.25:
        return edit_bytes(rng, content)
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    one(rng, _CHANGES)(rng, model)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _graph(model: Any) -> Any:
    return model.subgraphs[0]


def tensor_shape(rng: Random, model: Any) -> None:
    tensor = one(rng, _graph(model).tensors)
    shape = [] if tensor.shape is None else list(tensor.shape)
    choice = rng.random()
    if choice < 0.6 and shape:
        shape[int(rng.integers(len(shape)))] = one(rng, _NEAR)
    elif choice < 0.8:
        shape.append(one(rng, _NEAR))
    else:
        shape = shape[:-1]
    tensor.shape = shape


def tensor_type(rng: Random, model: Any) -> None:
    one(rng, _graph(model).tensors).type = int(rng.integers(0, 20))


def quantization(rng: Random, model: Any) -> None:
    found = [t.quantization for t in _graph(model).tensors if t.quantization is not None]
    kind, choice = one(rng, found), rng.random()
    if choice < 0.3:
        kind.scale = [one(rng, REALS)] * one(rng, [0, 1, 4])
    elif choice < 0.6:
        kind.zeroPoint = [one(rng, NUMBERS)] * one(rng, [0, 1, 4])
    elif choice < 0.75:
        kind.quantizedDimension = one(rng, _NEAR)
    elif choice < 0.9:
        scales = [] if kind.scale is None else list(kind.scale)
        kind.scale = [*scales, 0.5] if rng.integers(2) else scales[1:]
    else:
        kind.min, kind.max = [one(rng, REALS)], [one(rng, REALS)]


def lose_quantization(rng: Random, model: Any) -> None:
    one(rng, _graph(model).tensors).quantization = None


def buffer(rng: Random, model: Any) -> None:
    found = [b for b in model.buffers if b.data is not None]
    chosen = one(rng, found)
    data, choice = np.array(chosen.data, np.uint8), rng.random()
    if choice < 0.5 and data.size:
        data[int(rng.integers(data.size))] = one(rng, [0, 1, 127, 128, 255])
    elif choice < 0.8:
        data = data[: int(rng.integers(data.size + 1))]
    else:
        data = np.append(data, data)
    chosen.data = data


def tensor_buffer(rng: Random, model: Any) -> None:
    one(rng, _graph(model).tensors).buffer = one(rng, [0, 1, len(model.buffers) - 1, len(model.buffers), 1 << 31])


def option(rng: Random, model: Any) -> None:
    found = [o.builtinOptions for o in _graph(model).operators if o.builtinOptions is not None]
    options = one(rng, found)
    name = one(rng, sorted(vars(options)))
    value = getattr(options, name)
    if isinstance(value, float):
        setattr(options, name, one(rng, REALS))
    elif isinstance(value, int):
        setattr(options, name, one(rng, [0, 1, 2, 3, 5, 100]))
    else:
        setattr(options, name, [one(rng, _NEAR)])


def lose_options(rng: Random, model: Any) -> None:
    operator = one(rng, _graph(model).operators)
    operator.builtinOptions = None
    if rng.integers(2):
        operator.builtinOptionsType = 0


def operator_code(rng: Random, model: Any) -> None:
    code = one(rng, model.operatorCodes)
    choice = rng.random()
    if choice < 0.7:
        code.builtinCode = int(rng.integers(0, 210))
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    elif choice < 0.85:
        code.version = one(rng, [0, 1, 2, 3, 9, 1 << 20])
    else:
        one(rng, _graph(model).operators).opcodeIndex = one(rng, [0, 1, 99])


def edge(rng: Random, model: Any) -> None:
    graph = _graph(model)
    owner = one(rng, [*graph.operators, graph])
    name = one(rng, ["inputs", "outputs"])
    ends = [] if getattr(owner, name) is None else [int(end) for end in getattr(owner, name)]
    other = one(rng, [-1, 99, *range(len(graph.tensors))])
    choice = rng.random()
    if choice < 0.5 and ends:
        ends[int(rng.integers(len(ends)))] = other
    elif choice < 0.75 and ends:
        del ends[int(rng.integers(len(ends)))]
    else:
        ends.append(other)
    setattr(owner, name, ends)


def repeat_or_drop(rng: Random, model: Any) -> None:
    owner = one(rng, [_graph(model).operators, _graph(model).tensors, model.buffers, model.operatorCodes])
    if rng.integers(2):
        owner.append(one(rng, owner))
    else:
        del owner[int(rng.integers(len(owner)))]


def subgraphs(rng: Random, model: Any) -> None:
    model.subgraphs = one(rng, [[], [_graph(model)] * 2])


def tensor_name(rng: Random, model: Any) -> None:
    one(rng, _graph(model).tensors).name = one(rng, [b"", b"\xff", b"a*/b", b"x" * 5000, b"t0", None])


_CHANGES = [
    *(tensor_shape, tensor_shape, tensor_type, quantization, quantization, quantization, lose_quantization, buffer),
    *(buffer, tensor_buffer, option, option, lose_options, operator_code, edge, edge, repeat_or_drop, tensor_name),
    subgraphs,
]

FORMAT = Format("tflite", seeds, edit, compile_command, needs=("ai_edge_litert.schema_py_generated",), compare=4)
