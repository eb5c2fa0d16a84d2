"""Layers that vision networks of other tools bring, cut into tiles on the simulated chip: the dialect's results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run

pytest.importorskip("onnxruntime")


def resized(g: Builder) -> str:
    integers = g.integers([1, 8, 10, 12], "int8")
    x = g.node("DequantizeLinear", integers)
    y = g.node("Resize", [x, "", g.constant(np.array([1, 1, 2, 2], np.float32))], mode="linear")
    return str(g.node("QuantizeLinear", [y, *integers[1:]]))


def picked(g: Builder) -> str:
    convolved = g.node("Conv", [g.activation([1, 4, 10, 12], "int8"), g.weight([8, 4, 1, 1])])
    x = g.node("DequantizeLinear", [g.quantized(convolved), *g.fitting(convolved)[1:]])
    return g.quantized(g.node("Resize", [x, "", g.constant(np.array([1, 1, 2, 3], np.float32))], mode="nearest"))


def transposed(g: Builder) -> str:
    x, weight = g.activation([1, 8, 9, 7], "int8"), g.weight([8, 8, 3, 3], 1)
    attributes: dict[str, Any] = {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}
    return g.quantized(g.node("ConvTranspose", [x, weight], **attributes))


def residual(g: Builder) -> str:
    convolved = g.node("Conv", [g.activation([1, 8, 12, 12], "int8"), g.weight([8, 8, 3, 3])], pads=[1] * 4)
    return g.quantized(g.node("Relu", [g.node("Add", [convolved, g.activation([1, 8, 12, 12], "int8")])]))


def normalized(g: Builder) -> str:
    weight, bias = (g.constant(g.rng.normal(size=8).astype(np.float32)) for _ in range(2))
    return g.quantized(g.node("InstanceNormalization", [g.activation([1, 8, 12, 12], "int8"), weight, bias]))


@pytest.mark.sample(5)
@pytest.mark.parametrize("layer", [resized, picked, transposed, residual, normalized], ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_equals_the_dialect(layer: Callable[[Builder], str], target: str, tmp_path: Path) -> None:
    g = Builder(np.random.default_rng(5))
    model = g.typed_model([layer(g)])
    path = tmp_path / "layer.onnx"
    onnx.save(model, str(path))
    (expected,) = dialect_run(canonical(model), g.feeds)
    result = tvm_pulp.compile(path, target=target, soc="siracusa", l1=16384).run(g.feeds)
    (found,) = result.outputs.values()
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)
