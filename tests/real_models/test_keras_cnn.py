"""Keras CNNs in TFLite: equal to TFLite's reference kernels, and as fast with float ends as with integer ones."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.frontend.single_tflite import reference_run
from tests.real_models.keras_cnn import images, write_depthwise_cnn, write_keras_cnn

pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")

CYCLE_BOUND, DEPTHWISE_BOUND = 105_000, 180_000


def test_equals_the_reference_kernels(tmp_path: Path) -> None:
    write_keras_cnn(tmp_path / "cnn.tflite")
    app = tvm_pulp.compile(tmp_path / "cnn.tflite")
    for seed in range(3):
        (result,) = app.run({"t0": images(seed)}).outputs.values()
        assert (result == reference_run(tmp_path / "cnn.tflite", [images(seed)])).all(), f"seed {seed}"


@pytest.mark.slow
def test_float_ends_within_the_bound(tmp_path: Path) -> None:
    write_keras_cnn(tmp_path / "cnn.tflite")
    result = tvm_pulp.compile(tmp_path / "cnn.tflite", target="uma-neureka").run({"t0": images(1)})
    (output,) = result.outputs.values()
    assert (output == reference_run(tmp_path / "cnn.tflite", [images(1)])).all()
    assert result.report["cycles"] <= CYCLE_BOUND


@pytest.mark.slow
def test_depthwise_layers_within_their_bound(tmp_path: Path) -> None:
    write_depthwise_cnn(tmp_path / "cnn.tflite")
    picture = images(1, size=(32, 3))
    result = tvm_pulp.compile(tmp_path / "cnn.tflite", target="uma-neureka").run({"t0": picture})
    (output,) = result.outputs.values()
    assert (output == reference_run(tmp_path / "cnn.tflite", [picture])).all()
    assert result.report["cycles"] <= DEPTHWISE_BOUND
