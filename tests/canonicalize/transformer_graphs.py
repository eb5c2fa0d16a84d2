"""Float graphs of transformer parts in the forms that PyTorch's two exporters write, node by node."""

import math
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """A float model under construction; `feeds` makes one random set of inputs."""

    def __init__(self, seed: int = 0, opset: int = 17) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.outputs: list[str] = []
        # Shapes of results that shape inference does not know.
        self.stated: dict[str, tuple[int, ...]] = {}
        self.opset = opset

    def constant(self, array: Any, dtype: str = "float32") -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(values, "int64")

    def input(self, name: str, *shape: int) -> str:
        self.inputs[name] = shape
        return name

    def node(self, op: str, *operands: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(operands), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def model(self) -> Any:
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in self.outputs]
        stated = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.stated.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.initializers, value_info=stated)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return onnx.shape_inference.infer_shapes(model)

    def feeds(self, seed: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        return {n: rng.normal(size=s).astype(np.float32) for n, s in self.inputs.items()}

    # Layers.

    def linear(self, x: str, depth: int, width: int, bias: bool = True) -> str:
        weight = self.constant(self.rng.normal(size=(depth, width)) / math.sqrt(depth))
        product = self.node("MatMul", x, weight)
        return self.node("Add", self.constant(0.1 * self.rng.normal(size=width)), product) if bias else str(product)

    def scale_and_shift(self, width: int) -> tuple[str, str]:
        return (
            self.constant(self.rng.uniform(0.7, 1.3, width)),
            self.constant(0.1 * self.rng.normal(size=width)),
        )

    def layer_norm(self, x: str, width: int, form: str = "operator") -> str:
        weight, bias = self.scale_and_shift(width)
        if form == "operator":
            return str(self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-5))
        mean = self.node("ReduceMean", x, axes=[-1])
        centred = self.node("Sub", x, mean)
        square = self.node("Pow", centred, self.constant(2.0))
        variance = self.node("ReduceMean", square, axes=[-1])
        root = self.node("Sqrt", self.node("Add", variance, self.constant(1e-5)))
        scaled = self.node("Mul", self.node("Div", centred, root), weight)
        return str(self.node("Add", scaled, bias))

    def rms_norm(self, x: str, width: int, form: str = "reciprocal") -> str:
        weight = self.scale_and_shift(width)[0]
        if form == "microsoft":
            return str(self.node("SimplifiedLayerNormalization", x, weight, axis=-1, epsilon=1e-5))
        if form == "operator":
            return str(self.node("RMSNormalization", x, weight, axis=-1, epsilon=1e-5))
        square = self.node("Mul", x, x) if form == "product" else self.node("Pow", x, self.constant(2.0))
        mean = self.node("ReduceMean", square, axes=[-1])
        root = self.node("Sqrt", self.node("Add", mean, self.constant(1e-5)))
        if form in ("reciprocal", "product"):
            normal = self.node("Mul", x, self.node("Reciprocal", root))
        elif form == "quotient":
            normal = self.node("Mul", x, self.node("Div", self.constant(1.0), root))
        else:  # "divide"
            normal = self.node("Div", x, root)
        return str(self.node("Mul", weight, normal))

    def gelu(self, x: str, form: str = "erf") -> str:
        if form == "operator":
            return str(self.node("Gelu", x))
        if form == "erf":
            erf = self.node("Erf", self.node("Div", x, self.constant(math.sqrt(2))))
            product = self.node("Mul", x, self.node("Add", erf, self.constant(1.0)))
            return str(self.node("Mul", product, self.constant(0.5)))
        cube = self.node("Pow", x, self.constant(3.0))
        inner = self.node("Add", x, self.node("Mul", cube, self.constant(0.044715)))
        gate = self.node("Tanh", self.node("Mul", inner, self.constant(math.sqrt(2 / math.pi))))
        half = self.node("Mul", x, self.constant(0.5))
        return str(self.node("Mul", half, self.node("Add", gate, self.constant(1.0))))

    def silu(self, x: str) -> str:
        return str(self.node("Mul", x, self.node("Sigmoid", x)))

    def heads(self, x: str, tokens: int, heads: int, size: int) -> str:
        shaped = self.node("Reshape", x, self.integers(1, tokens, heads, size))
        return str(self.node("Transpose", shaped, perm=[0, 2, 1, 3]))

    def repeated(self, x: str, heads: int, times: int, tokens: int, size: int) -> str:
        """repeat_kv: every head of keys or values several times."""
        if times == 1:
            return x
        wide = self.node("Unsqueeze", x, self.integers(2))
        wide = self.node("Expand", wide, self.integers(1, heads, times, tokens, size))
        return str(self.node("Reshape", wide, self.integers(1, heads * times, tokens, size)))

    def rope(self, x: str, first: int, tokens: int, size: int) -> str:
        """x cos + rotate_half(x) sin."""
        angles = np.outer(np.arange(first, first + tokens), 10000.0 ** (-np.arange(0, size, 2) / size))
        angles = np.concatenate([angles, angles], axis=1)[None, None]
        half, axis = size // 2, self.integers(3)
        low = self.node("Slice", x, self.integers(0), self.integers(half), axis, self.integers(1))
        high = self.node("Slice", x, self.integers(half), self.integers(1 << 60), axis, self.integers(1))
        turned = self.node("Concat", self.node("Neg", high), low, axis=-1)
        kept = self.node("Mul", x, self.constant(np.cos(angles)))
        return str(self.node("Add", kept, self.node("Mul", turned, self.constant(np.sin(angles)))))

    def attention(
        self,
        q: str,
        k: str,
        v: str,
        shape: tuple[int, int, int, int],
        form: str = "divide",
        mask: np.ndarray | None = None,
    ) -> str:
        """Of [1, heads, tokens, size]; the result is [1, tokens, heads * size]."""
        heads, queries, _, size = shape
        turned = self.node("Transpose", k, perm=[0, 1, 3, 2])
        if form == "sdpa":  # scaled_dot_product_attention: both operands by the root of the factor
            root = size**-0.25
            scores = self.node(
                "MatMul", self.node("Mul", q, self.constant(root)), self.node("Mul", turned, self.constant(root))
            )
        elif form == "multiply":
            scores = self.node("Mul", self.node("MatMul", q, turned), self.constant(size**-0.5))
        else:
            scores = self.node("Div", self.node("MatMul", q, turned), self.constant(size**0.5))
        if mask is not None:
            if mask.dtype == bool:
                lowest = self.constant(-20.0)
                scores = self.node("Where", self.constant(mask, "bool"), lowest, scores)
            else:
                scores = self.node("Add", scores, self.constant(mask))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        rows = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        return str(self.node("Reshape", rows, self.integers(1, queries, heads * size)))


def causal(tokens: int, lowest: float = -20.0, form: str = "add") -> np.ndarray:
    """A mask that hides later tokens."""
    hidden = np.triu(np.ones((tokens, tokens), bool), 1)[None, None]
    return hidden if form == "where" else np.where(hidden, lowest, 0.0).astype(np.float32)


def vit(norm: str = "operator", gelu: str = "erf", attention: str = "divide", width: int = 64, heads: int = 4) -> Graph:
    """A vision transformer over 17 tokens that are already embedded."""
    g, tokens = Graph(1), 17
    x = g.input("tokens", 1, tokens, width)
    for _ in range(2):
        x = _block(g, x, tokens, width, heads, norm, gelu, attention, None)
    x = g.layer_norm(x, width, norm)
    first = g.node("Gather", x, g.constant(0, "int64"), axis=1)
    g.outputs.append(g.linear(first, width, 10))
    return g


def gpt(norm: str = "operator", gelu: str = "tanh", attention: str = "divide", mask: str = "add") -> Graph:
    """A decoder over 16 embedded tokens."""
    g, tokens, width, heads = Graph(2), 16, 64, 4
    x = g.input("tokens", 1, tokens, width)
    for _ in range(2):
        x = _block(g, x, tokens, width, heads, norm, gelu, attention, causal(tokens, form=mask))
    g.outputs.append(g.linear(g.layer_norm(x, width, norm), width, 64, bias=False))
    return g


def _block(
    g: Graph, x: str, tokens: int, width: int, heads: int, norm: str, gelu: str, attention: str, mask: Any
) -> str:
    size = width // heads
    normal = g.layer_norm(x, width, norm)
    q, k, v = (g.heads(g.linear(normal, width, width), tokens, heads, size) for _ in range(3))
    mixed = g.attention(q, k, v, (heads, tokens, tokens, size), attention, mask)
    x = g.node("Add", x, g.linear(mixed, width, width))
    hidden = g.gelu(g.linear(g.layer_norm(x, width, norm), width, 2 * width), gelu)
    return str(g.node("Add", x, g.linear(hidden, 2 * width, width)))


def llama(norm: str = "reciprocal", tokens: int = 16, cached: int = 0, attention: str = "multiply") -> Graph:
    """Grouped queries, rotary positions, gated feed-forward; `cached` tokens come as float inputs."""
    g, width, heads, groups, size, inner = Graph(3), 64, 4, 2, 16, 128
    x = g.input("tokens", 1, tokens, width)
    for layer in range(2):
        normal = g.rms_norm(x, width, norm)
        q = g.rope(g.heads(g.linear(normal, width, heads * size, False), tokens, heads, size), cached, tokens, size)
        k = g.rope(g.heads(g.linear(normal, width, groups * size, False), tokens, groups, size), cached, tokens, size)
        v = g.heads(g.linear(normal, width, groups * size, False), tokens, groups, size)
        if cached:
            past_k, past_v = (g.input(f"past_{n}{layer}", 1, groups, cached, size) for n in "kv")
            k, v = g.node("Concat", past_k, k, axis=2), g.node("Concat", past_v, v, axis=2)
            g.outputs += [k, v]
        keys = cached + tokens
        k, v = (g.repeated(t, groups, heads // groups, keys, size) for t in (k, v))
        mask = causal(tokens) if tokens > 1 else None
        mixed = g.attention(q, k, v, (heads, tokens, keys, size), attention, mask)
        x = g.node("Add", x, g.linear(mixed, width, width, False))
        normal = g.rms_norm(x, width, norm)
        gate, up = (g.linear(normal, width, inner, False) for _ in range(2))
        x = g.node("Add", x, g.linear(g.node("Mul", g.silu(gate), up), inner, width, False))
    g.outputs.insert(0, g.linear(g.rms_norm(x, width, norm), width, 64, False))
    return g


def gpt_token(norm: str = "operator", cached: int = 15) -> Graph:
    """One token of the decoder, with a float cache."""
    g, width, heads = Graph(4), 64, 4
    size, keys = width // heads, cached + 1
    x = g.input("tokens", 1, 1, width)
    for layer in range(2):
        normal = g.layer_norm(x, width, norm)
        q, k, v = (g.heads(g.linear(normal, width, width), 1, heads, size) for _ in range(3))
        past_k, past_v = (g.input(f"past_{n}{layer}", 1, heads, cached, size) for n in "kv")
        k, v = g.node("Concat", past_k, k, axis=2), g.node("Concat", past_v, v, axis=2)
        g.outputs += [k, v]
        mixed = g.attention(q, k, v, (heads, 1, keys, size))
        x = g.node("Add", x, g.linear(mixed, width, width))
        hidden = g.gelu(g.linear(g.layer_norm(x, width, norm), width, 2 * width), "tanh")
        x = g.node("Add", x, g.linear(hidden, 2 * width, width))
    g.outputs.insert(0, g.linear(g.layer_norm(x, width, norm), width, 64, bias=False))
    return g


NETWORKS: dict[str, Any] = {
    "vit": vit,
    "gpt": gpt,
    "gpt_token": gpt_token,
    "llama": llama,
    "llama_token": lambda: llama(tokens=1, cached=15),
}


def quantize(graph: Graph, folder: Any, *, per_channel: bool = False, activations: str = "QInt8") -> Any:
    """The graph as onnxruntime's static quantizer writes it."""
    from onnxruntime import quantization

    class Calibration(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self._batches = iter([graph.feeds(100 + i) for i in range(8)])

        def get_next(self) -> Any:
            return next(self._batches, None)

    source, target = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(graph.model(), source)
    quantization.quantize_static(
        source,
        target,
        Calibration(),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=per_channel,
        activation_type=quantization.QuantType[activations],
        weight_type=quantization.QuantType.QInt8,
    )
    return onnx.load(target)
