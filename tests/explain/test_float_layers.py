"""What runs float is told in one line, counted in MACs and in time, and never faster than its engine."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.frontend.quantized_onnx import Builder
from tvm_pulp.report.table import engine_shares, engine_texts, layer_table, time_shares


def _model(folder: Path, quantized: bool) -> Path:
    """Two products; the first is float unless its result is quantized."""
    g = Builder(np.random.default_rng(0))
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 32]))
    step = g.constant(np.float32(0.05)), g.constant(np.int8(0))

    def rounded(value: str) -> str:
        return str(g.node("DequantizeLinear", [g.node("QuantizeLinear", [value, *step]), *step]))

    weight = g.constant(g.rng.normal(size=(32, 32)).astype(np.float32))
    first = rounded(g.node("MatMul", [rounded("x"), g.weight([32, 32], 1)])) if quantized else None
    first = first or rounded(g.node("MatMul", ["x", weight]))
    result = rounded(g.node("MatMul", [first, g.weight([32, 8], 1)]))
    path = folder / "model.onnx"
    onnx.save(g.model([result], TensorProto.FLOAT), path)
    return path


def _compiled(path: Path, **options: Any) -> tuple[Any, str]:
    lines: list[str] = []
    app = tvm_pulp.compile(path, progress=lines.append, **options)
    return app, "\n".join(line for line in lines if " float" in line)


def test_one_line(tmp_path: Path) -> None:
    _, told = _compiled(_model(tmp_path, quantized=False), target="c", soc="siracusa")
    assert told.count("\n") == 0 and "run float (about " in told and "% of the time): " in told and "because" in told


def test_float_ends_are_a_reason(tmp_path: Path) -> None:
    path = _model(tmp_path, quantized=True)
    _, told = _compiled(path)
    assert told.startswith("2 layers run float: 2 because the network's inputs and outputs are float (--io int8")
    _, told = _compiled(path, io="int8")
    assert not told


def test_float_products_are_counted(tmp_path: Path) -> None:
    app, _ = _compiled(_model(tmp_path, quantized=False))
    assert app.metadata["tvm_pulp"]["macs"] == 16 * 32 * 32 + 16 * 32 * 8


def test_generated_convolution_is_counted(tmp_path: Path) -> None:
    g = Builder(np.random.default_rng(0))
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 6, 6, 6]))
    weight = g.constant(g.rng.normal(size=(4, 2, 3, 3, 3)).astype(np.float32))
    path = tmp_path / "model.onnx"
    onnx.save(g.model([g.node("Conv", ["x", weight])], TensorProto.FLOAT), path)
    assert tvm_pulp.compile(path).metadata["tvm_pulp"]["macs"] == 4 * 4 * 4 * 4 * 2 * 27


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return tvm_pulp.compile("zoo:resnet8", "uma-neureka").run().report


def test_shares_of_macs_and_of_time(report: dict[str, Any]) -> None:
    macs, times = engine_shares(report), time_shares(report)
    assert sum(macs.values()) == pytest.approx(1) and sum(times.values()) == pytest.approx(1)
    # The cores hold few of the MACs, and their share of the time is theirs all the same.
    assert times["cluster"] > macs.get("cluster", 0)
    assert all(" % of the MACs and " in text and text.endswith(" % of the time") for text in engine_texts(report))


def test_no_layer_above_its_peak(report: dict[str, Any]) -> None:
    columns, rows = layer_table(report)
    for layer, row in zip(report["layers"], rows, strict=True):
        if layer["macs"]:
            shown = float(row[columns.index("MAC/cycle")].replace(",", ""))
            assert shown <= layer["macs"] / layer["bound_cycles"] + 0.01
