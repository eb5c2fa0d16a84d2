"""PT2E (torchao) quantization of a graph of the newer exporter, as torch.onnx writes the result.

Weights are DequantizeLinear nodes ahead of all others, biases stay float. Where pairs of QuantizeLinear and
DequantizeLinear stand is decided by the backend's quantizer: X86InductorQuantizer keeps a convolution, the residual
sum after it and its ReLU as one float expression; XNNPACKQuantizer quantizes the result of every operator.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

WEIGHTED = ("Conv", "Gemm")


def _values(model: Any, samples: Sequence[dict[str, np.ndarray]]) -> dict[str, tuple[float, float]]:
    """Smallest and largest value of every tensor, zero included."""
    import onnxruntime

    every = onnx.ModelProto.FromString(model.SerializeToString())
    known = {o.name for o in every.graph.output}
    names = [o for n in every.graph.node for o in n.output if o not in known]
    every.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
    session = onnxruntime.InferenceSession(every.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = [o.name for o in session.get_outputs()]
    ranges: dict[str, tuple[float, float]] = {}
    for feeds in samples:
        for name, array in [*feeds.items(), *zip(wanted, session.run(wanted, feeds), strict=True)]:
            low, high = ranges.get(name, (0.0, 0.0))
            ranges[name] = min(low, float(array.min())), max(high, float(array.max()))
    return ranges


def _x86_places(nodes: Sequence[Any]) -> set[str]:
    """Activations of products, and the operand of a residual sum that is not its convolution."""
    producer = {n.output[0]: n for n in nodes}
    places = {n.input[0] for n in nodes if n.op_type in WEIGHTED}
    for node in (n for n in nodes if n.op_type == "Add"):
        fused = next(i for i in node.input if producer[i].op_type == "Conv")
        places |= set(node.input) - {fused}
    return places


def _xnnpack_places(nodes: Sequence[Any]) -> set[str]:
    """Every result, but that of an operator whose ReLU follows."""
    rectified = {n.input[0] for n in nodes if n.op_type == "Relu"}
    return {nodes[0].input[0]} | {n.output[0] for n in nodes if n.output[0] not in rectified}


def _quantized(model: Any, samples: Sequence[dict[str, np.ndarray]], dtype: str, places: set[str]) -> Any:
    graph, ranges = model.graph, _values(model, samples)
    weights = {n.input[1] for n in graph.node if n.op_type in WEIGHTED}
    initializers: list[Any] = []
    first: list[Any] = []

    def constant(name: str, array: np.ndarray) -> str:
        initializers.append(numpy_helper.from_array(array, name))
        return name

    for tensor in graph.initializer:
        if tensor.name not in weights:
            initializers.append(tensor)
            continue
        real = numpy_helper.to_array(tensor)
        scale = (np.abs(real).max(axis=tuple(range(1, real.ndim))) / 127).astype(np.float32)
        integers = np.rint(real / scale.reshape(-1, *[1] * (real.ndim - 1))).clip(-127, 127).astype(np.int8)
        operands = [constant(tensor.name, integers), constant(f"{tensor.name}_scale", scale)]
        operands.append(constant(f"{tensor.name}_zero_point", np.zeros(scale.size, np.int8)))
        first.append(helper.make_node("DequantizeLinear", operands, [f"dq_{tensor.name}"], axis=0))
    replaced = {name: f"dq_{name}" for name in weights}
    limits = np.iinfo(dtype)

    def pair(name: str, source: str, result: str) -> list[Any]:
        low, high = ranges[name]
        scale = np.float32(max(high - low, 1e-6) / 255)
        zero = np.asarray(np.clip(limits.min - np.rint(low / scale), limits.min, limits.max), dtype)
        operands = [constant(f"{name}_scale", np.asarray(scale)), constant(f"{name}_zero_point", zero)]
        made = [helper.make_node("QuantizeLinear", [source, *operands], [f"q_{name}"], name=f"q_{name}", axis=1)]
        made.append(helper.make_node("DequantizeLinear", [f"q_{name}", *operands], [result], name=f"dq_{name}", axis=1))
        return made

    nodes: list[Any] = []
    outputs = {o.name for o in graph.output}
    for name in (i.name for i in graph.input if i.name in places):
        nodes += pair(name, name, f"dq_{name}")
        replaced[name] = f"dq_{name}"
    for node in graph.node:
        copy = onnx.NodeProto.FromString(node.SerializeToString())
        copy.input[:] = [replaced.get(i, i) for i in node.input]
        nodes.append(copy)
        name = node.output[0]
        if name in places and name in outputs:
            copy.output[0] = f"real_{name}"
            nodes += pair(name, f"real_{name}", name)
        elif name in places:
            nodes += pair(name, name, f"dq_{name}")
            replaced[name] = f"dq_{name}"
    made = helper.make_graph([*first, *nodes], graph.name, graph.input, graph.output, initializers)
    result = helper.make_model(made, opset_imports=model.opset_import, ir_version=8, producer_name="pytorch")
    onnx.checker.check_model(result)
    return result


def x86_inductor(model: Any, samples: Sequence[dict[str, np.ndarray]]) -> Any:
    return _quantized(model, samples, "uint8", _x86_places(model.graph.node))


def xnnpack(model: Any, samples: Sequence[dict[str, np.ndarray]]) -> Any:
    return _quantized(model, samples, "int8", _xnnpack_places(model.graph.node))
