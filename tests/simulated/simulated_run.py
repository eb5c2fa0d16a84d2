"""Run a compiled network on the simulator and check what must hold for every run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.api import App
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.report.report import run_report
from tvm_pulp.sim.iss.runner import IssRunner
from tvm_pulp.sim.run_twice import run_twice

LAYER_KEYS = {
    "name", "op", "nodes", "engine", "form", "cycles", "estimated_cycles", "bound_cycles", "macs", "dma_bytes",
    "dma_busy_cycles", "dma_stall_cycles", "tiles", "deviation_lsb", "busy_cycles", "bound_share",
    "macs_per_cycle", "causes",
}  # fmt: skip
REPORT_KEYS = {
    "soc", "target", "cores", "cycles", "cold_cycles", "instructions", "macs", "macs_per_cycle",
    "estimated_cycles", "bound_cycles", "dma", "energy_uj", "energy_spread", "energy_model", "memory", "code_bytes",
    "layers", "host",
    "inputs", "outputs", "causes", "milliseconds",
}  # fmt: skip
# What only a fresh compilation knows.
MAY_BE_NULL = {"macs_per_cycle", "compile_s"}
# Entering and leaving the network: a call, the engine's initialization, a barrier.
ENTRY_CYCLES = 350


@dataclass(frozen=True)
class SimulatedRun:
    """Outputs, the same after one inference and after two, and the report."""

    outputs: list[np.ndarray]
    report: dict[str, Any]


def simulate(app: App, inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray] | None = None) -> SimulatedRun:
    """Run an archive; no race, a complete report, and the same answer after one inference as after two."""
    facts = app.metadata["tvm_pulp"]
    arrays = prepare_inputs(facts["inputs"], inputs)
    runner = IssRunner()
    runner.build(app.files, app.metadata)
    run = run_twice(runner, app.metadata, arrays)
    counters = run.statistics.counters
    assert counters.races == 0, counters.first_race
    report = run_report(app.metadata, run.statistics)
    check_report(report)
    return SimulatedRun(run.outputs, report)


def check_report(report: dict[str, Any]) -> None:
    """All fields are there, unknown ones are null, and the layers' cycles add up to the total."""
    assert set(report) == REPORT_KEYS
    assert {level: set(figures) for level, figures in report["memory"].items()} == {
        level: {"peak", "capacity"} for level in ("l1", "l2", "l3", "wmem")
    }
    assert set(report["host"]) == {"compile_s", "build_s", "simulate_s", "mips"}
    assert report["cycles"] > 0 and report["energy_uj"] > 0 and report["code_bytes"] > 0
    for key in ("busy_cycles", "stall_cycles"):
        assert report["dma"][key] == sum(layer[f"dma_{key}"] for layer in report["layers"])
    assert 0 <= report["dma"]["stall_cycles"] <= report["dma"]["busy_cycles"] <= report["cycles"]
    for layer in report["layers"]:
        assert set(layer) == LAYER_KEYS
        assert {key for key, value in layer.items() if value is None} <= MAY_BE_NULL
    # Layers overlap, so only an engine's whole work can be held against its bound.
    for engine in {layer["engine"] for layer in report["layers"]}:
        bound = sum(layer["bound_cycles"] for layer in report["layers"] if layer["engine"] == engine)
        assert bound <= report["cycles"], f"{engine} beats its bound"
    for section in (report, report["host"]):
        assert {key for key, value in section.items() if value is None} <= MAY_BE_NULL
    total = sum(layer["cycles"] for layer in report["layers"])
    missing = report["cycles"] - total
    assert 0 <= missing <= max(ENTRY_CYCLES, report["cycles"] // 100), f"layers take {total} of {report['cycles']}"
    terms = report["energy_model"]["terms_uj"]
    assert abs(sum(terms.values()) - report["energy_uj"]) < 1e-6


def share_of_macs(report: dict[str, Any], engine: str, operators: Sequence[str] | None = None) -> float:
    """Fraction of the multiply-accumulates (of some operators) that an engine ran."""
    layers = [x for x in report["layers"] if operators is None or x["op"] in operators]
    total = sum(layer["macs"] for layer in layers)
    return sum(layer["macs"] for layer in layers if layer["engine"] == engine) / total
