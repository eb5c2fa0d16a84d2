"""Weights that every step of a recurrent layer reads come to L1 once and stay."""

from pathlib import Path

import numpy as np
import pytest

from tests.frontend.quantized_onnx import onnxruntime_run
from tests.frontend.recurrent_networks import keyword_spotting, spoken
from tvm_pulp import compile


def test_weights_of_steps_stay(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path, x = tmp_path / "model.onnx", {"x": spoken(1, 8)}
    model = keyword_spotting("RNN", frames=8, hidden=20)
    path.write_bytes(model.SerializeToString())
    app = compile(path, soc="siracusa")
    assert app.compilation is not None
    plan = app.compilation.plan
    (weights,) = [t for t in plan.policy.resident if t.kind == "constant"]
    readers = plan.policy.resident[weights]
    # The first of four steps has no state yet; one that reads what others bring moves less than the weights.
    assert len(readers) == 3 and weights.spec.bytes == 4 * 20 * 20
    result = app.run(x)
    moved = [result.report["layers"][reader]["dma_bytes"] for reader in sorted(readers)]
    assert min(moved) < weights.spec.bytes
    np.testing.assert_allclose(result.outputs["y"], onnxruntime_run(model, x)[0], rtol=1e-4, atol=1e-5)
