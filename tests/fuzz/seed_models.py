"""Small valid models that the fuzzer starts from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.frontend.quantized_onnx import Builder
from tests.frontend.single_tflite import Tensor, write
from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph, number


def _quantize(g: Builder, real: str) -> str:
    return str(g.node("QuantizeLinear", [real, g.constant(np.float32(0.06)), g.constant(np.int8(3))]))


def _requantized(g: Builder, real: str) -> str:
    integers = _quantize(g, real)
    return str(g.node("DequantizeLinear", [integers, g.constant(np.float32(0.06)), g.constant(np.int8(3))]))


def image_network(rng: np.random.Generator) -> Any:
    g = Builder(rng)
    x = g.activation([1, 3, 8, 8], "int8")
    bias = g.constant(rng.normal(size=4).astype(np.float32))
    x = _requantized(g, g.node("Relu", [g.node("Conv", [x, g.weight([4, 3, 3, 3]), bias], pads=[1, 1, 1, 1])]))
    side = _requantized(g, g.node("Conv", [x, g.weight([4, 1, 3, 3])], group=4, pads=[1, 1, 1, 1]))
    x = _requantized(g, g.node("Add", [x, side]))
    x = g.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = _requantized(g, g.node("GlobalAveragePool", [x]))
    x = g.node("Reshape", [x, g.constant(np.array([1, 4], np.int64))])
    x = _requantized(g, g.node("Gemm", [x, g.weight([5, 4], 0)], transB=1))
    return g.typed_model([_quantize(g, g.node("Softmax", [x], axis=-1))])


def token_network(rng: np.random.Generator) -> Any:
    g = Builder(rng)
    x = g.activation([1, 4, 8], "int8")
    weights = [g.constant(rng.normal(size=8).astype(np.float32)) for _ in range(2)]
    normal = _requantized(g, g.node("LayerNormalization", [x, *weights]))
    turned = g.node("Transpose", [normal], perm=[0, 2, 1])
    scores = _requantized(g, g.node("MatMul", [normal, turned]))
    mixed = _requantized(g, g.node("MatMul", [_requantized(g, g.node("Softmax", [scores], axis=-1)), normal]))
    first, second = g.node("Split", [mixed, g.constant(np.array([4, 4], np.int64))], 2, axis=2)
    joined = g.node("Concat", [second, g.node("Mul", [first, second])], axis=2)
    picked = g.node("Gather", [_requantized(g, joined), g.constant(np.array([0, 2], np.int64))], axis=1)
    return g.typed_model([_quantize(g, g.node("Tanh", [g.node("ReduceMean", [picked], axes=[1])]))])


def operator_form(rng: np.random.Generator) -> Any:
    g = Builder(rng)
    x = g.integers([1, 2, 6, 6], "uint8")
    out = [g.constant(np.float32(0.1)), g.constant(np.uint8(100))]
    y = g.node("QLinearConv", [*x, *g.weight_integers([3, 2, 3, 3], 0, True), *out], pads=[1, 1, 1, 1])
    y = g.node("QLinearAdd", [y, *out, y, *out, *out], domain="com.microsoft")
    y = g.node("QLinearGlobalAveragePool", [y, *out, *out], domain="com.microsoft")
    return g.typed_model([g.node("QLinearSigmoid", [y, *out, *out], domain="com.microsoft")])


def float_network(rng: np.random.Generator) -> Any:
    g = Builder(rng)
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 1, 4]))
    shapes = [(1, 12, 4), (1, 12, 4), (1, 24)]
    states = g.node(
        "GRU", ["x", *(g.constant(rng.normal(size=s).astype(np.float32)) for s in shapes)], 2, hidden_size=4
    )
    scales = g.constant(np.array([1, 1, 2], np.float32))
    x = g.node("Resize", [states[1], "", scales], mode="linear")
    x = g.node("Pad", [x, g.constant(np.array([0, 0, 1, 0, 0, 1], np.int64))], mode="edge")
    return g.model([g.node("Erf", [x])], TensorProto.FLOAT)


def integer_dialect(rng: np.random.Generator) -> Any:
    graph = OnnxGraph("dialect")
    graph.declare_input("x", "int8", [1, 2, 5, 5])
    weight = graph.constant("w", rng.integers(-8, 8, (3, 2, 3, 3)))
    graph.node("Conv", ["x", weight], "acc", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], group=1)
    tensors = [graph.constant("m", np.full((3, 1, 1), 400)), graph.constant("a", np.full((3, 1, 1), 30))]
    levels = {"n_levels_out": number(256, 1), "signed": number(1, 1), "div": number(1 << 16)}
    graph.node("RequantShift", ["acc", *tensors], "y", private=True, **levels)
    graph.node("iGELU", ["y"], "z", private=True, b=-70, one=6000)
    graph.declare_output("z", "int8", [1, 3, 5, 5])
    model = graph.model()
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    return model


ONNX: dict[str, Callable[[np.random.Generator], Any]] = {
    "image": image_network,
    "token": token_network,
    "operator_form": operator_form,
    "float": float_network,
    "dialect": integer_dialect,
}


def write_tflite(folder: Path, rng: np.random.Generator) -> list[Path]:
    """TFLite models of one operator each; needs the schema of ai-edge-litert."""
    from ai_edge_litert import schema_py_generated as schema

    def quantized(*shape: int) -> Tensor:
        return Tensor(shape, scale=0.05, zero_point=-3)

    conv = schema.Conv2DOptionsT()
    conv.padding, conv.strideH, conv.strideW = schema.Padding.SAME, 1, 1
    weight = rng.integers(-127, 128, (4, 3, 3, 2)).astype(np.int8)
    kernel = Tensor(weight.shape, "int8", [0.01] * 4, 0, weight)
    bias = Tensor((4,), "int32", [0.0005] * 4, 0, np.zeros(4, np.int32))
    add, pool = schema.AddOptionsT(), schema.Pool2DOptionsT()
    pool.padding, pool.strideH, pool.strideW, pool.filterHeight, pool.filterWidth = 0, 2, 2, 2, 2
    softmax = schema.SoftmaxOptionsT()
    softmax.beta = 1.0
    pads = Tensor((2, 2), "int32", data=np.array([[0, 1], [2, 0]], np.int32))
    cases: list[tuple[str, list[Tensor], Tensor, Any]] = [
        ("CONV_2D", [quantized(1, 5, 5, 2), kernel, bias], quantized(1, 5, 5, 4), conv),
        ("ADD", [quantized(2, 3), quantized(1, 3)], quantized(2, 3), add),
        ("MAX_POOL_2D", [quantized(1, 4, 4, 2)], quantized(1, 2, 2, 2), pool),
        ("SOFTMAX", [quantized(2, 9)], Tensor((2, 9), scale=1 / 256, zero_point=-128), softmax),
        ("PAD", [quantized(3, 4), pads], quantized(4, 6), schema.PadOptionsT()),
    ]
    paths = []
    for op, operands, result, options in cases:
        paths.append(folder / f"{op.lower()}.tflite")
        write(paths[-1], op, operands, result, options)
    return paths
