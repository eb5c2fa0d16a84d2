"""`tvmc quantize` of recurrent nodes, gate by gate."""

import pytest

from tests.frontend.recurrent_networks import keyword_spotting, spoken
from tvm_pulp.frontend.quantize import quantize

pytest.importorskip("onnxruntime")


def test_gates_are_layers() -> None:
    model, samples = keyword_spotting("GRU", frames=6, hidden=8), {"x": spoken(4, 6)}
    made = quantize(model, samples)
    assert [row.name for row in made.layers if row.operator == "GRU"] == ["cell.update", "cell.reset", "cell.hidden"]
    # No gate costs as much as the layers beside it do.
    assert all(row.sqnr_db > 45 for row in made.layers if row.operator == "GRU") and made.accuracy.sqnr_db > 35
    assert not any(node.op_type == "GRU" for node in made.model.graph.node)
    integers = {i.name for i in made.model.graph.initializer if i.data_type == 3 and list(i.dims) == [8, 8]}
    kept = quantize(model, samples, keep=("cell.reset",))
    fewer = {i.name for i in kept.model.graph.initializer if i.data_type == 3 and list(i.dims) == [8, 8]}
    # Weights of inputs and of the state, of three gates and of two.
    assert (len(integers), len(fewer)) == (6, 4)
