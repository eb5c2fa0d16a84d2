"""Decoders as exporters write them, node by node: caches in and out, symbolic lengths, shapes asked for at run time."""

import functools
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

# What an encoder makes of: positions, and features of each.
ENCODED, FEATURES = 7, 12


@dataclass(frozen=True)
class Style:
    """Sizes and parts of a decoder."""

    width: int = 32
    heads: int = 4
    kv_heads: int = 2
    layers: int = 1
    hidden: int = 48
    vocabulary: int = 40
    norm: str = "rms"  # or "layer"
    positions: str = "rope"  # or "learned"
    mlp: str = "swiglu"  # or "gelu"
    # Whether mask and positions are inputs; else they follow from the shape of the cache.
    inputs: bool = True
    # Positions of the cache before its heads.
    rows_first: bool = False
    # Queries, keys and values of one matrix.
    fused: bool = False
    longest: int = 512
    # Left by older exporters: joins of one value, casts to the same type, tokens reshaped to their own shape.
    residue: bool = False
    # Tokens that a token sees, itself included; 0 for all.
    window: int = 0
    # What an encoder gives: "keys" and values of every layer, its "states" with a mask, or "features", with it inside.
    encoded: str = ""

    @property
    def size(self) -> int:
        return self.width // self.heads


STYLES = {
    "llama": Style(),
    "gpt": Style(24, 3, 3, 1, 32, 33, norm="layer", positions="learned", mlp="gelu", inputs=False),
    "shared_heads": Style(48, 6, 1, 2, 40, 50, inputs=False),
    "fused": Style(24, 2, 2, 1, 40, 30, norm="layer", positions="learned", mlp="gelu", fused=True, longest=24),
    "rows_first": Style(32, 2, 2, 2, 64, 64, norm="layer", mlp="gelu", rows_first=True),
    "residue": Style(hidden=40, residue=True),
    "keys": Style(24, 2, 2, 2, 32, 33, norm="layer", mlp="gelu", positions="learned", encoded="keys"),
    "states": Style(24, 3, 3, 2, 32, 36, positions="learned", encoded="states"),
    "features": Style(24, 2, 1, 1, 40, 30, norm="layer", mlp="gelu", inputs=False, encoded="features"),
    "window": Style(24, 2, 2, 1, 32, 33, inputs=False, window=4),
}


class _Graph:
    def __init__(self, style: Style, seed: int) -> None:
        self.style, self.rng = style, np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        name = out or f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def random(self, *shape: int, deviation: float | None = None) -> str:
        return self.constant(self.rng.normal(0, deviation or 1 / math.sqrt(shape[0]), shape))

    def length(self, x: str, axis: int) -> str:
        """A dimension, as exporters ask for it: Shape, then Gather."""
        return self.node("Gather", self.node("Shape", x), self.constant(axis, np.int64), axis=0)

    def shape(self, *dims: str | int) -> str:
        zero = self.constant([0], np.int64)
        parts = [self.constant([d], np.int64) if isinstance(d, int) else self.node("Unsqueeze", d, zero) for d in dims]
        return self.node("Concat", *parts, axis=0)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        return self.node("MatMul", x, self.random(inputs, outputs))

    def split(self, x: str, sizes: list[int]) -> list[str]:
        names = [f"part_{len(self.nodes)}_{place}" for place in range(len(sizes))]
        self.nodes.append(helper.make_node("Split", [x, self.constant(sizes, np.int64)], names, axis=2))
        return names

    def norm(self, x: str) -> str:
        weight = self.constant(self.rng.uniform(0.7, 1.3, self.style.width))
        if self.style.norm == "layer":
            bias = self.constant(self.rng.normal(0, 0.1, self.style.width))
            return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-5)
        if self.style.residue:
            x = self.node("Cast", x, to=TensorProto.FLOAT)
        mean = self.node("ReduceMean", self.node("Pow", x, self.constant(2.0)), axes=[-1], keepdims=1)
        root = self.node("Sqrt", self.node("Add", mean, self.constant(1e-5)))
        return self.node("Mul", weight, self.node("Mul", x, self.node("Div", self.constant(1.0), root)))

    def heads(self, x: str, count: int) -> str:
        shape = self.shape(self.length(x, 0), self.length(x, 1), count, self.style.size)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=[0, 2, 1, 3])

    def rotated(self, x: str, cosine: str, sine: str) -> str:
        half, axis = self.style.size // 2, self.constant([3], np.int64)
        low, high = (
            self.node("Slice", x, self.constant([a], np.int64), self.constant([b], np.int64), axis)
            for a, b in ((0, half), (half, np.iinfo(np.int64).max))
        )
        turned = self.node("Concat", self.node("Neg", high), low, axis=-1)
        return self.node("Add", self.node("Mul", x, cosine), self.node("Mul", turned, sine))

    def repeated(self, x: str) -> str:
        style = self.style
        if style.heads == style.kv_heads:
            return x
        batch, length = self.length(x, 0), self.length(x, 2)
        apart = self.node("Unsqueeze", x, self.constant([2], np.int64))
        wide = self.shape(batch, style.kv_heads, style.heads // style.kv_heads, length, style.size)
        return self.node(
            "Reshape", self.node("Expand", apart, wide), self.shape(batch, style.heads, length, style.size)
        )

    def looked(self, q: str, k: str, v: str, mask: str = "") -> str:
        """Attention, written out, as rows of the width."""
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.node("Div", scores, self.constant(math.sqrt(self.style.size)))
        weights = self.node("Softmax", self.node("Add", scores, mask) if mask else scores, axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.node("Reshape", mixed, self.shape(self.length(mixed, 0), self.length(mixed, 1), self.style.width))

    def encoder(self) -> tuple[str, str]:
        """States that tokens look at, and a mask of them; neither where keys and values go in."""
        width, way = self.style.width, self.style.encoded
        if way == "states":
            mask = self.node("Unsqueeze", "encoder_attention_mask", self.constant([1, 2], np.int64))
            seen = self.node("Cast", mask, to=TensorProto.FLOAT)
            hidden = self.node("Sub", self.constant(1.0), seen)
            return "encoder_hidden_states", self.node("Mul", hidden, self.constant(-30.0))
        if way != "features":
            return "", ""
        x = self.node("Tanh", self.linear("input_features", FEATURES, width))
        heads = [self.heads(self.linear(x, width, width), self.style.heads) for _ in range(3)]
        return self.norm(self.node("Add", x, self.looked(*heads))), ""

    def crossed(self, x: str, layer: int, states: str, mask: str) -> str:
        """What a token takes from the encoder."""
        style, y = self.style, self.norm(x)
        q = self.heads(self.linear(y, style.width, style.width), style.heads)
        keys = [f"past_key_values.{layer}.encoder.{kind}" for kind in ("key", "value")]
        if states:
            keys = [self.heads(self.linear(states, style.width, style.width), style.heads) for _ in keys]
        return self.node("Add", x, self.linear(self.looked(q, *keys, mask), style.width, style.width))

    def appended(self, name: str, new: str, present: str) -> str:
        """[batch, heads, positions, size] of the cache with new rows."""
        if self.style.residue:
            name = self.node("Concat", name, axis=2)
        if not self.style.rows_first:
            return self.node("Concat", name, new, out=present, axis=2)
        rows = self.node("Transpose", new, perm=[0, 2, 1, 3])
        joined = self.node("Concat", name, rows, out=present, axis=1)
        return self.node("Transpose", joined, perm=[0, 2, 1, 3])


def build(style: Style, seed: int = 0) -> Any:
    """The float model."""
    graph = _Graph(style, seed)
    past_axis = 1 if style.rows_first else 2
    seen, count = graph.length("past_key_values.0.key", past_axis), graph.length("input_ids", 1)
    total = graph.node("Add", seen, count)
    one, zero = graph.constant(1, np.int64), graph.constant(0, np.int64)
    places = graph.node("Range", seen, total, one)
    positions = "position_ids" if style.inputs else graph.node("Unsqueeze", places, graph.constant([0], np.int64))
    rows, columns = (
        graph.node("Unsqueeze", v, graph.constant([a], np.int64))
        for v, a in ((places, 1), (graph.node("Range", zero, total, one), 0))
    )
    visible = graph.node("LessOrEqual", columns, rows)
    if style.inputs:
        given = graph.node("Cast", "attention_mask", to=TensorProto.BOOL)
        visible = graph.node("And", visible, graph.node("Unsqueeze", given, graph.constant([1, 2], np.int64)))
    if style.window:
        reach = graph.node("Add", columns, graph.constant(style.window, np.int64))
        visible = graph.node("And", visible, graph.node("Less", rows, reach))
    mask = graph.node("Where", visible, graph.constant(0.0), graph.constant(-30.0))
    ids = "input_ids"
    if style.residue:
        ids = graph.node("Reshape", ids, graph.shape(-1, count))
    x = graph.node("Gather", graph.random(style.vocabulary, style.width, deviation=1.0), ids)
    if style.positions == "learned":
        table = graph.random(style.longest, style.width, deviation=0.3)
        x = graph.node("Add", x, graph.node("Gather", table, positions))
    else:
        rate = graph.constant(10000.0 ** (-np.arange(0, style.size, 2) / style.size))
        real = graph.node(
            "Cast", graph.node("Unsqueeze", positions, graph.constant([2], np.int64)), to=TensorProto.FLOAT
        )
        angle = graph.node("Mul", real, rate)
        both = graph.node("Unsqueeze", graph.node("Concat", angle, angle, axis=-1), graph.constant([1], np.int64))
        cosine, sine = graph.node("Cos", both), graph.node("Sin", both)
    states, hidden = graph.encoder() if style.encoded else ("", "")
    for layer in range(style.layers):
        y = graph.norm(x)
        kv_width = style.kv_heads * style.size
        if style.fused:
            sizes = [style.width, kv_width, kv_width]
            projected = graph.split(graph.linear(y, style.width, sum(sizes)), sizes)
        else:
            projected = [graph.linear(y, style.width, n) for n in (style.width, kv_width, kv_width)]
        q, k, v = (
            graph.heads(p, n) for p, n in zip(projected, (style.heads, style.kv_heads, style.kv_heads), strict=True)
        )
        if style.positions == "rope":
            q, k = graph.rotated(q, cosine, sine), graph.rotated(k, cosine, sine)
        k, v = (
            graph.repeated(graph.appended(f"past_key_values.{layer}.{kind}", new, f"present.{layer}.{kind}"))
            for kind, new in (("key", k), ("value", v))
        )
        x = graph.node("Add", x, graph.linear(graph.looked(q, k, v, mask), style.width, style.width))
        if style.encoded:
            x = graph.crossed(x, layer, states, hidden)
        y = graph.norm(x)
        up = graph.linear(y, style.width, style.hidden)
        if style.mlp == "swiglu":
            gate = graph.linear(y, style.width, style.hidden)
            up = graph.node("Mul", graph.node("Mul", gate, graph.node("Sigmoid", gate)), up)
        else:
            erf = graph.node("Erf", graph.node("Div", up, graph.constant(math.sqrt(2))))
            up = graph.node(
                "Mul", graph.node("Mul", up, graph.node("Add", erf, graph.constant(1.0))), graph.constant(0.5)
            )
        x = graph.node("Add", x, graph.linear(up, style.hidden, style.width))
    graph.node("MatMul", graph.norm(x), graph.random(style.width, style.vocabulary), out="logits")
    return _model(graph, style)


def encoder_of(style: Style, seed: int = 0) -> Any:
    """A file of its own that makes the states that a decoder of a style looks at."""
    graph = _Graph(replace(style, encoded="features"), seed)
    graph.node("Identity", graph.encoder()[0], out="last_hidden_state")
    given, made = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "encoded", size])
        for name, size in (("input_features", FEATURES), ("last_hidden_state", style.width))
    )
    whole = helper.make_graph(graph.nodes, "encoder", [given], [made], graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def _model(graph: _Graph, style: Style) -> Any:
    integers, real = TensorProto.INT64, TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info("input_ids", integers, ["batch", "sequence"])]
    if style.inputs:
        inputs.append(helper.make_tensor_value_info("attention_mask", integers, ["batch", "total"]))
        inputs.append(helper.make_tensor_value_info("position_ids", integers, ["batch", "sequence"]))
    outputs = [helper.make_tensor_value_info("logits", real, ["batch", "sequence", style.vocabulary])]
    for layer in range(style.layers):
        for kind in ("key", "value"):
            for name, length, ends in ((f"past_key_values.{layer}.{kind}", "past", inputs),
                                       (f"present.{layer}.{kind}", "total", outputs)):  # fmt: skip
                dims = ["batch", style.kv_heads, length, style.size]
                dims = ["batch", length, style.kv_heads, style.size] if style.rows_first else dims
                ends.append(helper.make_tensor_value_info(name, real, dims))
        if style.encoded == "keys":
            dims = ["batch", style.heads, "encoded", style.size]
            for kind in ("key", "value"):
                name = f"past_key_values.{layer}.encoder.{kind}"
                inputs.append(helper.make_tensor_value_info(name, real, dims))
    if style.encoded == "states":
        inputs.append(helper.make_tensor_value_info("encoder_hidden_states", real, ["batch", "encoded", style.width]))
        inputs.append(helper.make_tensor_value_info("encoder_attention_mask", integers, ["batch", "encoded"]))
    if style.encoded == "features":
        inputs.append(helper.make_tensor_value_info("input_features", real, ["batch", "encoded", FEATURES]))
    made = helper.make_graph(graph.nodes, "decoder", inputs, outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def given_of(model: bytes, seed: int = 0) -> dict[str, np.ndarray]:
    """Something for all tokens to look at, for every input that is no token's."""
    rng = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}
    for value in onnx.load_model_from_string(model).graph.input:
        dims = [ENCODED if d.dim_param == "encoded" else d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
        if all(d.dim_param != "encoded" for d in value.type.tensor_type.shape.dim):
            continue
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            made[value.name] = rng.normal(size=dims).astype(np.float32)
        else:
            made[value.name] = (np.arange(ENCODED) < ENCODED - seed % 3)[None].astype(np.int64)
    return made


class Reference:
    """A decoder in onnxruntime, token by token; `given` is the same for all of them."""

    def __init__(self, model: bytes, given: dict[str, np.ndarray] | None = None) -> None:
        self.given = given_of(model) if given is None else given
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model, options)
        self._inputs = {i.name: i for i in self._session.get_inputs()}
        self.reset()

    def reset(self) -> None:
        self.length = 0
        self.caches = {
            name: np.zeros([1 if d == "batch" else 0 if isinstance(d, str) else d for d in i.shape], np.float32)
            for name, i in self._inputs.items()
            if len(i.shape) == 4 and name not in self.given
        }

    def feed(self, tokens: list[int]) -> dict[str, np.ndarray]:
        total = self.length + len(tokens)
        given = {
            "input_ids": np.array([tokens], np.int64),
            "attention_mask": np.ones((1, total), np.int64),
            "position_ids": np.arange(self.length, total)[None],
            "use_cache_branch": np.array([self.length > 0]),
            **self.caches,
            **self.given,
        }
        return {name: value for name, value in given.items() if name in self._inputs}

    def see(self, tokens: list[int]) -> np.ndarray:
        logits, *caches = self._session.run(None, self.feed(tokens))
        self.caches = dict(zip(self.caches, caches, strict=True))
        self.length += len(tokens)
        return np.asarray(logits[0])

    def greedy(self, prompt: list[int], count: int) -> list[int]:
        """Tokens that follow, the likeliest each time."""
        made = [int(self.see(prompt)[-1].argmax())]
        while len(made) < count:
            made.append(int(self.see([made[-1]])[-1].argmax()))
        return made


class _Samples(quantization.CalibrationDataReader):
    """Inputs on the way through a few texts."""

    def __init__(self, model: Any, vocabulary: int, given: Callable[[int], dict[str, np.ndarray]] | None) -> None:
        content = model.SerializeToString()
        rng, given = np.random.default_rng(9), given or functools.partial(given_of, content)
        reference = Reference(content, given(0))
        self._feeds: list[dict[str, np.ndarray]] = []
        for text in range(4):
            reference.reset()
            reference.given = given(text + 1)
            for step in range(10):
                tokens = rng.integers(0, vocabulary, 6 if step == 0 else 1).tolist()
                self._feeds.append(reference.feed(tokens))
                reference.see(tokens)
        self._left = iter(self._feeds)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._left, None)


def quantized(
    model: Any, vocabulary: int, how: str, folder: Path, given: Callable[[int], dict[str, np.ndarray]] | None = None
) -> bytes:
    """What the ordinary tool makes of a float model: `static`, `unsigned`, `dynamic`, or `products`, those only.

    `given`: what all tokens of a text look at, by a seed.
    """
    source, target = folder / "float.onnx", folder / f"{how}.onnx"
    onnx.save(model, source)
    if how == "dynamic":
        quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType.QInt8)
    else:
        kind = quantization.QuantType.QUInt8 if how == "unsigned" else quantization.QuantType.QInt8
        products = {"op_types_to_quantize": ["MatMul", "Gemm"], "per_channel": True} if how == "products" else {}
        quantization.quantize_static(
            source, target, _Samples(model, vocabulary, given), quant_format=quantization.QuantFormat.QDQ,
            activation_type=kind, weight_type=quantization.QuantType.QInt8, **products,
        )  # fmt: skip
    return target.read_bytes()


def merged(model: Any) -> Any:
    """A file that switches: on, it joins caches with new rows; off, it begins a text and ignores them."""
    graph = model.graph
    pasts = {i.name: [d.dim_value or 0 for d in i.type.tensor_type.shape.dim] for i in graph.input}
    pasts = {name: [1, *dims[1:]] for name, dims in pasts.items() if len(dims) == 4}
    outputs = [o.name for o in graph.output]

    def branch(prefix: str) -> Any:
        nodes, begins = [], []
        made = {v for n in graph.node for v in n.output}
        renamed = {v: f"{prefix}{v}" for v in made} | ({v: f"{prefix}{v}" for v in pasts} if prefix == "first/" else {})
        for node in graph.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            for values in (copy.input, copy.output):
                values[:] = [renamed.get(v, v) for v in values]
            nodes.append(copy)
        if prefix == "first/":
            begins = [numpy_helper.from_array(np.zeros(s, np.float32), renamed[n]) for n, s in pasts.items()]
        results = [helper.make_empty_tensor_value_info(renamed[o]) for o in outputs]
        return helper.make_graph(nodes, prefix, [], results, begins)

    switch = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    choice = helper.make_node(
        "If", ["use_cache_branch"], outputs, then_branch=branch("then/"), else_branch=branch("first/")
    )
    made = helper.make_graph([choice], "merged", [*graph.input, switch], list(graph.output), list(graph.initializer))
    return helper.make_model(made, opset_imports=model.opset_import, ir_version=model.ir_version)


@functools.cache
def exported(name: str, how: str) -> bytes:
    """A model file; `float` is not quantized."""
    style = STYLES[name]
    model = build(style, seed=len(name))
    if how == "float":
        return bytes(model.SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        return quantized(model, style.vocabulary, how, Path(folder))
