"""TFLite models of one int8 operator, and TFLite's reference kernels to run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tensor:
    """One tensor of the model; constants carry data."""

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float | Sequence[float] | None = None
    zero_point: int = 0
    data: np.ndarray | None = None
    axis: int = 0


def write(path: Path, op: str, inputs: Sequence[Tensor], output: Tensor, options: Any = None, version: int = 2) -> None:
    """A model of one operator; constant operands are not graph inputs."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    types = {t: getattr(schema.TensorType, t.upper()) for t in ("int8", "uint8", "int32", "float32")}
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.buffers, model.subgraphs = 3, [schema.BufferT()], [graph]
    graph.tensors = []
    for index, tensor in enumerate([*inputs, output]):
        made = schema.TensorT()
        made.shape, made.type, made.name, made.buffer = list(tensor.shape), types[tensor.dtype], f"t{index}".encode(), 0
        if tensor.data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(tensor.data).tobytes(), np.uint8)
            model.buffers.append(buffer)
            made.buffer = len(model.buffers) - 1
        if tensor.scale is not None:
            made.quantization = schema.QuantizationParametersT()
            scales = np.atleast_1d(np.asarray(tensor.scale, np.float32))
            made.quantization.scale = scales.tolist()
            made.quantization.zeroPoint = [tensor.zero_point] * scales.size
            made.quantization.quantizedDimension = tensor.axis
        graph.tensors.append(made)
    operator, code = schema.OperatorT(), schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, op)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
    model.operatorCodes = [code]
    operator.inputs, operator.outputs = list(range(len(inputs))), [len(inputs)]
    if options is not None:
        operator.builtinOptions = options
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__.removesuffix("T"))
    graph.operators = [operator]
    graph.inputs = [i for i, t in enumerate(inputs) if t.data is None]
    graph.outputs = [len(inputs)]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))


def reference_run(path: Path, feeds: Sequence[np.ndarray]) -> np.ndarray:
    """Output of TFLite's reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    machine = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    machine.allocate_tensors()
    for detail, feed in zip(machine.get_input_details(), feeds, strict=True):
        machine.set_tensor(detail["index"], feed)
    machine.invoke()
    return np.asarray(machine.get_tensor(machine.get_output_details()[0]["index"]))
