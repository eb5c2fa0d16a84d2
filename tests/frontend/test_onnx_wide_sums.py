"""16-bit activations of ONNX whose sums 32 bits cannot hold: integers all the same, within one of onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

DEPTH = 3000


def _model(kind: str) -> tuple[Any, dict[str, np.ndarray]]:
    g = Builder(np.random.default_rng([5, *kind.encode()]))
    scale, zero = g.constant(np.float32(1e-4)), g.constant(np.int16(0))
    shape = [2, DEPTH] if kind == "dense" else [1, DEPTH // 10, 4, 4]
    x, _, _ = g.integers(shape, "int16")
    real = g.node("DequantizeLinear", [x, scale, zero])
    weight = g.rng.integers(-127, 128, (DEPTH, 6) if kind == "dense" else (6, DEPTH // 10, 3, 3)).astype(np.int8)
    held = g.node("DequantizeLinear", [g.constant(weight), g.constant(np.float32(0.01))])
    made = g.node("MatMul" if kind == "dense" else "Conv", [real, held])
    # Inputs that follow the signs of the first channel's weights make its sums large.
    signs = np.sign(weight[:, 0]) if kind == "dense" else np.ones(1)
    g.feeds[x] = (g.rng.integers(20000, 32768, shape) * signs).astype(np.int16)
    result = g.node("QuantizeLinear", [made, g.constant(np.float32(0.2)), zero])
    model = g.typed_model([result])
    # The first that quantizes to 16 bits.
    model.opset_import[0].version, model.ir_version = 21, 10
    return model, g.feeds


@pytest.mark.parametrize("kind", ["dense", "conv2d"])
def test_within_one_of_onnxruntime(kind: str) -> None:
    model, feeds = _model(kind)
    module = canonical(model)
    assert kind in operators(module)
    (found,), (wanted,) = dialect_run(module, feeds), onnxruntime_run(model, feeds)
    assert np.abs(wanted.astype(int)).max() < 32767
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize("kind", ["dense", "conv2d"])
def test_parts_of_the_depth_on_the_cores(kind: str, tmp_path: Path) -> None:
    """The kernel that adds 32-bit sums of parts, in a network: the same integers, in the second run too."""
    model, feeds = _model(kind)
    (wanted,) = dialect_run(canonical(model), feeds)
    onnx.save(model, tmp_path / "model.onnx")
    ran = tvm_pulp.compile(tmp_path / "model.onnx", soc="siracusa").run(feeds)
    (made,) = ran.outputs.values()
    assert np.array_equal(made, wanted)
    assert any("long dense kernel" in layer["form"] or "long_dense" in layer["form"] for layer in ran.report["layers"])
