"""Plans on the simulator: overlap pays, small memories work, weights beyond L2 come from L3; always bit-exact."""

import json
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.codegen.formats import PlanJson, from_json
from tvm_pulp.errors import UserError
from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.soc import CostModel, load


def inputs_of(app: tvm_pulp.App) -> dict[str, np.ndarray]:
    source = np.random.default_rng(3)
    entries = app.metadata["tvm_pulp"]["inputs"]
    return {e["name"]: source.integers(-128, 127, e["shape"]).astype(e["dtype"]) for e in entries}


def check(model: str, **options: Any) -> dict[str, Any]:
    """Run on the simulator and on the host; returns the report."""
    host = tvm_pulp.compile(model)
    inputs = inputs_of(host)
    expected = host.run(inputs).outputs
    app = tvm_pulp.compile(model, **options)
    result = app.run(inputs)
    for name, array in expected.items():
        np.testing.assert_array_equal(result.outputs[name], array)
    return {**result.report, "plan": json.loads(app.files["plan.json"]), "files": app.files}


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_double_buffering_pays_and_can_be_switched_off(target: str) -> None:
    on = check("zoo:dscnn", target=target, soc="siracusa", l1=32768)
    off = check("zoo:dscnn", target=target, soc="siracusa", l1=32768, double_buffer=False)
    assert on["cycles"] < off["cycles"]
    assert not any(a.get("ahead") for s in off["plan"]["program"] for a in s["actions"])
    assert not any(layer["overlap"] for layer in off["plan"]["layers"])


@pytest.mark.parametrize("l1", [*(pytest.param(b, marks=pytest.mark.slow) for b in (8192, 16384)), 65536])
def test_small_memories(l1: int) -> None:
    report = check("zoo:resnet8", target="uma-neureka", l1=l1)
    assert report["memory"]["l1"]["peak"] <= l1


def test_the_estimate_is_close() -> None:
    for target in ("c", "uma-neureka"):
        report = check("zoo:resnet8", target=target, soc="siracusa")
        plan = from_json(PlanJson, json.dumps(report["plan"]))
        expected = estimate_program(plan.program, len(plan.layers), CostModel(load("siracusa")))
        assert 0.8 < expected.cycles / report["cycles"] < 1.25


def test_constants_beyond_l2_come_from_l3() -> None:
    report = check("zoo:autoencoder", target="c", soc="siracusa", l2=200000)
    assert report["memory"]["l3"]["peak"] == len(report["files"]["parameters/l3.bin"]) > 0
    assert any(a["do"] == "fetch" for s in report["plan"]["program"] for a in s["actions"])


def test_an_l2_that_is_too_small_is_named() -> None:
    with pytest.raises(UserError, match="bytes of L2 and 20000 are available"):
        tvm_pulp.compile("zoo:resnet8", target="c", soc="siracusa", l2=20000)


def test_same_model_same_bytes() -> None:
    first, second = (tvm_pulp.compile("zoo:dscnn", target="uma-neureka").files for _ in range(2))
    assert first == second
