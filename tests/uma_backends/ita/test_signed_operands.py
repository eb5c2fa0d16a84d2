"""Bytes without a sign become int8 where a product can run on the engine then."""

from typing import Any

import numpy as np

from tvm_pulp.qnn.fixed_point import tie_free_multipliers
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.signed_operands import SignedOperands

from .networks import Emit, module_of


def network(depth: int) -> tuple[dict[str, np.ndarray], Any]:
    """Two products of the same bytes."""
    random = np.random.default_rng(depth)
    x = random.integers(0, 256, (1, 5, depth)).astype(np.uint8)
    weights = [random.integers(-127, 128, (6, depth)).astype(np.int8) for _ in range(2)]
    rule = Requant("half_even", 0, -3, -128, 127, dtype="int8")
    constants = list(tie_free_multipliers(np.array([1 / (90 * np.sqrt(depth))])))

    def define(emit: Emit, inputs: list[Any]) -> Any:
        attributes = {"zero_point": 117, "has_bias": 0, **rule.attributes()}
        made = [emit("dense", [*inputs, w, *constants], attributes) for w in weights]
        return emit("concat", made, {"axis": 2})

    return {"x": x}, module_of({"x": x}, define)


def operators_of(module: Any) -> list[str]:
    values = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return [str(v.op.name).removeprefix("tvm_pulp.qnn.") for v in values if hasattr(v, "op")]


def test_they_are_moved_once_and_change_nothing() -> None:
    inputs, module = network(40)
    signed = SignedOperands().run(module)
    assert operators_of(signed) == ["lookup", "dense", "dense", "concat"]
    x = list(inputs.values())
    np.testing.assert_array_equal(interpret(signed, x)[0], interpret(module, x)[0])


def test_sums_that_are_too_long_stay() -> None:
    _, module = network(4000)
    assert "lookup" not in operators_of(SignedOperands().run(module))
