"""Limits that Python reads from the executors' C."""

from pathlib import Path

import pytest

from tvm_pulp.planning.program import executor_limits
from tvm_pulp.planning.tir.synchronise import GROUPS
from tvm_pulp.soc.description import Dma


def test_the_smallest_of_all_executors_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for chip, groups in (("a", 6), ("b", 4)):
        header = tmp_path / chip / "include" / "tvm_pulp" / "executor.h"
        header.parent.mkdir(parents=True)
        header.write_text(f"enum {{ TVM_PULP_GROUPS = {groups} }};\n")
    monkeypatch.setattr(executor_limits, "_RUNTIME", tmp_path)
    assert executor_limits._stated("TVM_PULP_GROUPS", "executor.h") == 4


def test_groups_of_all_agents_fit_the_counters_and_their_numbers() -> None:
    assert sum(GROUPS) <= Dma.model_fields["counters"].default
    assert max(GROUPS) <= executor_limits.GROUPS_OF_AGENT
