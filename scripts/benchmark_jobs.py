"""Networks that benchmarks measure: the zoo, and golden ones where $TVM_PULP_DATA (../shared/data) holds them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("TVM_PULP_DATA") or ROOT.parent / "shared" / "data")

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "cluster": {"target": "c", "soc": "siracusa"},
    "1 core": {"target": "c", "soc": "siracusa", "cores": 1},
    "NPU": {"target": "uma-neureka", "engine_options": {"neureka": {"weight_memory": "none"}}},
    "NPU + weight memory": {"target": "uma-neureka"},
}
NATIVE = {
    "NPU + weight memory, native": {"target": "uma-neureka", "engine_options": {"neureka": {"requant": "native"}}}
}


@dataclass(frozen=True)
class Job:
    """A network with its golden inputs and outputs, where there are any."""

    model: str
    name: str
    given: list[tuple[str, np.ndarray]] = field(default_factory=list)
    wanted: list[np.ndarray] = field(default_factory=list)
    configurations: dict[str, dict[str, Any]] = field(default_factory=lambda: CONFIGURATIONS)

    @property
    def samples(self) -> list[tuple[str, np.ndarray]]:
        """Inputs by name; empty where they go by position."""
        return self.given if all(name for name, _ in self.given) else []

    @property
    def inputs(self) -> Any:
        """What `App.run` takes."""
        return dict(self.samples) if self.samples else [array for _, array in self.given] or None


def jobs() -> Iterator[Job]:
    """All of them, smallest first."""
    from tvm_pulp.frontend import zoo

    for name in zoo.names():
        yield Job(f"zoo:{name}", name, [("", array) for array in zoo.sample_inputs(name)])
    for path in sorted((DATA / "deeploy" / "Models").glob("**/network.onnx")):
        with np.load(path.parent / "inputs.npz") as inputs, np.load(path.parent / "outputs.npz") as outputs:
            given, wanted = [(k, inputs[k]) for k in inputs.files], [outputs[k] for k in outputs.files]
        yield Job(str(path), path.parent.name, given, wanted)
    for path in sorted((DATA / "mlperf_tiny").glob("*/model.tflite")):
        with np.load(path.parent / "golden.npz") as golden:
            given, wanted = [("", golden["inputs"][0])], [golden["outputs_reference"][0]]
        yield Job(str(path), f"{path.parent.name}.tflite", given, wanted, {**CONFIGURATIONS, **NATIVE})


def compared(values: list[np.ndarray], wanted: list[np.ndarray], native: bool) -> str:
    """How outputs compare with golden ones."""
    if not wanted:
        return "–"
    pairs = [(v.astype(np.float64), w.reshape(v.shape).astype(np.float64)) for v, w in zip(values, wanted, strict=True)]
    if all(v.dtype.kind != "f" for v in values):
        furthest = int(max((np.abs(v - w).max(initial=0) for v, w in pairs), default=0))
        return "equal" if furthest == 0 else f"≤ {furthest} LSB" if native else "WRONG"
    close = all(np.abs(v - w).max(initial=0) <= max(1e-4, 1e-5 * np.abs(w).max(initial=0)) for v, w in pairs)
    return "equal (float)" if close else "WRONG"
