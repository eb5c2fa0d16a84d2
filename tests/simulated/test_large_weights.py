"""MobileNetV1-1.0 at 128x128, 4 MB of weights: from L3, or from weight memory on NEUREKA; outputs as on the host."""

import re

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
def test_from_l3_on_neureka() -> None:
    """Without weight memory packed weights come from L3, as many output channels at a time as a tile has."""
    report = check(MODEL, target="uma-neureka", engine_options={"neureka": {"weight_memory": "none"}})
    assert report["memory"]["wmem"]["peak"] == 0 and report["memory"]["l3"]["peak"] > 2 << 20
    assert sum(layer["engine"] == "neureka" for layer in report["layers"]) > 20


@pytest.mark.slow
def test_activations_that_l2_cannot_hold_are_an_error() -> None:
    """The L2 that the message asks for is enough."""
    with pytest.raises(UserError, match=r"bytes of L2 and 300000 are available .* raise --l2 to at least \d+") as error:
        check(MODEL, target="c", soc="siracusa", l2=300000)
    needed = re.search(r"--l2 to at least (\d+)", str(error.value))
    assert needed is not None
    assert check(MODEL, target="c", soc="siracusa", l2=int(needed[1]))["memory"]["l3"]["peak"] > 3 << 20
