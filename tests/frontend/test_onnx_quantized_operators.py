"""Random graphs of one quantized operator (QLinear..., ...Integer) against onnxruntime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")
MICROSOFT = "com.microsoft"


def _size(g: Builder, low: int = 1, high: int = 9) -> int:
    return int(g.rng.integers(low, high + 1))


def _output(g: Builder, dtype: str) -> list[str]:
    """Scale and zero point of a result of about unit scale."""
    scale = g.constant(np.float32(np.exp(g.rng.uniform(-4, -2))))
    return [scale, g.constant(np.asarray(g.rng.integers(-20, 20) + (128 if dtype == "uint8" else 0), dtype))]


def _accumulator_bias(g: Builder, channels: int) -> str:
    return g.constant(g.rng.integers(-2000, 2000, channels).astype(np.int32))


def qlinear_conv(g: Builder) -> str:
    groups = int(g.rng.choice([1, 2]))
    channels, filters, kernel = groups * _size(g, 1, 4), groups * _size(g, 1, 4), [_size(g, 1, 3), _size(g, 1, 3)]
    x = g.integers([1, channels, 4 + _size(g), 4 + _size(g)], "uint8")
    weight = g.weight_integers([filters, channels // groups, *kernel], 0, bool(g.rng.integers(2)))
    operands = [*x, *weight, *_output(g, "uint8")]
    if g.rng.integers(2):
        operands.append(_accumulator_bias(g, filters))
    return g.node("QLinearConv", operands, group=groups, pads=[1, 0, 0, 1], strides=[_size(g, 1, 2), 1])


def qlinear_matmul(g: Builder) -> str:
    depth, columns = _size(g, 1, 40), _size(g)
    a, b = g.integers([_size(g), depth], "uint8"), g.weight_integers([depth, columns], 1, bool(g.rng.integers(2)))
    return g.node("QLinearMatMul", [*a, *b, *_output(g, "uint8")])


def qlinear_matmul_activations(g: Builder) -> str:
    a, b = g.integers([2, 3, 5], "uint8"), g.integers([2, 5, 4], "uint8")
    return g.node("QLinearMatMul", [*a, *b, *_output(g, "uint8")])


def qgemm(g: Builder) -> str:
    depth, columns, transposed = _size(g, 1, 30), _size(g), int(g.rng.integers(2))
    a = g.integers([_size(g), depth], "uint8")
    b = g.weight_integers([columns, depth] if transposed else [depth, columns], 1 - transposed, False)
    bias = _accumulator_bias(g, columns)
    return g.node("QGemm", [*a, *b, bias, *_output(g, "uint8")], domain=MICROSOFT, transB=transposed, alpha=1.0)


def binary(op: str) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        dtype = str(g.rng.choice(["int8", "uint8"]))
        a, b = g.integers([3, _size(g), 7], dtype), g.integers([1, 7], dtype)
        return g.node(op, [*a, *b, *_output(g, dtype)], domain=MICROSOFT)

    return build


def unary(op: str, shape: list[int], **attributes: Any) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        dtype = str(g.rng.choice(["int8", "uint8"]))
        operands = [*g.integers(shape, dtype), *_output(g, dtype)]
        return g.node(op, operands, domain=MICROSOFT, **attributes)

    return build


def qlinear_concat(g: Builder) -> str:
    parts = [name for _ in range(3) for name in g.integers([2, _size(g)], "uint8")]
    return g.node("QLinearConcat", [*_output(g, "uint8"), *parts], domain=MICROSOFT, axis=1)


def conv_integer(g: Builder) -> str:
    x, _, zero = g.integers([1, 3, 7, 6], "uint8")
    weight = g.constant(g.rng.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8))
    return g.node("ConvInteger", [x, weight, zero], pads=[1, 1, 0, 1], strides=[2, 1])


def matmul_integer(g: Builder) -> str:
    x, _, zero = g.integers([3, 20], "uint8")
    weight, weight_zero = (g.constant(g.rng.integers(-90, 90, s).astype(np.int8)) for s in ((20, 6), ()))
    return g.node("MatMulInteger", [x, weight, zero, weight_zero])


POOL = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
# Builder, and the dialect operator it must become.
CASES: dict[str, tuple[Callable[[Builder], str], str]] = {
    "QLinearConv": (qlinear_conv, "conv2d"),
    "QLinearMatMul": (qlinear_matmul, "dense"),
    "QLinearMatMul_activations": (qlinear_matmul_activations, "matmul"),
    "QGemm": (qgemm, "dense"),
    "QLinearAdd": (binary("QLinearAdd"), "add"),
    "QLinearMul": (binary("QLinearMul"), "qdq_mul"),
    "QLinearSigmoid": (unary("QLinearSigmoid", [5, 31]), "lookup"),
    "QLinearLeakyRelu": (unary("QLinearLeakyRelu", [5, 31], alpha=0.1), "lookup"),
    "QLinearSoftmax": (unary("QLinearSoftmax", [5, 31], axis=-1, opset=13), "softmax"),
    "QLinearGlobalAveragePool": (unary("QLinearGlobalAveragePool", [1, 4, 5, 6]), "avg_pool"),
    "QLinearGlobalAveragePool_last": (unary("QLinearGlobalAveragePool", [1, 5, 6, 4], channels_last=1), "avg_pool"),
    "QLinearAveragePool": (unary("QLinearAveragePool", [1, 4, 7, 6], **POOL), "avg_pool"),
    "QLinearConcat": (qlinear_concat, "concat"),
    "ConvInteger": (conv_integer, "conv2d"),
    "MatMulInteger": (matmul_integer, "dense"),
}


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_onnxruntime(case: str) -> None:
    build, operator = CASES[case]
    wrong = total = 0
    for seed in range(12):
        g = Builder(np.random.default_rng([seed, *case.encode()]))
        model = g.typed_model([build(g)])
        (expected,) = onnxruntime_run(model, g.feeds)
        module = canonical(model)
        (result,) = dialect_run(module, g.feeds)
        assert result.dtype == expected.dtype and result.shape == expected.shape
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert difference.max(initial=0) <= (0 if expected.dtype == np.int32 else 1), f"seed {seed}"
        wrong, total = wrong + int((difference != 0).sum()), total + difference.size
        assert operator in operators(module), f"seed {seed}: {operators(module)}"
        assert not operators(module) & {"relax.quantize", "relax.dequantize"}
    assert wrong <= 0.005 * total, f"{wrong} of {total} differ"


def test_dynamic_quantization() -> None:
    # The zero point is computed at run time; the heavy layers are still integer layers of the dialect.
    for op, shape, weight_shape in (("MatMulInteger", [3, 20], [20, 6]), ("ConvInteger", [1, 3, 6, 6], [4, 3, 3, 3])):
        g = Builder(np.random.default_rng(7))
        x = g.name("x")
        g.feeds[x] = g.rng.normal(size=shape).astype(np.float32)
        g.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, shape))
        integers, scale, zero = g.node("DynamicQuantizeLinear", [x], 3)
        weight = g.constant(g.rng.integers(-128, 128, weight_shape).astype(np.int8))
        attributes = {"pads": [1, 1, 1, 1]} if op == "ConvInteger" else {}
        product = g.node(op, [integers, weight, zero], **attributes)
        result = g.node("Mul", [g.node("Cast", [product], to=TensorProto.FLOAT), scale])
        model = g.model([result], TensorProto.FLOAT)
        module = canonical(model)
        assert ("dense" if op == "MatMulInteger" else "conv2d") in operators(module)
        np.testing.assert_allclose(dialect_run(module, g.feeds)[0], onnxruntime_run(model, g.feeds)[0], rtol=1e-5)


@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_dynamic_scales_to_the_last_bit(target: str, tmp_path: Path) -> None:
    """A scale is divided as IEEE 754 says: a bit of it is a bit of every result."""
    g = Builder(np.random.default_rng(8))
    x, shape = g.name("x"), [4, 24]
    g.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, shape))
    integers, scale, zero = g.node("DynamicQuantizeLinear", [x], 3)
    weight = g.constant(g.rng.integers(-128, 128, [24, 8]).astype(np.int8))
    product = g.node("MatMulInteger", [integers, weight, zero])
    result = g.node("Mul", [g.node("Cast", [product], to=TensorProto.FLOAT), scale])
    model = g.model([result], TensorProto.FLOAT)
    onnx.save(model, tmp_path / "dynamic.onnx")
    app = tvm_pulp.compile(tmp_path / "dynamic.onnx", target=target)
    for _ in range(4):
        feeds = {x: g.rng.normal(size=shape).astype(np.float32)}
        (made,) = app.run(feeds).outputs.values()
        np.testing.assert_array_equal(made, onnxruntime_run(model, feeds)[0])
