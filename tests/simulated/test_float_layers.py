"""Float layers on the simulated cores: right on one core and on eight, with little L1, the host's bits, and fast."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tests.kernels import float_graphs
from tests.simulated.simulated_run import simulate
from tvm_pulp.api import CompileOptions, compile_with

RNG = np.random.default_rng(2)


def weights(*shape: int) -> np.ndarray:
    return (RNG.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)


def chain() -> Any:
    """A convolution, activations, a pool, a normalization by single operators, a mean and a product."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["t0"], pads=[1, 0, 1, 2], strides=[2, 1]),
        helper.make_node("Sigmoid", ["t0"], ["t1"]),
        helper.make_node("Mul", ["t0", "t1"], ["t2"]),
        helper.make_node("MaxPool", ["t2"], ["t3"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Transpose", ["t3"], ["t4"], perm=[0, 2, 3, 1]),
        helper.make_node("Pow", ["t4", "two"], ["t5"]),
        helper.make_node("ReduceMean", ["t5"], ["t6"], axes=[-1]),
        helper.make_node("Add", ["t6", "epsilon"], ["t7"]),
        helper.make_node("Sqrt", ["t7"], ["t8"]),
        helper.make_node("Div", ["t4", "t8"], ["t9"]),
        helper.make_node("Mul", ["t9", "scale"], ["t10"]),
        helper.make_node("Softmax", ["t10"], ["t11"], axis=2),
        helper.make_node("ReduceMean", ["t11"], ["t12"], axes=[1, 2], keepdims=0),
        helper.make_node("Gemm", ["t12", "last", "offset"], ["t13"], transB=1),
        helper.make_node("Erf", ["t13"], ["y"]),
    ]
    constants = {
        "w": weights(7, 3, 3, 3), "b": weights(7), "two": np.float32(2), "epsilon": np.float32(1e-5),
        "scale": weights(7), "last": weights(5, 7), "offset": weights(5),
    }  # fmt: skip
    return float_graphs.graph(nodes, [1, 3, 13, 11], constants)


def moves() -> Any:
    """Lines and images: dilation, transposed convolution, normalization over pixels, parts split and joined."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["t0"], dilations=[2], pads=[4, 0]),
        helper.make_node("Split", ["t0", "sizes"], ["t1", "t2"], axis=1),
        helper.make_node("Neg", ["t2"], ["t3"]),
        helper.make_node("Concat", ["t3", "t1"], ["t4"], axis=1),
        helper.make_node("Reshape", ["t4", "image"], ["t5"]),
        helper.make_node(
            "ConvTranspose", ["t5", "up"], ["t6"], strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]
        ),
        helper.make_node("InstanceNormalization", ["t6", "one", "zero"], ["t7"]),
        helper.make_node("Slice", ["t7", "begin", "end", "axes", "steps"], ["t8"]),
        helper.make_node("Clip", ["t8", "low", "high"], ["t9"]),
        helper.make_node("Gather", ["t9", "rows"], ["y"], axis=2),
    ]
    constants = {
        "w": weights(6, 4, 3), "b": weights(6), "sizes": np.array([2, 4]), "image": np.array([1, 6, 5, 5]),
        "up": weights(6, 3, 3, 3), "one": np.ones(3, np.float32), "zero": weights(3), "begin": np.array([1]),
        "end": np.array([10]), "axes": np.array([3]), "steps": np.array([2]), "low": np.float32(-1),
        "high": np.float32(1.5), "rows": np.array([3, 0, 9]),
    }  # fmt: skip
    return float_graphs.graph(nodes, [1, 4, 25], constants)


def lstm(op: str, gates: int, steps: int, inputs: int, hidden: int) -> Any:
    """One recurrent layer."""
    nodes = [helper.make_node(op, ["x", "w", "r", "b"], ["y"], hidden_size=hidden)]
    shapes = {"w": (1, gates * hidden, inputs), "r": (1, gates * hidden, hidden), "b": (1, 2 * gates * hidden)}
    return float_graphs.graph(nodes, [steps, 1, inputs], {n: weights(*s) for n, s in shapes.items()})


def shape_of(model: Any) -> list[int]:
    return [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]


def run(model: Any, folder: Path, **options: Any) -> Any:
    """Compared with ONNX's own reference."""
    path = folder / "model.onnx"
    onnx.save(model, path)
    x = RNG.normal(size=shape_of(model)).astype(np.float32)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    result = simulate(compile_with(str(path), CompileOptions(target="c", soc="siracusa", **options)), {"x": x})
    largest = float(np.abs(expected).max())
    np.testing.assert_allclose(result.outputs[0], expected, rtol=1e-4, atol=1e-5 * largest)
    on_host = compile_with(str(path), CompileOptions(target="c")).run({"x": x})
    (host,) = on_host.outputs.values()
    np.testing.assert_array_equal(result.outputs[0].view(np.uint32), host.view(np.uint32))
    return result.report


@pytest.mark.parametrize(("cores", "l1"), [(8, None), (1, None), (3, 8192), (8, 8192)])
def test_chain(tmp_path: Path, cores: int, l1: int | None) -> None:
    report = run(chain(), tmp_path, cores=cores, l1=l1)
    # No layer runs on one core because nobody knows its operator.
    assert not any(layer["op"].startswith("tir.") for layer in report["layers"])


@pytest.mark.parametrize("cores", [8, 1])
def test_moves(tmp_path: Path, cores: int) -> None:
    report = run(moves(), tmp_path, cores=cores)
    assert not any(layer["op"].startswith("tir.") for layer in report["layers"])


@pytest.mark.sample(1)
@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_recurrent(tmp_path: Path, op: str, gates: int) -> None:
    assert run(lstm(op, gates, 20, 16, 32), tmp_path)["cycles"] <= 160_000


def test_matrix_product_uses_the_shared_float_units(tmp_path: Path) -> None:
    """Eight cores share four units: four products a cycle are the most there can be."""
    report = run(float_graphs.matmul(RNG, 64, 64, 64), tmp_path)
    assert 64**3 / report["cycles"] >= 3.3


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_quantize(tmp_path: Path, dtype: Any) -> None:
    report = run(float_graphs.quantize(3072, dtype), tmp_path)
    (cycles,) = (layer["cycles"] for layer in report["layers"] if layer["op"] == "quantize")
    assert cycles <= 9000


def test_floats_between_integers(tmp_path: Path) -> None:
    """One layer from integers to integers, on cores with their float units."""
    parameters = {"s": np.float32(0.05), "z": np.array(3, np.int8), "t": np.float32(0.01), "u": np.array(-7, np.int8)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("DequantizeLinear", ["a", "s", "z"], ["b"]),
        helper.make_node("Tanh", ["b"], ["c"]),
        helper.make_node("Sin", ["c"], ["d"]),
        helper.make_node("QuantizeLinear", ["d", "t", "u"], ["e"]),
        helper.make_node("DequantizeLinear", ["e", "t", "u"], ["y"]),
    ]
    report = run(float_graphs.graph(nodes, [40, 33], parameters, opset=19), tmp_path)
    assert len(report["layers"]) == 3


def test_estimates(tmp_path: Path) -> None:
    """Within 30 % for every layer of at least 1,000 cycles."""
    models = [
        float_graphs.matmul(RNG, 24, 40, 56),
        float_graphs.conv(RNG, 8, 12, 10, 3),
        float_graphs.unary("Tanh", 3000),
    ]
    models += [float_graphs.rows("Softmax", 40, 50), float_graphs.rows("LayerNormalization", 30, 60)]
    for model in models:
        for layer in run(model, tmp_path)["layers"]:
            if layer["cycles"] >= 1000 and layer["op"] != "pad":
                assert 0.7 <= layer["estimated_cycles"] / layer["cycles"] <= 1.3, layer
