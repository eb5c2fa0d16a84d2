"""Imports TFLite files with TVM's own importer."""

import struct
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.imported import Imported, ImportOptions, output_names, refuse_unknown_inputs
from tvm_pulp.frontend.library_errors import sentence
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, MOST_NODES, check_shape, read_file
from tvm_pulp.frontend.relax_checks import check_module
from tvm_pulp.frontend.tflite_operators import indices
from tvm_pulp.qnn.tensor_spec import RANGES

# A flatbuffer carries its file identifier right after the root offset.
_IDENTIFIER = b"TFL3"
# Types that biases may have, and nothing else that is quantized.
_NO_ACTIVATIONS = ("int64", "uint32", "bool")


def import_tflite(path: Path, options: ImportOptions | None = None) -> Imported:
    """The file as Relax: quantize/dequantize around float operators, NHWC."""
    options = options or ImportOptions()
    model = _model(path, read(path))
    graph = model.Subgraphs(0)
    inputs, outputs = ([name_of(graph, i) for i in indices(graph, end)] for end in ("Inputs", "Outputs"))
    refuse_unknown_inputs("--input-shapes", options.input_shapes, inputs)
    for name, shape in options.input_shapes.items():
        check_shape(f"--input-shapes: input '{name}'", shape, 4)
    refuse_if(options.input_types, "--input-types: a TFLite file states the types of its inputs; leave the option out")
    module = _import(path, model, options)
    check_module(module)
    main = module["main"]
    if len(main.params) != len(inputs):
        raise UserError(f"'{path}': the importer found {len(main.params)} inputs, the file lists {len(inputs)}")
    # The attribute repeats every weight.
    module["main"] = main.without_attr("params")
    return Imported(module, tuple(inputs), output_names(outputs), "tflite")


def read(path: Path) -> bytes:
    """Bytes of a file that starts like a TFLite model."""
    content = read_file(path, "is larger than 2 GiB: no TFLite model is")
    if len(content) < 16 or content[4:8] != _IDENTIFIER:
        raise UserError(f"'{path}' is not a TFLite model: check the file or --model-format")
    return content


def _model(path: Path, content: bytes) -> Any:
    import tflite

    from tvm_pulp.frontend.tflite_names import with_unique_names

    try:
        model = tflite.Model.GetRootAsModel(content, 0)
        if model.SubgraphsLength() < 1 or model.Subgraphs(0).OutputsLength() < 1:
            raise UserError(f"'{path}' holds no network: check the file")
        check_model(model, len(content))
        return with_unique_names(model)
    except (struct.error, IndexError, ValueError, TypeError, AttributeError, OverflowError):
        raise UserError(f"'{path}' is damaged or truncated: fetch or export it again") from None


def _import(path: Path, model: Any, options: ImportOptions) -> Any:
    from tvm.error import OpNotImplemented
    from tvm.relax.frontend.tflite import from_tflite

    from tvm_pulp.frontend.tflite_converter import TfliteConverter
    from tvm_pulp.qnn import lineage
    from tvm_pulp.qnn.abandoned_builder import closed_on_error

    made: list[TfliteConverter] = []
    open_builder = ExitStack()

    def converter(*arguments: Any, **settings: Any) -> TfliteConverter:
        made.append(TfliteConverter(*arguments, **settings))
        open_builder.enter_context(closed_on_error(made[-1].bb))
        return made[-1]

    try:
        with open_builder:
            module = from_tflite(model, shape_dict=dict(options.input_shapes) or None, op_converter=converter)
        return lineage.of_imported(module, {k: v for each in made for k, v in each.named.items()})
    except UserError as error:
        raise UserError(f"'{path}': {error}") from None
    except (OpNotImplemented, NotImplementedError) as error:
        raise UserError(f"'{path}': {sentence(error, 300)}: replace these operators or use ONNX") from None
    except (struct.error, IndexError, UnicodeDecodeError):
        raise UserError(f"'{path}' is damaged or truncated: fetch or export it again") from None
    except Exception as error:  # the importer asserts on what it does not support, in many classes
        raise UserError(f"'{path}' cannot be imported ({sentence(error, 300)}): check the model") from None


_TYPES = ("float32", "int32", "uint8", "int64", "bool", "int16", "int8", "uint32", "uint16")


@cache
def _known_types() -> dict[int, str]:
    """Types that tensors may have, by the schema's numbers."""
    from tflite.TensorType import TensorType

    return {getattr(TensorType, name.upper()): name for name in _TYPES}


def check_model(model: Any, file_bytes: int) -> None:
    """Raise for indices, sizes and quantization parameters that no converter writes."""
    graph = model.Subgraphs(0)
    if model.SubgraphsLength() > 1:
        raise UserError(f"the model has {model.SubgraphsLength()} graphs: export it without control flow")
    counts = (graph.TensorsLength(), graph.OperatorsLength(), model.BuffersLength(), model.OperatorCodesLength())
    # Each entry takes four bytes of the file at least.
    refuse_if(
        max(counts) * 4 > file_bytes or max(counts) > MOST_NODES,
        f"the model claims {max(counts)} tensors or operators, more than its file holds: fetch it again",
    )
    sizes = [_check_tensor(model, graph, index) for index in range(graph.TensorsLength())]
    if sum(sizes) > LARGEST_CONSTANTS:
        raise UserError(f"the model's constants need more than {LARGEST_CONSTANTS >> 20} MiB: it does not fit here")
    _check_operators(model, graph, {index for index, size in enumerate(sizes) if size})


def name_of(graph: Any, index: int) -> str:
    """Name of a tensor, for messages."""
    raw = graph.Tensors(index).Name()
    return str(raw.decode("utf-8", "replace")) if raw else f"#{index}"


def _check_tensor(model: Any, graph: Any, index: int) -> int:
    """Bytes of a constant, 0 for an activation."""
    tensor = graph.Tensors(index)
    what = f"tensor '{name_of(graph, index)}'"
    if tensor.Type() not in _known_types():
        raise UserError(f"{what} has the unsupported type number {tensor.Type()}: use int8, int32 or float32")
    refuse_if(tensor.Sparsity() is not None, f"{what} is sparse: export it dense")
    dtype = _known_types()[tensor.Type()]
    each = np.dtype(dtype).itemsize
    shape = [int(tensor.Shape(axis)) for axis in range(min(tensor.ShapeLength(), 64))]
    size = check_shape(what, shape, each)
    if not 0 <= tensor.Buffer() < model.BuffersLength():
        raise UserError(f"{what} names buffer {tensor.Buffer()}, which does not exist: fetch or export it again")
    stored = model.Buffers(tensor.Buffer()).DataLength()
    if stored and stored != size:
        raise UserError(f"{what} holds {stored} bytes, its shape {shape} needs {size}: fetch or export it again")
    if stored:
        check_shape(what, shape, each, LARGEST_CONSTANTS)
        model.Buffers(tensor.Buffer()).DataAsNumpy()  # raises where the bytes lie outside the file
    if tensor.Quantization() is not None:
        _check_quantization(what, dtype, shape, tensor.Quantization())
        wide = not stored and dtype in _NO_ACTIVATIONS and tensor.Quantization().ScaleLength()
        refuse_if(wide, f"{what} is an activation quantized to {dtype}: quantize the model to int8, uint8 or int16")
    return int(stored)


def _check_quantization(what: str, dtype: str, shape: list[int], quantization: Any) -> None:
    count = quantization.ScaleLength()
    if not count:
        return
    axis = quantization.QuantizedDimension()
    channels = shape[axis] if 0 <= axis < len(shape) else None
    if count != 1 and count != channels:
        raise UserError(f"{what} has {count} scales for axis {axis} of shape {shape}: quantize the model again")
    scales = np.asarray(quantization.ScaleAsNumpy())
    if not np.isfinite(scales).all() or (scales <= 0).any():
        raise UserError(f"{what}: scales must be positive and finite: quantize the model again")
    refuse_if(
        quantization.ZeroPointLength() not in (0, 1, count),
        f"{what} has {quantization.ZeroPointLength()} zero points for {count} scales: quantize it again",
    )
    if quantization.ZeroPointLength() and dtype in RANGES:
        zero_points = np.asarray(quantization.ZeroPointAsNumpy())
        low, high = RANGES[dtype]
        if zero_points.min() < low or zero_points.max() > high:
            raise UserError(f"{what}: a zero point lies outside {dtype}: quantize the model again")


def _check_operators(model: Any, graph: Any, constants: set[int]) -> None:
    tensors, inputs, outputs = graph.TensorsLength(), set(indices(graph, "Inputs")), indices(graph, "Outputs")
    if any(not 0 <= index < tensors for index in (*inputs, *outputs)):
        raise UserError("an input or output of the graph names a tensor that does not exist: fetch or export it again")
    if inputs & constants:
        raise UserError(f"input '{name_of(graph, min(inputs & constants))}' is a constant: fetch or export it again")
    # Variables hold what an inference leaves to the next; they begin as zeros.
    known = constants | inputs | {index for index in range(tensors) if graph.Tensors(index).IsVariable()}
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        what = f"operator {index} of the model"
        if not 0 <= operator.OpcodeIndex() < model.OperatorCodesLength():
            raise UserError(f"{what} names a kind that does not exist: fetch or export it again")
        reads, writes = indices(operator, "Inputs"), indices(operator, "Outputs")
        if any(not -1 <= t < tensors for t in reads) or any(not 0 <= t < tensors for t in writes) or not writes:
            raise UserError(f"{what} names a tensor that does not exist: fetch or export it again")
        for t in reads:
            if t >= 0 and t not in known:
                name = name_of(graph, t)
                raise UserError(f"{what} reads '{name}' before anything produces it: the file is damaged or cyclic")
        for t in writes:
            refuse_if(t in known, f"{what} writes '{name_of(graph, t)}' again: fetch or export the model again")
        known |= set(writes)
    for t in outputs:
        refuse_if(t not in known, f"output '{name_of(graph, t)}' is produced by nothing: export it again")
