"""ONNX graphs under construction, written as PyTorch's exporters write them.

"legacy" is the TorchScript exporter (operator set 17, small values as Constant nodes, bias before product in an Add);
"dynamo" is the newer one (operator set 20, small values as initializers, every attribute spelled out). What differs
between them beyond that is written by the layers that differ.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LEGACY, DYNAMO = "legacy", "dynamo"
# Both, and the operator set each writes.
EXPORTERS = {LEGACY: 17, DYNAMO: 20}
TO_THE_END = np.iinfo(np.int64).max


class ExportedGraph:
    """Collects nodes; values are names. Weights are seeded."""

    def __init__(self, name: str, exporter: str = LEGACY, seed: int = 0) -> None:
        self.exporter = exporter
        self.rng = np.random.default_rng([seed, *name.encode()])
        self._name = name
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._count = 0

    @property
    def legacy(self) -> bool:
        return self.exporter == LEGACY

    def input(self, name: str, shape: Sequence[int], element: int = TensorProto.FLOAT) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, element, list(shape)))
        return name

    def output(self, value: str, shape: Sequence[int]) -> None:
        self._outputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, list(shape)))

    def parameter(self, values: np.ndarray, name: str = "") -> str:
        """A trained value: always an initializer."""
        self._count += 1
        stem = name or (f"onnx::MatMul_{self._count}" if self.legacy else f"val_{self._count}")
        chosen = stem if stem not in self._initializers else f"{stem}.{self._count}"
        self._initializers[chosen] = numpy_helper.from_array(np.ascontiguousarray(values), chosen)
        return chosen

    def constant(self, values: Any, dtype: Any = np.float32) -> str:
        """A value of the program: a Constant node, or an initializer that equal values share."""
        array = np.asarray(values, dtype)
        if self.legacy:
            return self.node("Constant", value=numpy_helper.from_array(array))
        key = f"val_{array.dtype}_{'x'.join(map(str, array.shape))}_{array.tobytes().hex()[:64]}"
        if key not in self._initializers:
            self._initializers[key] = numpy_helper.from_array(array, key)
        return key

    def integers(self, *values: int) -> str:
        return self.constant(list(values), np.int64)

    def node(self, op: str, *operands: str, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node; its result, or the list of its results."""
        self._count += 1
        stem = f"/{op}_{self._count}_output_" if self.legacy else f"{op.lower()}_{self._count}_"
        names = [f"{stem}{i}" for i in range(outputs)]
        made = f"/{op}_{self._count}" if self.legacy else f"node_{op}_{self._count}"
        self._nodes.append(helper.make_node(op, list(operands), names, name=made, **attributes))
        return names[0] if outputs == 1 else names

    def model(self) -> Any:
        graph = helper.make_graph(
            self._nodes, "main_graph", self._inputs, self._outputs, list(self._initializers.values())
        )
        opsets = [helper.make_opsetid("", EXPORTERS[self.exporter])]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="pytorch")
        onnx.checker.check_model(made)
        return onnx.shape_inference.infer_shapes(made)

    # Layers that both exporters write alike, but for the order and spelling of details.

    def normal(self, *shape: int, scale: float = 1.0, centre: float = 0.0) -> np.ndarray:
        return (centre + scale * self.rng.normal(size=shape)).astype(np.float32)

    def conv(self, x: str, channels: int, filters: int, kernel: Sequence[int] | int, **settings: Any) -> str:
        """A convolution with the preceding batch normalization folded in; `pads` as PyTorch's `padding`.

        `gain`: what the normalization left of a deviation of 1, by default half of which a ReLU cut off.
        """
        rank = settings.pop("rank", 2)
        window = [kernel] * rank if isinstance(kernel, int) else list(kernel)
        stride, dilation, groups = (settings.pop(k, 1) for k in ("stride", "dilation", "groups"))
        pads = settings.pop("pads", [dilation * (k // 2) for k in window])
        op, gain = settings.pop("op", "Conv"), settings.pop("gain", np.sqrt(2))
        assert not settings, settings
        shape = [filters, channels // groups, *window] if op == "Conv" else [channels, filters // groups, *window]
        fan_in = channels // groups * int(np.prod(window)) if op == "Conv" else channels
        weight = self.parameter(self.normal(*shape, scale=gain / np.sqrt(fan_in)), f"conv{self._count}.weight")
        bias = self.parameter(self.normal(filters, scale=0.1), f"conv{self._count}.bias")
        strides = [stride] * len(window) if isinstance(stride, int) else list(stride)
        attributes = {"dilations": [dilation] * len(window), "group": groups, "kernel_shape": window}
        attributes |= {"pads": [*pads, *pads], "strides": strides}
        if not self.legacy:
            attributes["auto_pad"] = "NOTSET"
        return str(self.node(op, x, weight, bias, **attributes))

    def linear(self, x: str, depth: int, columns: int, bias: bool = True, scale: float = 1.0) -> str:
        """nn.Linear of three dimensions: a product with the transposed weight, then the bias."""
        weight = self.parameter(self.normal(depth, columns, scale=scale / np.sqrt(depth)))
        product = str(self.node("MatMul", x, weight))
        if not bias:
            return product
        added = self.parameter(self.normal(columns, scale=0.1), f"linear{self._count}.bias")
        return str(self.node("Add", *((added, product) if self.legacy else (product, added))))

    def gemm(self, x: str, depth: int, columns: int) -> str:
        """nn.Linear of two dimensions."""
        weight = self.parameter(self.normal(columns, depth, scale=np.sqrt(3 / depth)), f"fc{self._count}.weight")
        bias = self.parameter(self.normal(columns, scale=0.1), f"fc{self._count}.bias")
        further = {} if self.legacy else {"transA": 0}
        return str(self.node("Gemm", x, weight, bias, alpha=1.0, beta=1.0, transB=1, **further))

    def reshape(self, x: str, *shape: int) -> str:
        return str(self.node("Reshape", x, self.integers(*shape), allowzero=int(not self.legacy)))

    def transpose(self, x: str, *perm: int) -> str:
        return str(self.node("Transpose", x, perm=list(perm)))

    def slice(self, x: str, axis: int, start: int, end: int = TO_THE_END) -> str:
        """x[..., start:end] on one axis."""
        order = [self.integers(axis), self.integers(start), self.integers(end), self.integers(1)]
        return str(self.node("Slice", x, order[1], order[2], order[0], order[3]))

    def layer_norm(self, x: str, width: int, epsilon: float = 1e-5) -> str:
        scale = self.parameter(self.normal(width, scale=0.2, centre=1.0), f"norm{self._count}.weight")
        bias = self.parameter(self.normal(width, scale=0.1), f"norm{self._count}.bias")
        further = {} if self.legacy else {"stash_type": 1}
        return str(self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon, **further))

    def global_pool(self, x: str, channels: int) -> str:
        """adaptive_avg_pool2d(x, 1) and flatten(1)."""
        if self.legacy:
            return str(self.node("Flatten", self.node("GlobalAveragePool", x), axis=1))
        axes = self.integers(-1, -2)
        return self.reshape(self.node("ReduceMean", x, axes, keepdims=1, noop_with_empty_axes=0), 1, channels)
