"""Recurrent layers whose products are integers: what that costs, and that every machine computes the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import canonical, dialect_run, onnxruntime_run, operators
from tests.frontend.recurrent_networks import GATES, keyword_spotting, spoken
from tvm_pulp import compile
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.onnx_integer_recurrent import LARGEST, per_column

pytest.importorskip("onnxruntime")
FRAMES, HIDDEN = 8, 16
INT8 = ImportOptions(recurrent="int8")


def _noise(model: Any, module: Any, samples: np.ndarray) -> float:
    """Of a compiled module beside onnxruntime, relative to the signal."""
    wanted, found = [], []
    for sample in samples:
        feeds = {"x": sample[None]}
        wanted.append(onnxruntime_run(model, feeds)[0])
        found.append(dialect_run(module, feeds)[0])
    return float(np.linalg.norm(np.array(found) - np.array(wanted)) / np.linalg.norm(np.array(wanted)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("attributes", [{}, {"direction": "bidirectional"}], ids=["forward", "bidirectional"])
def test_loss(op: str, attributes: dict[str, Any]) -> None:
    if op == "GRU":
        attributes = {**attributes, "linear_before_reset": int(not attributes)}
    model = keyword_spotting(op, frames=FRAMES, hidden=HIDDEN, **attributes)
    module = canonical(model, INT8)
    assert "dense" in operators(module)
    # Two percent of the signal is 34 dB.
    assert _noise(model, module, spoken(4, FRAMES)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("op", ["GRU", "LSTM"])
def test_host_and_cluster_agree(op: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(keyword_spotting(op, frames=FRAMES, hidden=HIDDEN).SerializeToString())
    x = {"x": spoken(1, FRAMES)}
    outputs = [compile(path, recurrent="int8", **where).run(x).outputs["y"] for where in ({}, {"soc": "siracusa"})]
    np.testing.assert_array_equal(*outputs)


def test_weights_keep_their_largest_value() -> None:
    weights = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    weights[:, 2] = 0
    integers, scales = per_column(weights)
    assert integers.dtype == np.int8 and (np.abs(integers).max(axis=0) == [LARGEST, LARGEST, 0, LARGEST, LARGEST]).all()
    assert np.abs(integers * scales - weights).max() <= scales.max() / 2 * 1.001


def test_a_state_without_bounds_keeps_its_products() -> None:
    # The last function is not bounded: states may be of any size.
    model = keyword_spotting("RNN", frames=FRAMES, hidden=HIDDEN, activations=["Relu"])
    assert "relax.matmul" in operators(canonical(model, INT8))


def test_nothing_recurrent() -> None:
    model = keyword_spotting("GRU", frames=FRAMES, hidden=HIDDEN)
    del model.graph.node[5:]
    model.graph.output[0].name = model.graph.node[-1].output[0]
    with pytest.raises(UserError, match="--recurrent int8: the model has no LSTM, GRU or RNN of floats"):
        import_onnx_graph(from_model(model), INT8)
