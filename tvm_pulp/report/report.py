"""`report.json`: what a run cost. A figure that is not known is None, never zero."""

from __future__ import annotations

from typing import Any


def host_report(metadata: dict[str, Any], run: Any, compile_seconds: float | None) -> dict[str, Any]:
    """Report of a run on the host: no cycles, but memory and work."""
    facts, memory = metadata["tvm_pulp"], metadata["memory"]
    layers = [
        {
            "name": layer["name"],
            "op": layer["op"],
            "engine": "host",
            "cycles": None,
            "estimated_cycles": None,
            "bound_cycles": None,
            "macs": layer["macs"],
            "dma_bytes": None,
            "dma_stall_cycles": None,
            "tiles": None,
        }
        for layer in facts["layers"]
    ]
    return {
        "soc": facts["soc"],
        "target": facts["target"],
        "cycles": None,
        "instructions": None,
        "macs": facts["macs"],
        "macs_per_cycle": None,
        "bound_cycles": None,
        "energy_uj": None,
        "energy_model": None,
        "memory": {
            "arena": {"peak": memory["arena_bytes"], "largest_live_set": memory["largest_live_set_bytes"]},
            "constants": {"peak": memory["constants_bytes"]},
        },
        "code_bytes": None,
        "layers": layers,
        "host": {
            "compile_s": compile_seconds,
            "build_s": run.build_seconds,
            "simulate_s": run.run_seconds,
            "mips": None,
        },
    }
