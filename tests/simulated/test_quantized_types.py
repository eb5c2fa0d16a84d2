"""Networks of every integer type that onnxruntime's quantizer writes: host, cores and NEUREKA against onnxruntime.

The network has what classifiers have: a strided and a pointwise convolution, a residual sum, a mean, a dense layer.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp
from tests.frontend.quantized_onnx import onnxruntime_run
from tests.simulated.simulated_run import simulate

quantization = pytest.importorskip("onnxruntime.quantization")
_TYPES = quantization.QuantType
# Name -> types of activations and weights, per channel.
FORMS = {
    "int8": (_TYPES.QInt8, _TYPES.QInt8, True),
    "uint8_weights": (_TYPES.QUInt8, _TYPES.QUInt8, False),
    "uint8": (_TYPES.QUInt8, _TYPES.QInt8, True),
    "int16": (_TYPES.QInt16, _TYPES.QInt8, True),
    "uint16": (_TYPES.QUInt16, _TYPES.QInt8, False),
    "int4_weights": (_TYPES.QInt8, _TYPES.QInt4, True),
    "uint4_weights": (_TYPES.QUInt8, _TYPES.QUInt4, False),
}
TARGETS: dict[str, dict[str, Any]] = {
    "host": {"target": "c"},
    "cores": {"target": "c", "soc": "siracusa"},
    "neureka": {"target": "uma-neureka"},
}
SHAPE = [1, 3, 11, 10]


class Calibration(quantization.CalibrationDataReader):
    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._batches = iter([{"input": rng.normal(size=SHAPE).astype(np.float32)} for _ in range(4)])

    def get_next(self) -> Any:
        return next(self._batches, None)


def classifier() -> Any:
    """Float network; weights lean to one side, so that a zero point of unsigned ones is not in their middle."""
    rng = np.random.default_rng(5)
    constants: list[Any] = []
    nodes: list[Any] = []

    def held(values: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(values.astype(np.float32), f"c{len(constants)}"))
        return str(constants[-1].name)

    def node(op: str, operands: list[str], **attributes: Any) -> str:
        nodes.append(helper.make_node(op, operands, [f"t{len(nodes)}"], name=f"n{len(nodes)}", **attributes))
        return str(nodes[-1].output[0])

    def conv(x: str, inputs: int, outputs: int, size: int, stride: int) -> str:
        weights = rng.normal(0.2, 1, (outputs, inputs, size, size)) / np.sqrt(inputs * size * size)
        operands = [x, held(weights), held(0.1 * rng.normal(size=outputs))]
        pad = size // 2
        return node("Conv", operands, kernel_shape=[size, size], strides=[stride] * 2, pads=[pad] * 4)

    x = node("Relu", [conv("input", 3, 12, 3, 2)])
    y = conv(node("Relu", [conv(x, 12, 12, 3, 1)]), 12, 12, 1, 1)
    z = node("Relu", [node("Add", [x, y])])
    flat = node("Flatten", [node("GlobalAveragePool", [z])])
    out = node("Gemm", [flat, held(rng.normal(size=(7, 12)) / 3), held(0.1 * rng.normal(size=7))], transB=1)
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("input", SHAPE), (out, [1, 7]))]
    graph = helper.make_graph(nodes, "classifier", info[:1], info[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model


@cache
def quantized(form: str, folder: Path) -> Any:
    """The classifier with integer ends: quantize and dequantize of floats are another test's."""
    activations, weights, per_channel = FORMS[form]
    onnx.save(classifier(), folder / "float.onnx")
    quantization.quantize_static(
        folder / "float.onnx", folder / "quantized.onnx", Calibration(), per_channel=per_channel,
        activation_type=activations, weight_type=weights,
    )  # fmt: skip
    model = onnx.load(folder / "quantized.onnx")
    graph, types = model.graph, {t.name: t.data_type for t in model.graph.initializer}
    first = next(n for n in graph.node if n.input[0] == "input")
    last = next(n for n in graph.node if graph.output[0].name in n.output)
    ends = (first.output[0], types[first.input[2]], SHAPE), (last.input[0], types[last.input[2]], [1, 7])
    graph.node.remove(first)
    graph.node.remove(last)
    del graph.input[:], graph.output[:]
    graph.input.append(helper.make_tensor_value_info(*ends[0]))
    graph.output.append(helper.make_tensor_value_info(*ends[1]))
    return model


def inputs_of(model: Any) -> list[np.ndarray]:
    """A few random images in the network's own type."""
    dtype = helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    limits, rng = np.iinfo(dtype), np.random.default_rng(2)
    return [rng.integers(limits.min, limits.max + 1, SHAPE).astype(dtype) for _ in range(2)]


@pytest.mark.sample(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_equal_to_onnxruntime(form: str, target: str, tmp_path: Path) -> None:
    """Float32 sums may decide a value that is next to a tie the other way; it is then off by one."""
    model = quantized(form, tmp_path)
    onnx.save(model, tmp_path / "ends.onnx")
    app = tvm_pulp.compile(tmp_path / "ends.onnx", **TARGETS[target])
    name = model.graph.input[0].name
    for x in inputs_of(model):
        (expected,) = onnxruntime_run(model, {name: x})
        found = next(iter(app.run({name: x}).outputs.values())) if target == "host" else simulate(app, [x]).outputs[0]
        difference = np.abs(found.astype(np.int64) - expected.astype(np.int64))
        # Sixteen bits are finer than float32 sums of them.
        assert difference.max() <= (1 if "16" in form else 0)
        assert found.argmax() == expected.argmax()


@pytest.mark.parametrize("form", FORMS)
def test_no_convolution_runs_in_generated_loops(form: str, tmp_path: Path) -> None:
    model = quantized(form, tmp_path)
    onnx.save(model, tmp_path / "ends.onnx")
    report = simulate(tvm_pulp.compile(tmp_path / "ends.onnx", **TARGETS["cores"])).report
    forms = {layer["name"]: layer["form"] for layer in report["layers"] if layer["op"] == "conv2d"}
    assert len(forms) == 3 and all(name.endswith("kernel") for name in forms.values()), forms


@pytest.mark.parametrize("form", ["int4_weights", "uint4_weights"])
def test_four_bits_take_the_engine_less_time(form: str, tmp_path: Path) -> None:
    """NEUREKA's 3x3 mode takes a cycle for every bit of a weight: the engine's own time of such a layer shows it."""
    bounds = []
    for kind in (form, "int8"):
        folder = tmp_path / kind
        folder.mkdir()
        onnx.save(quantized(kind, folder), folder / "ends.onnx")
        report = simulate(tvm_pulp.compile(folder / "ends.onnx", **TARGETS["neureka"])).report
        bounds.append(next(layer["bound_cycles"] for layer in report["layers"] if layer["form"] == "3x3"))
    assert bounds[0] < 0.9 * bounds[1]
