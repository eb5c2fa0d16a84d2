"""Figures relative to a baseline row."""

from typing import Any

import pytest

from tvm_pulp.errors import UserError

ROWS = [("a", "slow", 100.0), ("a", "fast", 25.0), ("b", "fast", 10.0), ("b", "slow", None)]


def compared(**config: str) -> list[Any]:
    from mlonmcu.report import Report

    from tvm_pulp.tvmc.mlonmcu.postprocesses import ComparePostprocess

    report = Report()
    report.set(
        pre=[{"Model": model, "Backend": backend} for model, backend, _ in ROWS],
        main=[{"Total Cycles": cycles} for *_, cycles in ROWS],
        post=[{} for _ in ROWS],
    )
    stated = {f"tvmpulp_compare.{key}": value for key, value in config.items()}
    ComparePostprocess(config=stated).post_session(report)
    return [None if value != value else value for value in report.main_df["Total Cycles (rel.)"]]


def test_the_first_row_of_a_model_is_the_baseline(mlonmcu: None) -> None:
    assert compared() == [1, 0.25, 1, None]


def test_a_baseline_can_be_named(mlonmcu: None) -> None:
    # That of the second model failed: nothing can be said about its rows.
    assert compared(baseline="Backend=slow") == [1, 0.25, None, None]
    with pytest.raises(UserError, match="say COLUMN=VALUE of the report"):
        compared(baseline="Engine=slow")
