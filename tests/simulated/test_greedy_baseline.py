"""The plan against the greedy baseline, measured: never slower, and both compute the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, deeploy_cases, read_arrays

# The plan may be slower by this much, since it is chosen by an estimate.
MOST_SLOWER = 1.02
# Activations in L2 may take this much more than the largest set that is alive at once.
MOST_ABOVE_LIVE_SET = 1.05
DEFAULT = {
    ("Models/MLPerf/KeywordSpotting", "cluster"),
    ("Models/MLPerf/ImageClassification", "neureka-sram"),
    ("Models/CCT/Int/ICCT", "neureka-sram"),
    ("Models/miniMobileNetv2", "neureka"),
}


# Seconds that the solver may take.
MOST_SECONDS = {"Models/MLPerf/": 5, "Models/microLlama/": 20}


def check(model: str, inputs: dict[str, np.ndarray], options: dict[str, Any], seconds: float = 20) -> None:
    planned = tvm_pulp.compile(model, **options)
    memory = planned.metadata["memory"]
    assert memory["arena_bytes"] <= MOST_ABOVE_LIVE_SET * memory["largest_live_set_bytes"]
    result, baseline = planned.run(inputs), tvm_pulp.compile(model, planner="greedy", **options).run(inputs)
    for name, array in baseline.outputs.items():
        np.testing.assert_array_equal(result.outputs[name], array)
    assert result.report["cycles"] <= MOST_SLOWER * baseline.report["cycles"]
    assert result.report["planner"]["name"] == "solver" and baseline.report["planner"]["name"] == "greedy"
    assert 0 < result.report["host"]["solver_s"] <= seconds


def golden() -> list[Any]:
    cases = deeploy_cases()
    if not cases:
        reason = f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder"
        return [pytest.param("", "", marks=pytest.mark.skip(reason=reason), id="golden data")]
    return [
        pytest.param(case, name, id=f"{case}-{name}", marks=[] if (case, name) in DEFAULT else [pytest.mark.slow])
        for case in cases
        for name in CONFIGURATIONS
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("case", "configuration"), golden())
def test_golden(golden_data: Path, case: str, configuration: str) -> None:
    folder = golden_data / "deeploy" / case
    inputs = dict(read_arrays(folder / "inputs.npz"))
    options = {**CONFIGURATIONS[configuration], "sample_inputs": list(inputs.items())}
    limits = [most for start, most in MOST_SECONDS.items() if case.startswith(start)]
    check(str(folder / "network.onnx"), inputs, options, *limits)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("case", ["kws", "vww", "resnet", "toycar"])
def test_mlperf_tiny(golden_data: Path, case: str, configuration: str) -> None:
    folder = golden_data / "mlperf_tiny" / case
    with np.load(folder / "golden.npz") as vectors:
        array = vectors["inputs"][0]
    app = tvm_pulp.compile(folder / "model.tflite", planner="greedy", **CONFIGURATIONS[configuration])
    (entry,) = app.metadata["tvm_pulp"]["inputs"]
    check(str(folder / "model.tflite"), {entry["name"]: array}, CONFIGURATIONS[configuration])


@pytest.mark.parametrize(("model", "target"), [("dscnn", "c"), ("resnet8", "uma-neureka")])
def test_zoo(model: str, target: str) -> None:
    options = {"target": target, "soc": "siracusa"}
    app = tvm_pulp.compile(f"zoo:{model}", planner="greedy", **options)
    source = np.random.default_rng(7)
    entries = app.metadata["tvm_pulp"]["inputs"]
    inputs = {e["name"]: source.integers(-128, 127, e["shape"]).astype(e["dtype"]) for e in entries}
    check(f"zoo:{model}", inputs, options)
