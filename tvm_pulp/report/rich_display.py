"""Results and plans as notebooks show them: tables and pictures as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tvm_pulp.codegen.mlf import read_cpu_plan, read_plan
from tvm_pulp.errors import UserError
from tvm_pulp.planning.program import CpuPlanJson, PlanJson
from tvm_pulp.report.cpu_plan import arena_picture
from tvm_pulp.report.plan_pictures import plan_pictures
from tvm_pulp.report.stacked_bars import stacked_bars
from tvm_pulp.report.table import layer_table, summary
from tvm_pulp.soc import CostModel, recorded

_ROWS = 40


def picture_html(svg: str) -> str:
    """A picture that scrolls where there is no room for it."""
    return f'<div style="overflow-x:auto">{svg}</div>'


def table_html(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; of many rows the first ones, and how many more there are."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[:_ROWS])
    more = f"<p>... and {len(rows) - _ROWS} more</p>" if len(rows) > _ROWS else ""
    return f'<div style="overflow-x:auto"><table><tr>{head}</tr>{body}</table></div>{more}'


def result_html(report: dict[str, Any], outputs: Mapping[str, np.ndarray]) -> str:
    """A run: what it took, where the cycles went, layer by layer."""
    title = f"{report['target']} on {report['soc']}"
    parts = [f"<p><b>{escape(title)}</b>: {escape(summary(report))}</p>"]
    layers = report["layers"]
    if report["cycles"] is not None:
        names = {"measured": "cycles", "estimated": "estimated_cycles"}
        bars = {label: [(f"{x['op']} on {x['engine']}", x[key] or 0) for x in layers] for label, key in names.items()}
        parts.append(picture_html(stacked_bars("Cycles by operator and engine", bars)))
    parts.append(table_html(*layer_table(report)))
    ends = [(name, str(array.dtype), str(list(array.shape))) for name, array in outputs.items()]
    parts.append(table_html(("output", "type", "shape"), ends))
    return "".join(parts)


@dataclass(frozen=True)
class ShownPlan:
    """The plan of a compiled network, as plan.json holds it; notebooks show its pictures."""

    record: PlanJson
    costs: CostModel

    def __repr__(self) -> str:
        record, planner = self.record, self.record.planner
        found = f", {planner.name}: {planner.chosen}" if planner is not None else ""
        return (
            f"<plan of {len(record.layers)} layers on {record.soc}: {record.cores} cores, "
            f"{record.l1_peak} of {record.l1_bytes} bytes of L1{found}>"
        )

    def pictures(self) -> dict[str, str]:
        """SVGs: `timeline`, and every memory level that is used over time."""
        made = plan_pictures(self.record, self.costs)
        return {name: svg for name, svg in made.items() if name != "l2" or self.record.l2.size}

    def _repr_html_(self) -> str:
        return "".join(picture_html(svg) for svg in self.pictures().values())


@dataclass(frozen=True)
class ShownCpuPlan:
    """The same of a CPU by itself."""

    record: CpuPlanJson

    def __repr__(self) -> str:
        record = self.record
        strips = f", {record.strips.count} strips" if record.strips is not None else ""
        return (
            f"<plan of {len(record.layers)} layers on {record.soc}: {record.arena_bytes} bytes of activations{strips}>"
        )

    def pictures(self) -> dict[str, str]:
        """An SVG: `memory`, the arena over time."""
        return {"memory": arena_picture(self.record)}

    def _repr_html_(self) -> str:
        return "".join(picture_html(svg) for svg in self.pictures().values())


def shown_plan(files: dict[str, bytes], metadata: Mapping[str, Any]) -> ShownPlan | ShownCpuPlan:
    """The plan that an archive carries."""
    cpu_record = read_cpu_plan(files)
    if cpu_record is not None:
        return ShownCpuPlan(cpu_record)
    record = read_plan(files)
    if record is None:
        raise UserError("the archive holds no plan of its own: it is a language model, whose programs have one each")
    return ShownPlan(record, CostModel(recorded(metadata["tvm_pulp"]), record.cores))
