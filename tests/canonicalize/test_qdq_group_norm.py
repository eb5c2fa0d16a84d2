"""GroupNorm and InstanceNorm between quantized values, in the forms of both exporters, against onnxruntime."""

import numpy as np
import pytest
from onnx import helper

from tests.frontend import quantized_onnx
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _vector(g: Builder, *shape: int) -> str:
    return g.constant(g.rng.normal(size=shape).astype(np.float32))


def instance(g: Builder) -> str:
    return str(g.node("InstanceNormalization", [g.activation([1, 6, 9, 7]), _vector(g, 6), _vector(g, 6)]))


def quantized_weight(g: Builder) -> str:
    """onnxruntime's quantizer stores the weight as integers."""
    return str(g.node("InstanceNormalization", [g.activation([1, 6, 9, 7]), g.weight([6]), _vector(g, 6)]))


def line(g: Builder) -> str:
    return str(g.node("InstanceNormalization", [g.activation([2, 6, 40]), _vector(g, 6), _vector(g, 6)]))


def decomposed(g: Builder) -> str:
    """The older exporter: groups as channels of an InstanceNorm, weights afterwards."""
    rows = g.node("Reshape", [g.activation([1, 8, 6, 5]), g.constant(np.array([0, 2, -1]))])
    one, zero = g.constant(np.ones(2, np.float32)), g.constant(np.zeros(2, np.float32))
    normal = g.node("InstanceNormalization", [rows, one, zero])
    image = g.node("Reshape", [normal, g.constant(np.array([1, 8, 6, 5]))])
    return str(g.node("Add", [g.node("Mul", [image, _vector(g, 8, 1, 1)]), _vector(g, 8, 1, 1)]))


def grouped(g: Builder) -> str:
    return str(g.node("GroupNormalization", [g.activation([1, 8, 6, 5]), _vector(g, 8), _vector(g, 8)], num_groups=4))


@pytest.mark.parametrize("norm", [instance, quantized_weight, line, decomposed, grouped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("activation", ["none", "relu"])
def test_is_one_operator_of_bytes(norm: object, activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within one step of onnxruntime, and equal in at least 99.5 % of all values."""
    opset = 21 if norm is grouped else 17
    monkeypatch.setattr(quantized_onnx, "OPSETS", [helper.make_opsetid("", opset)])
    equal = total = 0
    for seed in range(5):
        g = Builder(np.random.default_rng(seed))
        real = norm(g)  # type: ignore[operator]
        real = g.node("Relu", [real]) if activation == "relu" else real
        model = g.typed_model([g.quantized(real)])
        if opset == 21:
            model.ir_version = 10
        module = canonical(model)
        assert operators(module) - {"relax.reshape", "transpose"} == {"group_norm"}
        (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert difference.max() <= 1
        equal, total = equal + int((difference == 0).sum()), total + difference.size
    assert equal >= 0.995 * total
