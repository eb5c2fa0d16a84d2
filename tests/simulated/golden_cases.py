"""Golden networks as parameters: every case in every configuration, a third of them in the default run."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(os.environ.get("TVM_PULP_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

# What `tvm_pulp.compile` is told.
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "cluster": {"target": "c", "soc": "siracusa"},
    "neureka": {"target": "uma-neureka", "engine_options": {"neureka": {"weight_memory": "none"}}},
    "neureka-sram": {"target": "uma-neureka", "engine_options": {"neureka": {"weight_memory": "sram"}}},
}
# Decoders take longest to plan; the smallest and one prompt stand for them in the default run.
LONG = tuple(f"Models/microLlama/INT8/microLlama{size}" for size in ("64", "64_parallel", "128"))


def deeploy_cases() -> list[str]:
    """Names of all Deeploy cases: folders relative to data/deeploy."""
    root = DATA / "deeploy"
    return sorted(path.parent.relative_to(root).as_posix() for path in root.rglob("network.onnx"))


def matrix(cases: Sequence[str]) -> list[Any]:
    """(case, configuration) pairs. Each case that is not long is in the default run once, configurations in turn."""
    if not cases:
        reason = f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder"
        return [pytest.param("", "", marks=pytest.mark.skip(reason=reason), id="golden data")]
    return [
        pytest.param(
            case, name, id=f"{case}-{name}", marks=[] if (i + j) % 3 == 0 and case not in LONG else [pytest.mark.slow]
        )
        for i, case in enumerate(cases)
        for j, name in enumerate(CONFIGURATIONS)
    ]


def read_arrays(path: Path) -> list[tuple[str, np.ndarray]]:
    """Arrays of an npz file in file order."""
    with np.load(path) as archive:
        return [(name, archive[name]) for name in archive.files]


def agrees(case: str, result: np.ndarray, expected: np.ndarray) -> bool:
    """The tolerance that data/deeploy/README.md states for a case."""
    if result.shape != expected.shape:
        return False
    if case.startswith(("Kernels/FP32", "Models/CCT/FP32")):
        largest = float(np.abs(expected).max(initial=0))
        return bool(np.abs(result - expected).max(initial=0) <= max(1e-4, 1e-5 * largest))
    if case in ("Kernels/Mixed/Dequant", "Models/Transformer_DeepQuant"):
        return bool(np.abs(result - expected).max(initial=0) <= 1e-5)
    return bool(np.array_equal(result, expected))
