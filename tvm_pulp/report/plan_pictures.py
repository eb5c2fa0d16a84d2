"""Writes a described plan and its pictures into a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.report.memory_map import memory_maps, timeline
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.tir.estimate import estimate


def write_pictures(folder: Path, plan: dict[str, Any], costs: CostModel) -> None:
    """plan.json, one SVG per memory level, the expected schedule as timeline.svg."""
    expected = estimate(plan, costs)
    texts = {"plan.json": json.dumps(plan) + "\n", "timeline.svg": timeline(plan, expected.spans, expected.cycles)}
    texts |= {f"{level}.svg": text for level, text in memory_maps(plan).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"-o: cannot write into '{folder}': {error.strerror}") from None
