"""Attention over pasts of any length with little L1: tiles of heads, and where L1 does not hold a head, in parts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

import tvm_pulp
from tests.uma_backends.ita.networks import module_of
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant

# The exponentials of the golden decoders: with them sums over 765 keys fit 31 bits, as the kernel wants them.
SOFTMAX = {"form": "i_softmax", "a": 1, "b": 85, "c": 3770, "log2": 63, "levels": 256}
KILOBYTE = 1024


def product(shift: int, *, transpose_b: bool) -> tuple[dict[str, Any], list[np.ndarray]]:
    """A product with rounding to bytes."""
    plain = {"transpose_b": int(transpose_b), "zero_point_a": 0, "zero_point_b": 0}
    rule = Requant("pulp", shift, 0, -128, 127, False)
    return plain | rule.attributes(), [np.array([1], np.int32), np.array([1 << shift >> 1], np.int32)]


def operators_after(heads: int, size: int, queries: int, keys: int, l1: int, seed: int = 0) -> set[str]:
    """Compile attention for so little L1, compare two inferences, and tell which operators were planned."""
    rng = np.random.default_rng(seed)
    shapes = {"q": (1, heads, queries, size), "k": (1, heads, keys, size), "v": (1, heads, keys, size)}
    inputs = {name: rng.integers(-128, 128, shape).astype(np.int8) for name, shape in shapes.items()}

    def define(emit: Any, operands: list[relax.Var]) -> Any:
        (scored, scores), (mixed, means) = product(7, transpose_b=True), product(6, transpose_b=False)
        logits = emit("matmul", [operands[0], operands[1], *scores], scored)
        return emit("matmul", [emit("softmax", [logits], SOFTMAX), operands[2], *means], mixed)

    module = module_of(inputs, define)
    model = Imported(module, tuple(inputs), ("y",), "pulp")
    app = tvm_pulp.compile(model, target="c", soc="siracusa", l1=l1, planner="greedy")
    (expected,) = interpret(module, list(inputs.values()))
    np.testing.assert_array_equal(app.run(inputs).outputs["y"], expected)
    assert app.compilation is not None
    return {planned.layer.operator for planned in app.compilation.plan.layers}


@pytest.mark.parametrize(
    ("heads", "size", "keys", "l1"), [(16, 4, 257, 16), (4, 32, 129, 16), pytest.param(2, 8, 60, 12, id="many queries")]
)
def test_heads_in_tiles(heads: int, size: int, keys: int, l1: int) -> None:
    """Cores without a head need no room."""
    queries = 1 if keys > 100 else 9
    assert operators_after(heads, size, queries, keys, l1 * KILOBYTE) == {"attention"}


@pytest.mark.parametrize(("heads", "size", "keys", "l1"), [(2, 32, 513, 16), (3, 16, 701, 12)])
def test_a_head_in_parts(heads: int, size: int, keys: int, l1: int) -> None:
    """Keys and values of one head exceed L1: they pass through it in tiles."""
    assert operators_after(heads, size, 1, keys, l1 * KILOBYTE) == {"matmul", "softmax"}


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 16), st.sampled_from([4, 8, 16, 32]), st.sampled_from([1, 1, 2, 5]), st.integers(4, 700),
    st.integers(12, 24), st.integers(0, 1 << 20),
)  # fmt: skip
def test_any_past(heads: int, size: int, queries: int, keys: int, l1: int, seed: int) -> None:
    operators = operators_after(heads, size, queries, keys, l1 * KILOBYTE, seed)
    assert operators in ({"attention"}, {"matmul", "softmax"})
