"""Weights that one part of the weight memory has no room for go to the others."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from tvm_pulp.planning.search.memory_limits import spread_weights
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec

SOC: Any = SimpleNamespace(software=SimpleNamespace(weight_parts={"first": 100, "second": 100}))


def spread(*sizes: int, level: str = "second") -> list[str]:
    """Levels of constants of these sizes that all want the same one."""
    tensors = [
        Tensor(f"t{i}", TensorSpec((n,), "int8"), "constant", data=np.zeros(n, np.int8), level=level)
        for i, n in enumerate(sizes)
    ]
    levels = {t: t.level for t in tensors}

    def constants_in(name: str) -> int:
        return sum(t.spec.bytes for t in tensors if levels[t] == name)

    plan: Any = SimpleNamespace(constants=lambda: levels, constants_in=constants_in, with_levels=lambda moved: moved)
    moved: Any = spread_weights(plan, SOC)
    assert [t.level for t in tensors] == [level] * len(tensors), "a tensor changed"
    return [moved.get(t, t.level) for t in tensors]


def test_what_fits_stays() -> None:
    assert spread(60, 40) == ["second", "second"]


def test_the_last_ones_move_and_no_more_than_needed() -> None:
    assert spread(60, 40, 30) == ["second", "second", "first"]


def test_constants_elsewhere_are_left_alone() -> None:
    assert spread(300, 300, level="l2") == ["l2", "l2"]


def test_what_fits_nowhere_stays_for_the_check_of_capacity() -> None:
    assert spread(150) == ["second"]
