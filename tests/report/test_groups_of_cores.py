"""Hundreds of cores are reported by groups of tiles."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.simulated.pool_layers import write_small
from tvm_pulp import soc
from tvm_pulp.errors import UserError
from tvm_pulp.report.causes import CAUSES

GROUPS = [f"cores {64 * n}-{64 * n + 63}" for n in range(4)]


def test_reports_and_pages_name_four_groups(tmp_path: Path) -> None:
    app = tvm_pulp.compile(write_small(tmp_path / "small.onnx"), target="c", soc="mempool", planner="greedy")
    result = app.run()
    assert [name for name in result.report["causes"] if "cores" in name] == GROUPS
    for layer in result.report["layers"]:
        for causes in layer["causes"].values():
            assert set(causes) == set(CAUSES)
            assert sum(causes.values()) == pytest.approx(layer["cycles"], rel=0.2, abs=400)
    page = result.to_html()
    assert all(name in page for name in GROUPS)
    assert "core 17" not in page


def test_few_cores_are_told_apart() -> None:
    assert soc.load("minpool").core_group(3) == ""
    assert soc.load("itapool").core_group(50) == "cores 48-95"


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"cluster.cores": 100}, "fill tiles, the same number in each group: choose a multiple of 16"),
        ({"software.runtime_l1_bytes": 64}, "software.runtime_l1_bytes is at least 4608"),
    ],
)
def test_what_no_pool_can_have_is_refused(settings: dict[str, int], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        soc.load("mempool").with_settings(settings)
