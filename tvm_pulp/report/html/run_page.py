"""The page of one run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.report.causes import CAUSES
from tvm_pulp.report.cycle_axis import CycleAxis
from tvm_pulp.report.html.graph_data import graph_data
from tvm_pulp.report.html.memory_data import memory_data
from tvm_pulp.report.html.page import page
from tvm_pulp.report.html.roofline_data import roofline_data
from tvm_pulp.report.html.timeline_data import timeline_data
from tvm_pulp.sim.activity import Activity

_SCRIPTS = ("basics", "summary", "causes", "layers", "timeline", "memory", "roofline", "graph", "run")


@dataclass(frozen=True)
class RunDetails:
    """Sources of a page beside the report; None where one is not known."""

    metadata: Mapping[str, Any]
    plan: PlanJson | None
    activity: Activity | None


def run_page(report: Mapping[str, Any], details: RunDetails, title: str) -> str:
    """Summary, causes, layers, timeline, memories, roofline and graph of a run."""
    from tvm_pulp import soc as socs
    from tvm_pulp.planning.estimate import estimate_program
    from tvm_pulp.soc.cost_model import CostModel

    facts, plan = details.metadata["tvm_pulp"], details.plan
    soc = socs.recorded(facts)
    expected = None
    if plan is not None:
        expected = estimate_program(plan.program, len(plan.layers), CostModel(soc, plan.cores))
    axis = CycleAxis.of(plan, expected.step_starts, expected.cycles) if plan is not None and expected else None
    data = {
        "title": title,
        "causes": list(CAUSES),
        "report": report,
        "timeline": timeline_data(details.activity, plan, expected),
        "memory": memory_data(report, facts, plan, axis),
        "roofline": roofline_data(report, soc.dma.bytes_per_cycle if report["cycles"] else None),
        "graph": graph_data(facts),
    }
    return page("run", f"{title}: {report['target']} on {report['soc']}", data, _SCRIPTS)
