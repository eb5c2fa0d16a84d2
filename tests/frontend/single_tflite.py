"""TFLite models of a few operators, and TFLite's reference kernels to run them."""

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
    variable: bool = False


@dataclass(frozen=True)
class Operation:
    """One operator of a model: its name, places of its tensors, options, version and intermediate tensors."""

    op: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Any = None
    version: int = 2
    intermediates: Sequence[int] = ()


def write(path: Path, op: str, inputs: Sequence[Tensor], output: Tensor, options: Any = None, version: int = 2) -> None:
    """A model of one operator; constant operands are not graph inputs."""
    operation = Operation(op, range(len(inputs)), [len(inputs)], options, version)
    ends = [i for i, t in enumerate(inputs) if t.data is None], [len(inputs)]
    write_graph(path, [*inputs, output], [operation], *ends)


def write_graph(
    path: Path,
    tensors: Sequence[Tensor],
    operations: Sequence[Operation],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> None:
    """A model of several operators; tensors are called t0, t1 and so on."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.buffers, model.subgraphs = 3, [schema.BufferT()], [graph]
    graph.tensors = [_tensor(model, f"t{index}", tensor) for index, tensor in enumerate(tensors)]
    model.operatorCodes, graph.operators = [], []
    for operation in operations:
        operator, code = schema.OperatorT(), schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, operation.op)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), operation.version
        operator.opcodeIndex = len(model.operatorCodes)
        model.operatorCodes.append(code)
        operator.inputs, operator.outputs = list(operation.inputs), list(operation.outputs)
        operator.intermediates = list(operation.intermediates)
        if operation.options is not None:
            operator.builtinOptions = operation.options
            kind = type(operation.options).__name__.removesuffix("T")
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        graph.operators.append(operator)
    graph.inputs, graph.outputs = list(inputs), list(outputs)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))


def _tensor(model: Any, name: str, tensor: Tensor) -> Any:
    from ai_edge_litert import schema_py_generated as schema

    made = schema.TensorT()
    made.shape, made.type = list(tensor.shape), getattr(schema.TensorType, tensor.dtype.upper())
    made.name, made.buffer, made.isVariable = name.encode(), 0, tensor.variable
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
    return made


def options_of(name: str, **values: Any) -> Any:
    """Options of an operator."""
    from ai_edge_litert import schema_py_generated as schema

    made = getattr(schema, f"{name}T")()
    for key, value in values.items():
        setattr(made, key, value)
    return made


def activation(rng: np.random.Generator) -> int:
    """A fused activation function."""
    from ai_edge_litert import schema_py_generated as schema

    kinds = schema.ActivationFunctionType
    return int(rng.choice([kinds.NONE, kinds.RELU, kinds.RELU6, kinds.RELU_N1_TO_1]))


def reference_run(path: Path, feeds: Sequence[np.ndarray]) -> np.ndarray:
    """Output of TFLite's reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    machine = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    machine.allocate_tensors()
    for detail, feed in zip(machine.get_input_details(), feeds, strict=True):
        machine.set_tensor(detail["index"], feed)
    machine.invoke()
    return np.asarray(machine.get_tensor(machine.get_output_details()[0]["index"]))
