"""Small quantized ONNX models for tests, and the two ways to run them: onnxruntime and the integer dialect."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.onnx_importer import import_standard
from tvm_pulp.qnn.interpret import interpret

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]


class Builder:
    """Collects nodes; operands are quantized with random parameters."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.inputs: list[Any] = []
        self.feeds: dict[str, np.ndarray] = {}
        self._count = 0

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, array: np.ndarray | float, stem: str = "c") -> str:
        name = self.name(stem)
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op: str, operands: Sequence[str], outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        names = [self.name("t") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(operands), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def parameters(self, dtype: str | None = None) -> tuple[str, str, str]:
        """Random type, scale and zero point of an activation: (type, scale name, zero point name)."""
        dtype = dtype or str(self.rng.choice(["int8", "uint8"]))
        scale = np.float32(np.exp(self.rng.uniform(-5, -2)))
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        zero = self.rng.integers(low, high + 1) if self.rng.random() < 0.7 else (low + high + 1) // 2
        return dtype, self.constant(scale, "scale"), self.constant(np.asarray(zero, dtype), "zero")

    def integers(self, shape: Sequence[int], dtype: str | None = None) -> tuple[str, str, str]:
        """A quantized graph input: (name, scale, zero point)."""
        dtype, scale, zero = self.parameters(dtype)
        name = self.name("x")
        info = np.iinfo(dtype)
        self.feeds[name] = self.rng.integers(info.min, info.max + 1, shape).astype(dtype)
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return name, scale, zero

    def activation(self, shape: Sequence[int], dtype: str | None = None) -> str:
        """A dequantized graph input."""
        return str(self.node("DequantizeLinear", self.integers(shape, dtype)))

    def weight_integers(self, shape: Sequence[int], axis: int, per_channel: bool) -> tuple[str, str, str]:
        values = self.rng.integers(-127, 128, shape).astype(np.int8)
        channels = shape[axis] if per_channel else 1
        scale = np.exp(self.rng.uniform(-6, -4, channels)).astype(np.float32)
        zero = np.zeros(channels, np.int8)
        if not per_channel:
            scale, zero = scale.reshape(()), np.asarray(self.rng.integers(-5, 6), np.int8)
        return self.constant(values, "w"), self.constant(scale, "ws"), self.constant(zero, "wz")

    def weight(self, shape: Sequence[int], axis: int = 0) -> str:
        """A dequantized constant, per tensor or per channel."""
        per_channel = bool(self.rng.random() < 0.6)
        attributes = {"axis": axis} if per_channel else {}
        return str(self.node("DequantizeLinear", self.weight_integers(shape, axis, per_channel), **attributes))

    def quantized(self, real: str) -> str:
        """The value quantized to a scale that fits its range."""
        dtype, scale, zero = self.fitting(real)
        del dtype
        return str(self.node("QuantizeLinear", [real, scale, zero]))

    def fitting(self, real: str) -> tuple[str, str, str]:
        """Type, scale and zero point whose range roughly holds a value."""
        (values,) = onnxruntime_run(self.model([real], TensorProto.FLOAT), self.feeds)
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 1e-3)
        scale = np.float32((high - low) / 255 * self.rng.uniform(0.7, 1.3))
        dtype = str(self.rng.choice(["int8", "uint8"]))
        zero = np.clip(round(-low / scale), 0, 255) - (128 if dtype == "int8" else 0)
        return dtype, self.constant(scale, "scale"), self.constant(np.asarray(zero, dtype), "zero")

    def model(self, outputs: Sequence[str], element: int = TensorProto.UNDEFINED) -> Any:
        infos = [helper.make_tensor_value_info(o, element, None) for o in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, infos, self.initializers)
        model = helper.make_model(graph, opset_imports=OPSETS)
        model.ir_version = 8
        return model if element else onnx.shape_inference.infer_shapes(model)

    def typed_model(self, outputs: Sequence[str]) -> Any:
        """The model with the element types of its outputs, which onnxruntime insists on."""
        types = {}
        for node in self.nodes:
            # The zero point has the type of the result; it is the last operand, but for these.
            places = {"QLinearConcat": 1, "QLinearConv": 7}
            zero = places.get(node.op_type, len(node.input) - 1) if node.op_type.startswith("Q") else -1
            for name in node.output:
                types[name] = self._type_of(node.input[zero]) if zero >= 0 else TensorProto.FLOAT
                if node.op_type in ("ConvInteger", "MatMulInteger"):
                    types[name] = TensorProto.INT32
        infos = [helper.make_tensor_value_info(o, types[o], None) for o in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, infos, self.initializers)
        model = helper.make_model(graph, opset_imports=OPSETS)
        model.ir_version = 8
        return model

    def _type_of(self, name: str) -> int:
        return int(next(i.data_type for i in self.initializers if i.name == name))


def onnxruntime_run(model: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of onnxruntime, graph optimizations disabled."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def canonical(model: Any, options: ImportOptions | None = None) -> Any:
    """The model in the integer dialect."""
    return canonicalize(import_standard(from_model(model), options or ImportOptions()))


def dialect_run(module: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of the dialect's numpy references."""
    return interpret(module, list(feeds.values()))


def operators(module: Any) -> set[str]:
    """Names of the operators of a module; the dialect's without their prefix."""
    found = set()
    for block in module["main"].body.blocks:
        for binding in block.bindings:
            name = getattr(getattr(binding.value, "op", None), "name", None)
            if name:
                found.add(str(name).removeprefix("tvm_pulp.qnn."))
    return found
