"""Every golden network at every L1 budget: a plan that the verifier finds clean, or the layer and an L1 that works."""

import re
from pathlib import Path

import pytest

from tests.simulated.budget_cases import (
    BUDGETS,
    SIMULATED_BUDGETS,
    parameters,
    plan_and_verify,
    run_is_right,
)
from tvm_pulp.errors import UserError

ADVICE = re.compile(
    r"layer '[^']+' \(\w+\) needs (\d+) bytes of L1 .* are available \((\d+) missing\): raise --l1 to at least (\d+)"
)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("case", "engine", "l1"), parameters(BUDGETS, 27))
def test_plan(case: str, engine: str, l1: int) -> None:
    try:
        plan_and_verify(case, engine, l1)
    except UserError as error:
        match = ADVICE.search(str(error))
        assert match is not None, str(error)
        needed = int(match[3])
        assert int(match[1]) == needed and int(match[2]) == needed - l1
        plan_and_verify(case, engine, needed)
        plan_and_verify(case, engine, next(budget for budget in BUDGETS if budget > l1))


@pytest.mark.sample(3)
@pytest.mark.parametrize(("case", "engine", "l1"), parameters(SIMULATED_BUDGETS, 9))
def test_run(case: str, engine: str, l1: int) -> None:
    assert run_is_right(case, engine, l1)


@pytest.mark.slow
def test_caches_in_tiles(golden_data: Path) -> None:
    """A cache that stays in L1 as a whole, tile by tile: what belongs to a tile comes after the one before is made."""
    assert golden_data.is_dir()
    plan_and_verify("Models/microLlama/INT8/microLlama128", "neureka", BUDGETS[2])
