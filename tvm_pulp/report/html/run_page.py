"""The page of one run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.program import CpuPlanJson, PlanJson
from tvm_pulp.report.causes import CAUSES
from tvm_pulp.report.cycle_axis import CycleAxis
from tvm_pulp.report.energy import energy_text
from tvm_pulp.report.html.memory_data import memory_data
from tvm_pulp.report.html.page import check_layers, page
from tvm_pulp.report.html.timeline_data import timeline_data
from tvm_pulp.report.pipelines import overlap_texts
from tvm_pulp.sim.activity import Activity

_SCRIPTS = ("basics", "summary", "causes", "layers", "timeline", "memory", "roofline", "graph", "run")


@dataclass(frozen=True)
class RunDetails:
    """Sources of a page beside the report; None where one is not known."""

    metadata: Mapping[str, Any]
    plan: PlanJson | None
    activity: Activity | None
    # Of a CPU by itself.
    cpu_plan: CpuPlanJson | None = None


def run_page(report: Mapping[str, Any], details: RunDetails, title: str) -> str:
    """Summary, causes, layers, timeline, memories, roofline and graph of a run."""
    from tvm_pulp import soc as socs
    from tvm_pulp.planning.estimate import estimate_program
    from tvm_pulp.soc.cost_model import CostModel

    facts, plan = details.metadata["tvm_pulp"], details.plan
    check_layers(len(facts["layers"]))
    soc = socs.recorded(facts)
    expected = axis = None
    energy = report["energy_uj"]
    if plan is not None:
        expected = estimate_program(plan.program, len(plan.layers), CostModel(soc, plan.cores))
        axis = CycleAxis.of(plan, expected.step_starts, expected.cycles)
    data = {
        "title": title,
        "causes": list(CAUSES),
        "report": report,
        "energy": energy and energy_text(energy, report.get("energy_spread")),
        "timeline": timeline_data(details.activity, plan, expected),
        "memory": memory_data(report, facts, plan, axis, details.cpu_plan),
        "roofline": roofline_data(report, CostModel(soc).dma_bytes_per_cycle if report["cycles"] else None),
        "graph": graph_data(facts),
        "notes": [f"{text[0].upper()}{text[1:]}." for text in overlap_texts(plan)] if plan is not None else [],
    }
    return page("run", f"{title}: {report['target']} on {report['soc']}", data, _SCRIPTS)


def roofline_data(report: Mapping[str, Any], dma_bytes_per_cycle: int | None) -> dict[str, Any] | None:
    """Roofs in MACs per cycle by engine, the best that any of its layers could reach; points are drawn from the report.

    None where no layer multiplies or nothing was measured.
    """
    roofs: dict[str, float] = {}
    for layer in report["layers"]:
        if layer["macs"] and layer["bound_cycles"]:
            roofs[layer["engine"]] = max(roofs.get(layer["engine"], 0.0), layer["macs"] / layer["bound_cycles"])
    measured = any(layer["macs"] and layer["cycles"] for layer in report["layers"])
    return {"roofs": roofs, "dma": dma_bytes_per_cycle} if roofs and measured else None


def graph_data(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Nodes (`rank` counts from the inputs) and edges of places in the list; None for archives that do not say.

    Inputs and outputs of the network are nodes without a layer.
    """
    layers = facts["layers"]
    if not all("reads" in layer for layer in layers):
        return None
    nodes: list[dict[str, Any]] = []
    makers: dict[str, int] = {}
    edges: list[list[int]] = []
    for number, layer in enumerate(layers):
        sources = set()
        for name in layer["reads"]:
            if name not in makers:
                makers[name] = len(nodes)
                nodes.append({"name": name, "rank": 0, "end": "input"})
            sources.add(makers[name])
        rank = 1 + max((nodes[source]["rank"] for source in sources), default=0)
        edges += [[source, len(nodes)] for source in sorted(sources)]
        makers |= dict.fromkeys(layer["writes"], len(nodes))
        nodes.append({"name": layer["name"], "layer": number, "rank": rank, "shape": ", ".join(layer["output"])})
    read = {source for source, _ in edges}
    for place, node in enumerate(list(nodes)):
        if place not in read and "layer" in node:
            edges.append([place, len(nodes)])
            nodes.append({"name": "output", "rank": node["rank"] + 1, "end": "output"})
    return {"nodes": nodes, "edges": edges}
