"""Golden networks at several L1 budgets: planned alone, or compiled for a run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.simulated.golden_cases import CONFIGURATIONS, DATA, agrees, deeploy_cases, read_arrays
from tvm_pulp import soc
from tvm_pulp.api import Compilation, CompileOptions, compile_with
from tvm_pulp.codegen.formats import PlanJson, from_json, to_json
from tvm_pulp.planning.check.verify_plan import verify_plan
from tvm_pulp.planning.tir.describe import describe

BUDGETS = tuple(1024 * size for size in (8, 16, 32, 64, 128, 220))
SIMULATED_BUDGETS = (BUDGETS[1], BUDGETS[3])
ENGINES = ("cluster", "neureka")
# Networks that are planned in a few seconds whatever the budget.
QUICK = (
    *("Kernels/", "Models/MLPerf/AnomalyDetection", "Models/MLPerf/KeywordSpotting", "Models/miniMobileNet"),
    *("Models/CNN_Linear1", "mlperf_tiny/toycar", "mlperf_tiny/kws"),
)


def cases() -> list[str]:
    """Names of all cases: those of Deeploy, and `mlperf_tiny/...`."""
    tiny = sorted(path.parent.name for path in (DATA / "mlperf_tiny").glob("*/model.tflite"))
    return [*deeploy_cases(), *(f"mlperf_tiny/{name}" for name in tiny)]


def parameters(budgets: tuple[int, ...], share: int) -> list[Any]:
    """(case, engine, budget); one of `share` quick ones is in the default run, all others are slow."""
    found = cases()
    if not found:
        reason = f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder"
        return [pytest.param("", "", 0, marks=pytest.mark.skip(reason=reason), id="golden data")]
    return [
        pytest.param(
            *(case, engine, budget),
            id=f"{case}-{engine}-{budget // 1024}kB",
            marks=[] if case.startswith(QUICK) and (i + len(ENGINES) * k + j) % share == 0 else [pytest.mark.slow],
        )
        for i, case in enumerate(found)
        for j, engine in enumerate(ENGINES)
        for k, budget in enumerate(budgets)
    ]


def _folder(case: str) -> Path:
    return DATA / case if case.startswith("mlperf_tiny/") else DATA / "deeploy" / case


def options_of(case: str, engine: str, l1: int) -> tuple[Path, CompileOptions]:
    """The model's file and what the compiler is told."""
    chosen = {**CONFIGURATIONS[engine], "l1": l1}
    if case.startswith("mlperf_tiny/"):
        return _folder(case) / "model.tflite", CompileOptions(**chosen)
    samples = read_arrays(_folder(case) / "inputs.npz")
    return _folder(case) / "network.onnx", CompileOptions(**chosen, sample_inputs=samples)


def plan_and_verify(case: str, engine: str, l1: int) -> dict[str, Any]:
    """The plan as it would stand in the archive, found clean by the verifier. No C is emitted."""
    path, options = options_of(case, engine, l1)
    text = to_json(PlanJson, describe(Compilation(path, options).lowered))
    assert verify_plan(from_json(PlanJson, text), soc.load("siracusa")) == []
    described: dict[str, Any] = json.loads(text)
    assert described["l1_peak"] <= l1
    return described


def run_is_right(case: str, engine: str, l1: int) -> bool:
    """Compile, simulate, and compare with the golden outputs."""
    path, options = options_of(case, engine, l1)
    app = compile_with(path, options)
    if case.startswith("mlperf_tiny/"):
        golden = np.load(_folder(case) / "golden.npz")
        inputs, expected = [golden["inputs"][0]], [golden["outputs_reference"][0]]
        results = list(app.run(inputs).outputs.values())
        return all(np.array_equal(r, e.reshape(r.shape)) for r, e in zip(results, expected, strict=True))
    results = list(app.run(dict(options.sample_inputs)).outputs.values())
    wanted = [array for _, array in read_arrays(_folder(case) / "outputs.npz")]
    return all(agrees(case, r, e) for r, e in zip(results, wanted, strict=True))
