"""Layers on two engines at once: the parts cover the result, run side by side and give the same bits."""

import pytest

import tvm_pulp
from tests.simulated.test_planner import check
from tvm_pulp.errors import UserError


# A layer of rows, and one whose single row is divided by channels.
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("model", "layer", "l1"),
    [
        ("zoo:mobilenetv1", "block1_depthwise", None),
        pytest.param("zoo:mobilenetv1", "block1_depthwise", 32768, marks=pytest.mark.slow),
        ("zoo:tinyllama", "layer0_gate", None),
    ],
)
def test_parts_run_side_by_side(model: str, layer: str, l1: int | None) -> None:
    plan = check(model, target="uma-neureka", pins={layer: "neureka+cluster"}, l1=l1)["plan"]
    index = next(i for i, entry in enumerate(plan["layers"]) if entry["name"] == layer)
    kinds = {a["do"] for s in plan["program"] for a in s["actions"] if a.get("layer") == index}
    assert {"job", "kernel"} <= kinds
    # What a kernel wrote behind its part would be the next job's.
    kernels = [a for s in plan["program"] for a in s["actions"] if a["do"] == "kernel"]
    assert not any("reach" in write for action in kernels for write in action["writes"])
    assert " beside " in plan["layers"][index]["form"]


def test_a_layer_that_cannot_be_divided_is_named() -> None:
    with pytest.raises(UserError, match=r"--pin pool=neureka\+cluster: .* cannot run this"):
        tvm_pulp.compile("zoo:dscnn", target="uma-neureka", pins={"pool": "neureka+cluster"})
