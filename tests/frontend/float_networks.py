"""Small float architectures with seeded weights, to be quantized with onnxruntime's own quantizers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Collects the nodes of a float network of one input."""

    def __init__(self, seed: int, shape: Sequence[int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.shape = list(shape)
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:])) or 1
        return self.constant((self.rng.normal(size=shape) * np.sqrt(2 / fan_in)).astype(np.float32))

    def vector(self, size: int, centre: float = 0.0) -> str:
        return self.constant((centre + 0.2 * self.rng.normal(size=size)).astype(np.float32))

    def __call__(self, op: str, *operands: str, **attributes: Any) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [output], name=f"n{len(self.nodes)}", **attributes))
        return output

    def conv(self, x: str, channels: int, filters: int, kernel: int, groups: int = 1, **attributes: Any) -> str:
        weight = self.weight(filters, channels // groups, kernel, kernel)
        pads = attributes.pop("pads", [kernel // 2] * 4)
        shape = [kernel, kernel]
        return self("Conv", x, weight, self.vector(filters), pads=pads, group=groups, kernel_shape=shape, **attributes)

    def linear(self, x: str, depth: int, columns: int) -> str:
        weight = self.constant((self.rng.normal(size=(depth, columns)) / np.sqrt(depth)).astype(np.float32))
        return self("Add", self("MatMul", x, weight), self.vector(columns))

    def head(self, x: str, channels: int) -> str:
        pooled = self("Flatten", self("GlobalAveragePool", x))
        return self("Gemm", pooled, self.weight(10, channels), self.vector(10), transB=1)

    def model(self, output: str) -> Any:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def mobilenet_block() -> Any:
    n = Network(1, [1, 3, 16, 16])
    x = n("Clip", n.conv("input", 3, 8, 3, strides=[2, 2]), n.constant(np.float32(0)), n.constant(np.float32(6)))
    wide = n("Clip", n.conv(x, 8, 24, 1), n.constant(np.float32(0)), n.constant(np.float32(6)))
    deep = n("Clip", n.conv(wide, 24, 24, 3, groups=24), n.constant(np.float32(0)), n.constant(np.float32(6)))
    return n.model(n.head(n("Add", x, n.conv(deep, 24, 8, 1)), 8))


def depthwise_five() -> Any:
    n = Network(2, [1, 4, 15, 13])
    x = n("HardSwish", n.conv("input", 4, 4, 5, groups=4, strides=[2, 1]))
    return n.model(n.head(n("Relu", n.conv(x, 4, 12, 1)), 12))


def squeeze_excite() -> Any:
    n = Network(3, [1, 3, 12, 12])
    x = n("Relu", n.conv("input", 3, 8, 3))
    gate = n("Relu", n.conv(n("GlobalAveragePool", x), 8, 4, 1))
    gate = n("Sigmoid", n.conv(gate, 4, 8, 1))
    return n.model(n.head(n("Mul", x, gate), 8))


def residual() -> Any:
    n = Network(4, [1, 3, 12, 12])
    x = n("Relu", n.conv("input", 3, 8, 3))
    branch = n.conv(n("Relu", n.conv(x, 8, 16, 3, strides=[2, 2])), 16, 16, 3)
    short = n.conv(x, 8, 16, 1, strides=[2, 2])
    return n.model(n.head(n("Relu", n("Add", branch, short)), 16))


def _attention(n: Network, x: str, tokens: int, width: int, heads: int) -> str:
    each = width // heads

    def split(value: str, perm: list[int]) -> str:
        return n("Transpose", n("Reshape", value, n.integers(1, tokens, heads, each)), perm=perm)

    q, k, v = (n.linear(x, width, width) for _ in range(3))
    scores = n("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]))
    weights = n("Softmax", n("Div", scores, n.constant(np.float32(np.sqrt(each)))), axis=-1)
    mixed = n("Transpose", n("MatMul", weights, split(v, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    return n.linear(n("Reshape", mixed, n.integers(1, tokens, width)), width, width)


def _gelu(n: Network, x: str) -> str:
    erf = n("Erf", n("Div", x, n.constant(np.float32(np.sqrt(2)))))
    return n("Mul", n("Mul", x, n("Add", erf, n.constant(np.float32(1)))), n.constant(np.float32(0.5)))


def _block(n: Network, x: str, tokens: int, width: int) -> str:
    normal = n("LayerNormalization", x, n.vector(width, 1.0), n.vector(width))
    x = n("Add", x, _attention(n, normal, tokens, width, 2))
    normal = n("LayerNormalization", x, n.vector(width, 1.0), n.vector(width))
    return n("Add", x, n.linear(_gelu(n, n.linear(normal, width, 2 * width)), 2 * width, width))


def vit_block() -> Any:
    n = Network(5, [1, 3, 16, 16])
    patches = n.conv("input", 3, 16, 4, strides=[4, 4], pads=[0, 0, 0, 0])
    tokens = n("Transpose", n("Reshape", patches, n.integers(1, 16, 16)), perm=[0, 2, 1])
    x = _block(n, tokens, 16, 16)
    return n.model(n.linear(n("ReduceMean", x, axes=[1], keepdims=0), 16, 10))


def bert_tiny() -> Any:
    n = Network(6, [1, 12, 16])
    x = _block(n, _block(n, "input", 12, 16), 12, 16)
    first = n("Gather", x, n.constant(np.array(0, np.int64)), axis=1)
    return n.model(n.linear(n("Tanh", n.linear(first, 16, 16)), 16, 10))


def temporal_convolution() -> Any:
    n = Network(7, [1, 4, 40])
    x = "input"
    channels = 4
    for dilation in (1, 2, 4):
        weight, bias = n.weight(8, channels, 3), n.vector(8)
        x = n("Relu", n("Conv", x, weight, bias, pads=[2 * dilation, 0], dilations=[dilation], kernel_shape=[3]))
        channels = 8
    last = n("Slice", x, n.integers(-1), n.integers(40), n.integers(2))
    return n.model(n("Gemm", n("Flatten", last), n.weight(10, 8), n.vector(10), transB=1))


def u_net() -> Any:
    n = Network(8, [1, 3, 16, 16])
    top = n("Relu", n.conv("input", 3, 8, 3))
    low = n("Relu", n.conv(n("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2]), 8, 16, 3))
    scales = n.constant(np.array([1, 1, 2, 2], np.float32))
    modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    up = n("Resize", low, "", scales, mode="nearest", **modes)
    return n.model(n.conv(n("Relu", n.conv(n("Concat", top, up, axis=1), 24, 8, 3)), 8, 3, 1))


def transposed_u_net() -> Any:
    n = Network(9, [1, 3, 12, 12])
    low = n("Relu", n.conv("input", 3, 8, 3, strides=[2, 2]))
    weight = n.weight(8, 4, 2, 2)
    up = n("Relu", n("ConvTranspose", low, weight, n.vector(4), strides=[2, 2], kernel_shape=[2, 2]))
    return n.model(n.conv(up, 4, 3, 3))


def unrolled_gru() -> Any:
    n = Network(10, [1, 4, 6])
    state = n.constant(np.zeros((1, 8), np.float32))
    inputs = [n.weight(6, 24), n.weight(8, 16), n.weight(8, 8)]
    for step in range(4):
        x = n("Gather", "input", n.constant(np.array(step, np.int64)), axis=1)
        projected = n("Add", n("MatMul", x, inputs[0]), n.vector(24))
        gates = n("Slice", projected, n.integers(0), n.integers(16), n.integers(1))
        candidate = n("Slice", projected, n.integers(16), n.integers(24), n.integers(1))
        gates = n("Sigmoid", n("Add", gates, n("MatMul", state, inputs[1])))
        reset = n("Slice", gates, n.integers(0), n.integers(8), n.integers(1))
        update = n("Slice", gates, n.integers(8), n.integers(16), n.integers(1))
        fresh = n("Tanh", n("Add", candidate, n("MatMul", n("Mul", reset, state), inputs[2])))
        kept = n("Mul", update, state)
        state = n("Add", kept, n("Mul", n("Sub", n.constant(np.float32(1)), update), fresh))
    return n.model(n.linear(state, 8, 10))


NETWORKS: dict[str, Callable[[], Any]] = {
    "mobilenet_block": mobilenet_block,
    "depthwise_five": depthwise_five,
    "squeeze_excite": squeeze_excite,
    "residual": residual,
    "vit_block": vit_block,
    "bert_tiny": bert_tiny,
    "temporal_convolution": temporal_convolution,
    "u_net": u_net,
    "transposed_u_net": transposed_u_net,
    "unrolled_gru": unrolled_gru,
}
