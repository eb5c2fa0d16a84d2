"""Shape arithmetic that exporters leave in the graph, folded while importing, against onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")
END = np.iinfo(np.int64).max


def _shape_slice(g: Builder, x: str, start: int, end: int) -> str:
    return str(g.node("Slice", [g.node("Shape", [x]), *(g.constant(np.array([v])) for v in (start, end, 0))]))


def _ones(g: Builder, count: Any, value: int = 1) -> str:
    made = numpy_helper.from_array(np.array([value], np.int64))
    return str(g.node("ConstantOfShape", [count], value=made))


def flatten(g: Builder, x: str) -> str:
    """x.flatten(2)"""
    shape = g.node("Concat", [_shape_slice(g, x, 0, 2), g.constant(np.array([-1]))], axis=0)
    return str(g.node("Reshape", [x, shape]))


def view(g: Builder, x: str) -> str:
    """x.view(batch, channels // 2, 2, -1), with the quotient computed from the shape"""
    channels = g.node("Gather", [g.node("Shape", [x]), g.constant(np.array(1))])
    half = g.node("Cast", [g.node("Div", [channels, g.constant(np.array(2))])], to=TensorProto.INT64)
    parts = [g.constant(np.array([1])), g.node("Unsqueeze", [half, g.constant(np.array([0]))])]
    parts += [g.constant(np.array([2])), g.constant(np.array([-1]))]
    return str(g.node("Reshape", [x, g.node("Concat", parts, axis=0)]))


def padded(g: Builder, x: str, value: float = 0.0) -> str:
    """F.pad(x, (1, 2)) of the legacy exporter: the list is padded with zeros and turned around at run time"""
    pads = g.constant(np.array([1, 2]))
    rank = g.node("Mul", [g.node("Size", [g.node("Shape", [x])]), g.constant(np.array(2))])
    missing = g.node("Sub", [rank, g.node("Gather", [g.node("Shape", [pads]), g.constant(np.array(0))])])
    zeros = _ones(g, g.node("Unsqueeze", [missing, g.constant(np.array([0]))]), 0)
    pairs = g.node("Reshape", [g.node("Concat", [pads, zeros], axis=0), g.constant(np.array([-1, 2]))])
    turned = g.node("Slice", [pairs, *(g.constant(np.array([v])) for v in (-1, -END, 0, -1))])
    flat = g.node("Reshape", [g.node("Transpose", [turned], perm=[1, 0]), g.constant(np.array([-1]))])
    widths = g.node("Cast", [flat], to=TensorProto.INT64)
    return str(g.node("Pad", [x, widths, g.constant(np.float32(value))], mode="constant"))


def padded_with_a_value(g: Builder, x: str) -> str:
    return padded(g, x, -1.5)


def expanded(g: Builder, x: str) -> str:
    """x[:, :, None].expand(-1, -1, 3, -1, -1)"""
    wanted = g.constant(np.array([-1, -1, 3, -1, -1]))
    ones = _ones(g, g.constant(np.array([5])))
    chosen = g.node("Where", [g.node("Equal", [wanted, g.node("Mul", [ones, g.constant(np.array(-1))])]), ones, wanted])
    return str(g.node("Expand", [g.node("Unsqueeze", [x, g.constant(np.array([2]))]), chosen]))


def positions(g: Builder, x: str) -> str:
    """x + arange(x.shape[-1])"""
    last = g.node("Gather", [g.node("Shape", [x]), g.constant(np.array(-1))])
    steps = g.node("Range", [g.constant(np.array(0)), last, g.constant(np.array(1))])
    return str(g.node("Add", [x, g.node("Cast", [steps], to=TensorProto.FLOAT)]))


def tiled(g: Builder, x: str) -> str:
    """x.repeat(1, 2, 1, 1)"""
    ones = _ones(g, g.node("Shape", [g.node("Shape", [x])]))
    return str(g.node("Tile", [x, g.node("Mul", [ones, g.constant(np.array([1, 2, 1, 1]))])]))


def scaled(g: Builder, x: str) -> str:
    """x / sqrt(x.shape[-1])"""
    root = g.node("Sqrt", [g.node("Cast", [_shape_slice(g, x, -1, END)], to=TensorProto.FLOAT)])
    return str(g.node("Mul", [x, g.node("Sqrt", [g.node("Div", [g.constant(np.float32([1.0])), root])])]))


CASES: list[Callable[[Builder, str], str]] = [
    *(flatten, view, padded, padded_with_a_value, expanded, positions, tiled, scaled),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_folded(case: Callable[[Builder, str], str]) -> None:
    g = Builder(np.random.default_rng(0))
    result = case(g, g.activation([1, 4, 3, 5], "int8"))
    model = g.model([result], TensorProto.FLOAT)
    (wanted,) = onnxruntime_run(model, g.feeds)
    module = canonical(model)
    assert not {"relax.shape_of", "relax.tensor_to_shape", "relax.sqrt"} & operators(module)
    (found,) = dialect_run(module, g.feeds)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_quantized_constants_stay_integers() -> None:
    # The weight is quantized in the graph; folding must not turn it into floats.
    g = Builder(np.random.default_rng(0))
    scale, zero = g.constant(np.float32(0.01)), g.constant(np.int8(0))
    weight = g.constant(g.rng.normal(size=(8, 4)).astype(np.float32))
    real = g.node("DequantizeLinear", [g.node("QuantizeLinear", [weight, scale, zero]), scale, zero])
    result = g.quantized(g.node("MatMul", [g.activation([3, 8], "int8"), real]))
    model = g.typed_model([result])
    module = canonical(model)
    assert "matmul" in operators(module) or "dense" in operators(module)
    np.testing.assert_array_equal(dialect_run(module, g.feeds)[0], onnxruntime_run(model, g.feeds)[0])


def test_pad_value_stored_as_an_integer() -> None:
    # A quantizer stores the constant that is padded with as it stores weights.
    g = Builder(np.random.default_rng(0))
    scale, zero = g.constant(np.float32(0.004)), g.constant(np.int8(2))
    value = g.node("DequantizeLinear", [g.constant(np.int8(127)), scale, zero])
    widths = g.constant(np.array([0, 0, 1, 2, 0, 0, 0, 1]))
    model = g.typed_model([g.quantized(g.node("Pad", [g.activation([1, 3, 4, 5], "int8"), widths, value]))])
    module = canonical(model)
    assert "pad" in operators(module)
    np.testing.assert_array_equal(dialect_run(module, g.feeds)[0], onnxruntime_run(model, g.feeds)[0])


def test_no_warning_of_the_framework(capfd: pytest.CaptureFixture[str]) -> None:
    from tvm_pulp.frontend.imported import ImportOptions
    from tvm_pulp.frontend.onnx_file import from_model
    from tvm_pulp.frontend.onnx_importer import import_standard
    from tvm_pulp.planning.lowering import build_network

    g = Builder(np.random.default_rng(0))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 3])
    g.inputs.append(ids)
    rows = g.node("Gather", [g.constant(g.rng.normal(size=(8, 4)).astype(np.float32)), "ids"])
    scale = g.constant(np.float32(0.1))
    result = g.node("DequantizeLinear", [g.node("QuantizeLinear", [rows, scale]), scale])
    imported = import_standard(from_model(g.model([result], TensorProto.FLOAT)), ImportOptions())
    from tvm_pulp.canonicalize.pipeline import canonicalize

    build_network(canonicalize(imported), imported, "default")
    shown = capfd.readouterr()
    assert not shown.out and not shown.err
