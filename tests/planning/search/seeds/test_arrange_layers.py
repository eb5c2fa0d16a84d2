"""Layers on two engines at once: which are tried together, and what they may take."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds import arrange_layers
from tvm_pulp.planning.tiling.forms import SplitForm
from tvm_pulp.planning.tiling.schedule import Decisions

ACCELERATOR: Any = SimpleNamespace(engine="npu", name="job")
CORES: Any = SimpleNamespace(engine="cluster", name="kernel")


class Stored:
    """A tensor that is its own storage."""

    def __init__(self, *shape: int) -> None:
        self.spec, self.storage = SimpleNamespace(shape=shape), self


def entry(name: str, operator: str, reads: Any, writes: Any, *, divided: bool = True) -> Any:
    layer = SimpleNamespace(name=name, operator=operator, inputs=[reads], outputs=[writes])
    return SimpleNamespace(layer=layer, tiled=[SplitForm(ACCELERATOR, CORES, 1, 0.3)] if divided else [])


def test_a_kind_has_one_shape_and_one_use() -> None:
    """Products of one shape whose results go to other operators are tried apart: less may wait for them."""
    x = Stored(1, 256)
    made = {name: Stored(1, 256) for name in ("query", "key", "output", "y")}
    forms = [
        entry("query", "dense", x, made["query"]),
        entry("key", "dense", x, made["key"]),
        entry("output", "dense", x, made["output"]),
        entry("turn", "rotary", made["query"], made["y"], divided=False),
        entry("turn_too", "rotary", made["key"], made["y"], divided=False),
        entry("sum", "add", made["output"], made["y"], divided=False),
    ]
    start = Decisions(tuple(forms))
    assert [set(engines) for engines in arrange_layers._splittable(start)] == [{"query", "key"}, {"output"}]


@pytest.mark.parametrize(
    ("late", "early", "taken"),
    [
        (990, 990, True),
        (999, 999, False),
        (None, 970, True),
        (None, 990, False),
        (1100, 970, True),
        (None, None, False),
    ],
)
def test_weights_that_come_early_have_to_gain_more(
    monkeypatch: pytest.MonkeyPatch, late: int | None, early: int | None, taken: bool
) -> None:
    """1,000 cycles without; None: L1 or L2 has no room."""
    plain, problem = Decisions(), cast(Problem, None)

    def cycles(_problem: Problem, decided: Decisions, lead: int) -> int | None:
        if not decided.engines:
            return 1000
        return late if lead == arrange_layers.JUST_IN_TIME else early

    monkeypatch.setattr(arrange_layers, "_cycles_within", cycles)
    found, expected = arrange_layers._with_splits(problem, plain, [{"layer": "npu+cluster"}], 1000)
    assert (found.engines == {"layer": "npu+cluster"}) is taken
    assert expected == (1000 if not taken else late if late is not None and late < 997 else early)


@pytest.mark.parametrize(
    ("pipelined", "early", "taken"),
    [
        ((900, 1000), (950, 1000), True),
        ((900, 1000), (950, 800), False),
        ((900, 1000), (950, None), True),
        ((900, 1000), (None, 800), False),
        ((900, 1000), (700, 800), True),
        ((1000, 1000), (700, 800), False),
    ],
)
def test_an_order_of_pipelines_beats_the_other_with_constants_that_come_early(
    monkeypatch: pytest.MonkeyPatch, pipelined: tuple[int, int], early: tuple[int | None, int | None], taken: bool
) -> None:
    """None: no room for constants that come early."""
    problem, some, other = cast(Problem, None), Decisions(), Decisions(interleave=True)
    monkeypatch.setattr(arrange_layers, "pipelined_cycles", lambda _, start, _plain=0: pipelined[start is other])
    monkeypatch.setattr(arrange_layers, "_cycles_within", lambda _, start, _lead: early[start is other])
    assert arrange_layers._gains_as_pipelines(problem, some, 1000, other) is taken
