"""MobileNetV1-1.0 at 128x128, 4 MB of weights: from L3 on the cores, from weight memory on NEUREKA; as the host."""

from __future__ import annotations

import pytest

from tests.simulated.test_planner import check
from tvm_pulp.errors import UserError

MODEL = "zoo:mobilenetv1_1.0_128"


@pytest.mark.slow
def test_from_l3_on_the_cores() -> None:
    report = check(MODEL, target="c", soc="siracusa")
    actions = [a for step in report["plan"]["program"] for a in step["actions"]]
    fetched = sum(a["writes"][0]["bytes"] for a in actions if a["do"] == "fetch")
    # The I/O DMA brings a byte a cycle at most.
    assert 2 << 20 < fetched <= report["memory"]["l3"]["peak"] and fetched < report["cycles"]


@pytest.mark.slow
def test_from_weight_memory_on_neureka() -> None:
    """What exceeds the weight memory runs on the cores."""
    report = check(MODEL, target="uma-neureka")
    assert 2 << 20 < report["memory"]["wmem"]["peak"] <= 4 << 20
    assert sum(layer["engine"] == "neureka" for layer in report["layers"]) > 20


@pytest.mark.slow
def test_whole_layers_that_l2_cannot_hold_are_an_error() -> None:
    """Without weight memory the packed weights of a layer are one piece, and two of them exceed L2."""
    options = {"target": "uma-neureka", "engine_options": {"neureka": {"weight_memory": "none"}}}
    with pytest.raises(UserError, match=r"bytes of L2 and .* are available beside the code .* weight_memory sram"):
        check(MODEL, **options)
