"""What every TIR pass makes of a network of two layers: texts before and after, which read as the passes' manual.

`TVM_PULP_UPDATE_GOLDEN=1 scripts/test tests/planning/tir/test_goldens.py` rewrites the files; look at the difference.
"""

import inspect
from pathlib import Path

import pytest

from tests.golden_texts import check_golden
from tests.planning.tir.small_plans import statements, two_tiles
from tests.planning.tir.test_kv_cache import appended
from tvm_pulp.planning.tir.lower import PASSES, layer_main, lower
from tvm_pulp.planning.tir.tables import Tables

FOLDER = Path(__file__).parent / "golden"


def example(name: str) -> Tables:
    """Two layers in tiles of half a tensor; a cache for the pass that is about caches."""
    return appended() if name == "kv_cache" else two_tiles(overlap=True, layers=2)


def manual(name: str) -> str:
    """The documentation of a pass with its example."""
    stages = lower(example(name).plan).stages
    place = [stage.name for stage in stages].index(name)
    about = inspect.getdoc(inspect.getmodule(next(p for p in PASSES if p.__name__ == name))) or ""
    before, after = (statements(stage.main) for stage in stages[place - 1 : place + 1])
    parts = [about, f"--- before ({stages[place - 1].name})", *before, f"--- after ({name})", *after]
    return "\n\n".join([about, "\n".join(parts[1:])]) + "\n"


@pytest.mark.parametrize("name", [transform.__name__ for transform in PASSES])
def test_manual_of_a_pass(name: str) -> None:
    check_golden(FOLDER / f"{name}.txt", manual(name))


def test_every_pass_has_one() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {transform.__name__ for transform in PASSES}
    assert statements(layer_main(example("layer_main")))[0] == "run(0, transpose, tensor(x, 0), tensor(t0, 0))"
