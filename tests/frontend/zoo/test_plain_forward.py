"""Whole networks written out once more in plain numpy, from the constants of the model alone.

Nothing here is shared with the zoo's builder, the importer or the operator references.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from onnx import helper, numpy_helper

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend import onnx_dialect, onnx_file, zoo
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.qnn.interpret import interpret


class Plain:
    """Constants of a model by name, and the few operations that the networks below are written in."""

    def __init__(self, model: Any) -> None:
        self.constants = {c.name: numpy_helper.to_array(c).astype(np.int64) for c in model.graph.initializer}
        self.attributes = {
            node.name: {a.name: helper.get_attribute_value(a) for a in node.attribute} for node in model.graph.node
        }

    def number(self, node: str, attribute: str) -> int:
        value = self.attributes[node][attribute]
        return value if isinstance(value, int) else int(numpy_helper.to_array(value).reshape(-1)[0])

    def requant(self, node: str, x: np.ndarray) -> np.ndarray:
        div = self.number(node, "div")
        low, high = (-128, 127) if self.number(node, "signed") else (0, 255)
        # Round half up by floor division, instead of a shift.
        scaled = x * self.constants[f"{node}_mul"] + self.constants[f"{node}_add"]
        return np.minimum(np.maximum((2 * scaled + div) // (2 * div), low), high)

    def conv(self, node: str, x: np.ndarray, stride: int = 1) -> np.ndarray:
        """Padding "same"; depthwise when the weight has one input channel for many."""
        weight = self.constants[f"{node}_weight"]
        kernel = weight.shape[2:]
        pads = [max(0, (-(-n // stride) - 1) * stride + k - n) for n, k in zip(x.shape[2:], kernel, strict=True)]
        padded = np.pad(x, [(0, 0), (0, 0), *[(p // 2, p - p // 2) for p in pads]])
        windows = sliding_window_view(padded, kernel, axis=(2, 3))[:, :, ::stride, ::stride]
        depthwise = weight.shape[1] == 1 and x.shape[1] > 1
        rule = "nchwyx,cyx->nchw" if depthwise else "nihwyx,oiyx->nohw"
        return self.requant(node, np.einsum(rule, windows, weight[:, 0] if depthwise else weight))

    def classify(self, x: np.ndarray) -> np.ndarray:
        pixels = x.shape[2] * x.shape[3]
        pooled = np.floor_divide(2 * x.sum(axis=(2, 3)) + 2 * (pixels // 2), 2 * pixels)
        return self.requant("logits", pooled @ self.constants["logits_weight"].T + self.constants["logits_bias"])

    def residual(self, node: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.requant(node, self.requant(f"{node}_a", a) + self.requant(f"{node}_b", b))

    def linear(self, node: str, x: np.ndarray) -> np.ndarray:
        return self.requant(node, x @ self.constants[f"{node}_weight"] + self.constants[f"{node}_bias"])

    def rms_norm(self, node: str, x: np.ndarray) -> np.ndarray:
        out = np.zeros_like(x)
        for row in np.ndindex(x.shape[:-1]):
            root = int((int((x[row] ** 2).sum()) // x.shape[-1] + 1) ** 0.5)
            for i, weight in enumerate(self.constants[f"{node}_weight"].tolist()):
                scaled = int(x[(*row, i)]) * weight
                quotient = abs(scaled) // root * (1 if scaled >= 0 else -1)
                out[(*row, i)] = min(max(quotient // self.number(node, "D"), -128), 127)
        return out

    def softmax(self, node: str, x: np.ndarray) -> np.ndarray:
        b, c, log2 = (self.number(node, k) for k in ("coeffB", "coeffC", "log2"))
        out = np.zeros_like(x)
        for row in np.ndindex(x.shape[:-1]):
            below = (x[row].max() - x[row]).tolist()
            exponentials = [((b - d % log2) ** 2 + c) >> min(d // log2, 31) for d in below]
            out[row] = [e * 255 // sum(exponentials) for e in exponentials]
        return out


def dscnn(plain: Plain, inputs: list[np.ndarray]) -> list[np.ndarray]:
    x = plain.conv("stem", inputs[0], 2)
    for block in range(1, 5):
        x = plain.conv(f"block{block}_pointwise", plain.conv(f"block{block}_depthwise", x))
    return [plain.classify(x)]


def resnet8(plain: Plain, inputs: list[np.ndarray]) -> list[np.ndarray]:
    x = plain.conv("stem", inputs[0])
    x = plain.residual("stack1_add", x, plain.conv("stack1_conv2", plain.conv("stack1_conv1", x)))
    for stack in ("stack2", "stack3"):
        branch = plain.conv(f"{stack}_conv2", plain.conv(f"{stack}_conv1", x, 2))
        x = plain.residual(f"{stack}_add", plain.conv(f"{stack}_shortcut", x, 2), branch)
    return [plain.classify(x)]


def mobilenetv1(plain: Plain, inputs: list[np.ndarray]) -> list[np.ndarray]:
    x = plain.conv("stem", inputs[0], 2)
    for block in range(1, 14):
        x = plain.conv(f"block{block}_depthwise", x, 2 if block in (2, 4, 6, 12) else 1)
        x = plain.conv(f"block{block}_pointwise", x)
    return [plain.classify(x)]


def tinyllama(plain: Plain, inputs: list[np.ndarray]) -> list[np.ndarray]:
    x, mask, rotation, *past = inputs
    x, presents = x.reshape(64), []
    rotate = rotation.reshape(4, 4)
    for index in range(2):
        layer = f"layer{index}"
        norm = plain.rms_norm(f"{layer}_norm1", x)
        query, key, value = (plain.linear(f"{layer}_{n}", norm).reshape(16, 4) for n in "qkv")
        query, key = plain.requant(f"{layer}_q_rope", query @ rotate), plain.requant(f"{layer}_k_rope", key @ rotate)
        keys, values = (
            np.concatenate([old.reshape(16, 32, 4), new[:, None]], axis=1)
            for old, new in zip(past[2 * index : 2 * index + 2], (key, value), strict=True)
        )
        presents += [keys[None], values[None]]
        scores = plain.requant(f"{layer}_scores", np.einsum("hd,htd->ht", query, keys))
        halved = (scores * 16384 * 200000 // 400001 * 4 + 32768) // 65536
        hidden = np.where(mask < 0, -128, 0)
        logits = np.clip(halved + hidden, -128, 127)
        weights = plain.requant(f"{layer}_weights", plain.softmax(f"{layer}_softmax", logits))
        mixed = plain.requant(f"{layer}_mixed", np.einsum("ht,htd->hd", weights, values))
        x = plain.residual(f"{layer}_add1", x, plain.linear(f"{layer}_o", mixed.reshape(64)))
        norm = plain.rms_norm(f"{layer}_norm2", x)
        gate = plain.linear(f"{layer}_gate", norm)
        three, six, sixth = (plain.number(f"{layer}_swish_acc", k) for k in ("three", "six", "one_over_six"))
        gate = plain.requant(f"{layer}_swish", gate * np.clip(gate + three, 0, six) * sixth)
        gated = plain.requant(f"{layer}_gated", gate * plain.linear(f"{layer}_up", norm))
        x = plain.residual(f"{layer}_add2", x, plain.linear(f"{layer}_down", gated))
    return [plain.rms_norm("hidden_out", x).reshape(1, 1, 64), *presents]


@pytest.mark.parametrize("forward", [dscnn, resnet8, mobilenetv1, tinyllama])
@pytest.mark.parametrize("seed", [0, 1])
def test_compiler_reference_agrees(forward: Callable[[Plain, list[np.ndarray]], list[np.ndarray]], seed: int) -> None:
    name = forward.__name__
    model, inputs = zoo.build(name, seed), zoo.sample_inputs(name, seed + 10)
    module = canonicalize(onnx_dialect.import_dialect(onnx_file.from_model(model), ImportOptions()))
    expected = forward(Plain(model), [i.astype(np.int64) for i in inputs])
    found = interpret(module, inputs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
