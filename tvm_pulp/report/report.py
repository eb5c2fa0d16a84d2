"""`report.json`: the costs of a run. A figure that is not known is None, never zero."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from tvm_pulp.codegen.formats import PlanJson, ReportJson, check_record, is_flat, plain
from tvm_pulp.report.causes import layer_causes, total_causes
from tvm_pulp.report.energy import energy_record, inference_energy
from tvm_pulp.report.figures import summed
from tvm_pulp.report.footprint import bytes_of_ends
from tvm_pulp.report.span_layers import busy_cycles
from tvm_pulp.sim.runner import Statistics


def run_report(
    metadata: dict[str, Any],
    run: Statistics,
    plan: PlanJson | None = None,
    compile_seconds: float | None = None,
    solver_seconds: float | None = None,
) -> dict[str, Any]:
    """The report of a run of an archive with this metadata and plan, and the times of this machine; checked."""
    facts = metadata["tvm_pulp"]
    figures = _flat_figures(metadata, run) if is_flat(facts) else _cluster_figures(metadata, run, plan)
    made = {
        "soc": facts["soc"],
        "target": facts["target"],
        "macs": facts["macs"],
        **figures,
        "inputs": _ends(facts["inputs"]),
        "outputs": _ends(facts["outputs"]),
        "host": {
            "compile_s": compile_seconds,
            "build_s": run.build_seconds,
            "simulate_s": run.run_seconds,
            "mips": run.counters.mips if run.counters else None,
        },
    }
    if run.latencies:
        seconds = sorted(run.latencies)
        made["latency_ms"] = {"best": 1e3 * seconds[0], "median": 1e3 * median(seconds), "runs": len(seconds)}
    if plan is not None:
        made["planner"] = plain(plan.planner)
        made["host"]["solver_s"] = solver_seconds
    check_record(ReportJson, made)
    return made


def _flat_figures(metadata: dict[str, Any], run: Statistics) -> dict[str, Any]:
    """Figures of a run on a CPU: no cycles, but memory and work, and instructions where it counts them."""
    memory, facts = metadata["memory"], metadata["tvm_pulp"]
    counted: list[Any] = run.layer_instructions or [None] * len(facts["layers"])
    engine = "host" if facts["soc"] == "host" else "cpu"
    unknown = ("dma_bytes", "dma_busy_cycles", "dma_stall_cycles", "tiles", "estimated_cycles", "bound_cycles")
    return {
        **dict.fromkeys(("cycles", "macs_per_cycle", "estimated_cycles", "bound_cycles", "dma")),
        **dict.fromkeys(("energy_uj", "energy_spread", "energy_model")),
        "instructions": run.instructions,
        "code_bytes": run.code_bytes,
        "memory": {
            "arena": {"peak": memory["arena_bytes"], "largest_live_set": memory["largest_live_set_bytes"]},
            "constants": {"peak": memory["constants_bytes"]},
            "all": {"peak": memory["arena_bytes"] + memory["constants_bytes"] + bytes_of_ends(facts)},
        },
        "layers": [
            {
                **_named(layer),
                "engine": engine,
                "cycles": None,
                "instructions": instructions,
                **dict.fromkeys(unknown),
                "deviation_lsb": 0,
            }
            for layer, instructions in zip(facts["layers"], counted, strict=True)
        ],
    }


def _cluster_figures(metadata: dict[str, Any], run: Statistics, plan: PlanJson | None) -> dict[str, Any]:
    """Figures of a run on a SoC: what the runner does not know is None."""
    from tvm_pulp import soc as socs

    facts, levels = metadata["tvm_pulp"], metadata["memory"]["levels"]
    soc = socs.recorded(facts)
    measured, moved = _layer_cycles(run), run.dma_times
    causes = layer_causes(run.activity) if run.activity else None
    busy = busy_cycles(run.activity, plan.program if plan is not None else ()) if run.activity else None
    # Time stamps are those of core 0, which runs one of several layers that stand side by side.
    beside = {i for i, layer in enumerate(plan.layers) if layer.team is not None} if plan is not None else set()
    planned = ("engine", "form", "estimated_cycles", "bound_cycles", "dma_bytes", "tiles", "deviation_lsb")
    energy = inference_energy(soc, run)
    memory = soc.memory
    sizes = {"l1": facts["l1_budget"], "l2": memory.l2.size, "l3": memory.l3.size, "wmem": memory.weight.size}
    return {
        "cores": facts["cores"],
        "cycles": run.cycles,
        "cold_cycles": run.cold_cycles,
        "milliseconds": run.cycles / soc.clock.cluster_mhz / 1e3 if run.cycles else None,
        "instructions": run.counters.instructions if run.counters else None,
        "macs_per_cycle": facts["macs"] / run.cycles if run.cycles else None,
        "estimated_cycles": sum(layer["estimated_cycles"] for layer in facts["layers"]),
        "bound_cycles": bound_cycles(facts["layers"]) or 0,
        "dma": _dma(moved),
        "energy_uj": energy.microjoules if energy else None,
        "energy_spread": energy.spread if energy else None,
        "energy_model": energy_record(soc, energy) if energy else None,
        "memory": {level: {"peak": levels[level], "capacity": size} for level, size in sizes.items()},
        "code_bytes": run.code_bytes,
        "causes": total_causes(causes) if causes else None,
        "layers": [
            {
                **_named(layer),
                **{key: layer[key] for key in planned},
                "cycles": measured[index] if measured else None,
                "dma_busy_cycles": moved[index].busy_cycles if moved else None,
                "dma_stall_cycles": moved[index].stall_cycles if moved else None,
                **_rates(layer, busy[index] if busy and index not in beside else None),
                "causes": causes[index] if causes else None,
            }
            for index, layer in enumerate(facts["layers"])
        ],
    }


def _rates(layer: Mapping[str, Any], busy: int | None) -> dict[str, Any]:
    """Cycles that the layer's engine was busy with it, the share of them that its bound is, and the MACs of each.

    Layers overlap, so the cycles that a layer adds to the run say nothing about how well its engine does.
    """
    return {
        "busy_cycles": busy,
        "bound_share": layer["bound_cycles"] / busy if busy else None,
        "macs_per_cycle": layer["macs"] / busy if busy and layer["macs"] else None,
    }


def _named(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Name, operator, nodes of the model file and work of a layer."""
    return {"name": layer["name"], "op": layer["op"], "nodes": layer.get("nodes", []), "macs": layer["macs"]}


def _ends(described: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Inputs or outputs as the archive describes them, without their C names."""
    shown = ("name", "shape", "dtype", "scale", "zero_point")
    return [{key: end[key] for key in shown if key in end} for end in described]


def _dma(moved: Any) -> dict[str, Any] | None:
    """Cycles in which the DMA works and in which everything waits for it; the share that is hidden behind work."""
    if not moved:
        return None
    busy, stall = sum(m.busy_cycles for m in moved), sum(m.stall_cycles for m in moved)
    return {"busy_cycles": busy, "stall_cycles": stall, "hidden_share": 1 - stall / busy if busy else None}


def _layer_cycles(run: Statistics) -> list[int] | None:
    """Cycles of each layer. What comes before the first mark fetches the first layer's operands: it is counted there;
    what comes behind the last one belongs to the last layer, where that is known.

    Layers overlap: an engine may start on a layer while the one before is still being stored, so that a layer's own
    share can be less than its bound. The sum is the whole.
    """
    if not run.layer_cycles or run.cycles is None:
        return None
    if run.activity is not None:
        return [end - start for start, end in itertools.pairwise(run.activity.boundaries)]
    layers = list(run.layer_cycles)
    layers[0] += run.cycles - sum(layers)
    return layers


def bound_cycles(layers: Iterable[Mapping[str, Any]]) -> int | None:
    """Engines work side by side: the busiest one's cycles cannot be beaten. None without layers."""
    return max(summed((layer["engine"], layer["bound_cycles"]) for layer in layers).values(), default=None)
