"""GroupNorm and InstanceNorm on the cores: equal to the dialect's reference, whole and cut into groups."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(("shape", "l1"), [([1, 6, 9, 7], None), ([2, 12, 11, 30], "8KiB")])
def test_whole_and_in_parts(shape: list[int], l1: str | None, tmp_path: Path) -> None:
    g = Builder(np.random.default_rng(sum(shape)))
    weight, bias = (g.constant(g.rng.uniform(-1.5, 1.5, shape[1]).astype(np.float32)) for _ in range(2))
    model = g.typed_model([g.quantized(g.node("InstanceNormalization", [g.activation(shape), weight, bias]))])
    onnx.save(model, tmp_path / "m.onnx")
    app = tvm_pulp.compile(tmp_path / "m.onnx", "c", soc="siracusa", **({"l1": l1} if l1 else {}))
    assert any("tvm_pulp_kernel_group_norm" in text.decode() for name, text in app.files.items() if name.endswith(".c"))
    result = app.run(g.feeds)
    (entry,) = [entry for entry in result.report["layers"] if entry["op"] == "group_norm"]
    assert (entry["tiles"] > 1) == (l1 is not None)
    (output,) = result.outputs.values()
    np.testing.assert_array_equal(output, dialect_run(canonical(model), g.feeds)[0])
