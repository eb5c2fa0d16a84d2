"""Rules that lack what they need do not apply, and passes leave such values as they were."""

from typing import Any

import pytest

from tests.canonicalize.small_modules import build, operators, requantize
from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import Mismatch, first_of, needed, or_none, require
from tvm_pulp.canonicalize.rewriter import Rewriter


@or_none
def half(number: int | None) -> int:
    require(needed(number) % 2 == 0)
    return needed(number) // 2


def test_a_rule_gives_none_where_it_does_not_apply() -> None:
    assert [half(4), half(3), half(None)] == [2, None, None]


def test_other_errors_are_not_hidden() -> None:
    with pytest.raises(TypeError):
        half("four")  # type: ignore[arg-type]


def test_the_first_rule_that_applies_decides() -> None:
    assert first_of((half, lambda number: number), 3) == 3
    assert first_of((half, lambda number: -number), 0) == 0  # a result that is false is one
    assert first_of((), 3) is None


def test_a_pass_leaves_a_value_that_lacks_something() -> None:
    class OnlyAdditions(Rewriter):
        def visit(self, variable: Any, value: Any) -> Any:
            require(qnn.is_qnn(value, "add"))
            raise AssertionError("there is none")

    def body(emit: Any, x: Any) -> list[Any]:
        return [requantize(emit, x, 256, 128)]

    module = build({"x": ((2, 3), "int8")}, body)
    assert operators(OnlyAdditions().run(module)) == ["requantize"]
    with pytest.raises(Mismatch):
        require(None)
