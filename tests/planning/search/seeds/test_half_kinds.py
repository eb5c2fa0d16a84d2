"""Every other layer of a kind goes to two engines where transfers have no time for all of them."""

from collections.abc import Mapping
from typing import Any

import pytest

from tvm_pulp.planning.search.seeds import arrange_layers
from tvm_pulp.planning.tiling.schedule import Decisions

BOTH = "array+cluster"
LAST = {f"last{block}": BOTH for block in range(8)}
# Two layers of a block, one behind the other.
TWICE = {f"{name}{block}": BOTH for block in range(8) for name in ("first", "second")}


def split_by_gains(
    monkeypatch: pytest.MonkeyPatch, groups: list[Mapping[str, str]], gains: Mapping[str, int], mixing: int = -1
) -> tuple[set[str], bool]:
    """Layers that are split if each kind changes the expected 100,000 cycles so, and whether steps are interleaved."""

    def cycles(_problem: object, decided: Decisions, lead: int) -> int | None:
        kinds = {name.rstrip("0123456789") for name in decided.engines}
        if {"first", "second"} <= kinds:
            kinds = kinds - {"first", "second"} | {"both"}
        saved = sum(gains[kind] for kind in kinds) + mixing * decided.interleave
        return 100_000 - saved if lead == arrange_layers.JUST_IN_TIME else None

    monkeypatch.setattr(arrange_layers, "_cycles_within", cycles)
    problem: Any = None
    made, _ = arrange_layers._with_splits(problem, Decisions(), groups, 100_000)
    return {name.rstrip("0123456789") for name in made.engines}, made.interleave


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ({"last": 2000, "both": -3000, "first": 3000, "second": 2000}, {"last", "first"}),
        ({"last": 2000, "both": -3000, "first": -10, "second": 2000}, {"last", "second"}),
        ({"last": 2000, "both": 9000, "first": 3000, "second": 2000}, {"last", "first", "second"}),
        # Beside nothing that helps they are not tried.
        ({"last": -1, "both": -3000, "first": 3000, "second": 2000}, set()),
    ],
)
def test_halves(monkeypatch: pytest.MonkeyPatch, gains: dict[str, int], expected: set[str]) -> None:
    assert split_by_gains(monkeypatch, [TWICE, LAST], gains)[0] == expected


@pytest.mark.parametrize(("mixing", "expected"), [(0, True), (-1, False)])
def test_halves_interleave_where_that_takes_no_longer(
    monkeypatch: pytest.MonkeyPatch, mixing: int, expected: bool
) -> None:
    gains = {"last": 2000, "both": -3000, "first": 3000, "second": 2000}
    assert split_by_gains(monkeypatch, [TWICE, LAST], gains, mixing)[1] == expected
