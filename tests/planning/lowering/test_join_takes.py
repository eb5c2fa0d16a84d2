"""Numbers counted from the end become part of picking entries; values stay."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.canonicalize.small_modules import build, operators
from tvm_pulp.planning.lowering.join_takes import JoinTakes
from tvm_pulp.qnn.interpret import interpret

TABLE = np.random.default_rng(5).integers(-128, 128, (7, 4)).astype(np.int8)


def picked(extent: int) -> Any:
    """As importers write it, for tables of so many rows."""

    def body(_emit, given):  # type: ignore[no-untyped-def]
        zero, count = relax.const(0, "int64"), relax.const(extent, "int64")
        counted = relax.op.where(relax.op.less(given, zero), relax.op.add(given, count), given)
        return [relax.op.take(relax.const(TABLE), counted, axis=0, mode="clip")]

    return build({"given": ((5,), "int64")}, body)


def test_numbers_from_the_end_are_counted_inside() -> None:
    done = JoinTakes().run(picked(7))
    assert operators(done) == ["take"]
    given = np.array([0, -1, 6, -7, 100], np.int64)
    np.testing.assert_array_equal(interpret(done, [given])[0], TABLE[[0, 6, 6, 0, 6]])


@pytest.mark.parametrize("extent", [6, 8])
def test_another_number_is_an_addition(extent: int) -> None:
    """What is added is not the length of the table, so it is no count from its end."""
    assert operators(JoinTakes().run(picked(extent)))[-1] == "take"
    assert "relax.where" in operators(JoinTakes().run(picked(extent)))
