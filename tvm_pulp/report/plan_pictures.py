"""Writes a described plan and its pictures into a folder."""

from pathlib import Path

from tvm_pulp.codegen.formats import PlanJson, to_json
from tvm_pulp.errors import UserError
from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.report.cycle_axis import CycleAxis
from tvm_pulp.report.memory_map import memory_maps
from tvm_pulp.report.timeline import timeline
from tvm_pulp.soc.cost_model import CostModel


def plan_pictures(plan: PlanJson, costs: CostModel) -> dict[str, str]:
    """SVGs: the expected schedule as `timeline`, and one per memory level."""
    expected = estimate_program(plan.program, len(plan.layers), costs)
    axis = CycleAxis.of(plan, expected.step_starts, expected.cycles)
    return {"timeline": timeline(plan, expected.spans, axis), **memory_maps(plan, axis)}


def write_pictures(folder: Path, plan: PlanJson, costs: CostModel) -> None:
    """plan.json, one SVG per memory level, the expected schedule as timeline.svg."""
    texts = {"plan.json": to_json(PlanJson, plan)}
    texts |= {f"{name}.svg": svg for name, svg in plan_pictures(plan, costs).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"-o: cannot write into '{folder}': {error.strerror}") from None
