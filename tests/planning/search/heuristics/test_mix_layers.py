"""Plans whose layers mix: first tiles follow each other through the network, and the plan can be read again."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

import tvm_pulp

pytest.importorskip("onnxruntime.quantization")


@pytest.mark.slow
def test_first_tiles_follow_each_other(tmp_path: Path) -> None:
    from tests.real_models import catalog

    model = catalog.write("dscnn", tmp_path)
    app = tvm_pulp.compile(model, target="uma-neureka")
    plan = json.loads(app.files["plan.json"])
    assert plan["interleave"]
    rows = [layer["tile"][1] for layer in plan["layers"] if layer["op"] == "conv2d"]
    # Pointwise layers have as many rows as there are, depthwise ones lose one to their border.
    assert sum(a - b in (0, 1) for a, b in pairwise(rows)) >= 6
    (tmp_path / "plan.json").write_bytes(app.files["plan.json"])
    assert tvm_pulp.compile(model, target="uma-neureka", plan=tmp_path / "plan.json").files == app.files


@pytest.mark.slow
def test_layers_follow_each_other_where_l1_is_too_small_to_mix_them(tmp_path: Path) -> None:
    from tests.real_models import catalog

    app = tvm_pulp.compile(catalog.write("yolo", tmp_path), target="uma-neureka", l1=49152)
    assert json.loads(app.files["plan.json"])["l1_peak"] <= 49152
