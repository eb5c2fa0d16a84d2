"""Layers on two engines at once: the parts cover the result, run side by side and give the same bits."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError


def inputs_of(app: tvm_pulp.App) -> dict[str, np.ndarray]:
    source = np.random.default_rng(8)
    entries = app.metadata["tvm_pulp"]["inputs"]
    return {e["name"]: source.integers(-128, 127, e["shape"]).astype(e["dtype"]) for e in entries}


# A layer of rows, and one whose single row is divided by channels.
@pytest.mark.parametrize(
    ("model", "layer", "l1"),
    [
        ("zoo:mobilenetv1", "block1_depthwise", None),
        ("zoo:mobilenetv1", "block1_depthwise", 32768),
        ("zoo:tinyllama", "layer0_gate", None),
    ],
)
def test_parts_run_side_by_side(model: str, layer: str, l1: int | None) -> None:
    host = tvm_pulp.compile(model)
    inputs = inputs_of(host)
    app = tvm_pulp.compile(model, target="uma-neureka", pins={layer: "neureka+cluster"}, l1=l1)
    outputs = app.run(inputs).outputs
    for name, array in host.run(inputs).outputs.items():
        np.testing.assert_array_equal(outputs[name], array)
    plan = json.loads(app.files["plan.json"])
    index = next(i for i, entry in enumerate(plan["layers"]) if entry["name"] == layer)
    kinds = {a["do"] for s in plan["program"] for a in s["actions"] if a.get("layer") == index}
    assert {"job", "kernel"} <= kinds
    assert " beside " in plan["layers"][index]["form"]


def test_a_layer_that_cannot_be_divided_is_named() -> None:
    with pytest.raises(UserError, match=r"--pin pool=neureka\+cluster: .* cannot run this"):
        tvm_pulp.compile("zoo:dscnn", target="uma-neureka", pins={"pool": "neureka+cluster"})
