"""Networks quantized by onnxruntime's static and dynamic quantizers, against onnxruntime without optimizations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.frontend.float_networks import NETWORKS
from tests.frontend.quantized_onnx import canonical, dialect_run, onnxruntime_run

quantization = pytest.importorskip("onnxruntime.quantization")


class Calibration(quantization.CalibrationDataReader):
    """A few seeded random inputs."""

    def __init__(self, shape: list[int]) -> None:
        rng = np.random.default_rng(0)
        self._batches: Iterator[Any] = iter([{"input": rng.normal(size=shape).astype(np.float32)} for _ in range(8)])

    def get_next(self) -> Any:
        return next(self._batches, None)


def _shape(model: Any) -> list[int]:
    return [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]


def _static(model: Any, folder: Path, form: str) -> Any:
    source, target = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(model, source)
    types = quantization.QuantType
    quantization.quantize_static(
        source,
        target,
        Calibration(_shape(model)),
        quant_format=getattr(quantization.QuantFormat, "QDQ" if form.startswith("qdq") else "QOperator"),
        per_channel=form == "qdq_per_channel",
        activation_type=types.QInt8 if form == "qdq_per_channel" else types.QUInt8,
        weight_type=types.QInt8,
    )
    return onnx.load(target)


def _compare(model: Any, step: float) -> None:
    """At least 99 % of the outputs within two steps, and the same largest output."""
    module, rng = canonical(model), np.random.default_rng(1)
    close, total = 0, 0
    for _ in range(4):
        feeds = {"input": rng.normal(size=_shape(model)).astype(np.float32)}
        (expected,), (result,) = onnxruntime_run(model, feeds), dialect_run(module, feeds)
        assert result.shape == expected.shape
        close += int((np.abs(result - expected) <= 2.001 * step).sum())
        total += expected.size
        if expected.ndim == 2:
            # Equal outputs share the first place.
            assert result[0, expected.argmax()] >= result.max() - 1e-6
    assert close >= 0.99 * total, f"{close} of {total}"


def _output_step(model: Any) -> float:
    """Scale of the network's output."""
    scales = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    output = model.graph.output[0].name
    last = next(n for n in model.graph.node if output in n.output)
    return float(scales[last.input[1]].max()) if last.op_type == "DequantizeLinear" else 1e-3


@pytest.mark.sample(6)
@pytest.mark.parametrize("form", ["qdq", "qdq_per_channel", "operator"])
@pytest.mark.parametrize("network", NETWORKS)
def test_static(network: str, form: str, tmp_path: Path) -> None:
    model = _static(NETWORKS[network](), tmp_path, form)
    _compare(model, _output_step(model))


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_dynamic(network: str, tmp_path: Path) -> None:
    # Scales are computed at run time, in float: equal up to the noise of float32 sums.
    source, target = tmp_path / "float.onnx", tmp_path / "quantized.onnx"
    onnx.save(NETWORKS[network](), source)
    quantization.quantize_dynamic(source, target)
    _compare(onnx.load(target), 1e-2)
