"""What every pass makes of a small network: texts before and after, which read as the passes' manual.

`TVM_PULP_UPDATE_GOLDEN=1 scripts/test tests/planning/tir/test_goldens.py` rewrites the files; look at the difference.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden_texts import check_golden
from tests.planning.tiling.schedule.choices import finished_jobs
from tests.planning.tir.small_plans import lines, two_tiles
from tests.planning.tir.test_kv_cache import appended
from tvm_pulp.planning.tiling.place.place_blocks import place
from tvm_pulp.planning.tiling.schedule.build_program import PASSES as PLANNING
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.tile import tile
from tvm_pulp.planning.tir.lower import PASSES as ADDRESSED
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.planning.tir.planned_function import planned_function

FOLDER = Path(__file__).parent / "golden"
PASSES: tuple[Callable[..., Any], ...] = (tile, *PLANNING, place, *ADDRESSED)


def stages(name: str) -> list[tuple[str, list[str]]]:
    """Two layers in tiles of half a tensor; jobs and weights for those that are about them, a cache for `kv_cache`."""
    if name not in ("interleave", "bundle"):
        tables = appended() if name == "kv_cache" else two_tiles(overlap=True, layers=2)
        return [(stage.name, lines(stage.function)) for stage in lower(tables.plan).stages]
    found: list[tuple[str, list[str]]] = []
    network, choices = finished_jobs()
    watch = lambda name, program: found.append((name, lines(planned_function(program))))  # noqa: E731
    policy = Policy(interleave=True, resident={network.layers[1].inputs[0]: frozenset({1})})
    build_program(network, choices, policy, 16384, watch=watch)
    return found


def manual(transform: Callable[..., Any]) -> str:
    """The documentation of a pass with its example."""
    name, known = transform.__name__, stages(transform.__name__)
    number = [stage for stage, _ in known].index(name)
    (earlier, before), (_, after) = known[number - 1 : number + 1]
    about = inspect.getdoc(inspect.getmodule(transform)) or ""
    assert before != after
    return about + "\n\n" + "\n".join([f"--- before ({earlier})", *before, f"--- after ({name})", *after]) + "\n"


@pytest.mark.parametrize("transform", PASSES, ids=lambda transform: transform.__name__)
def test_manual_of_a_pass(transform: Callable[..., Any]) -> None:
    check_golden(FOLDER / f"{transform.__name__}.txt", manual(transform))


def test_every_pass_has_one() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {transform.__name__ for transform in PASSES}
