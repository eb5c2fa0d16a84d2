"""Attention spelled out as small operators becomes one operator with the same values."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, matmul, operators, requantize, scalar
from tvm_pulp import qnn
from tvm_pulp.canonicalize.byte_functions import ByteFunctions
from tvm_pulp.canonicalize.fold_transposes import FoldTransposes
from tvm_pulp.canonicalize.fuse_attention import FuseAttention
from tvm_pulp.qnn.interpret import interpret

HEADS, QUERIES, KEYS, SIZE = 3, 5, 7, 4
SOFTMAX = {"form": "i_softmax", "a": 1, "b": 64, "c": 2136, "log2": 47, "levels": 256}
SUM = qnn.Requant("pulp", 8, 0, -128, 127, wide=False)
RANDOM = np.random.Generator(np.random.PCG64(2))


def fuse(module: Any) -> Any:
    for step in (FoldTransposes(), ByteFunctions(), FuseAttention()):
        module = step.run(module)
    return module


def add_mask(emit: Any, logits: Any, mask: Any, mul: int) -> Any:
    attributes = {**SUM.attributes(), "form": "plain", "requant_a": "none", **SUM.attributes("requant_b")}
    attributes |= {"zero_point_a": 0, "zero_point_b": 0}
    return emit("add", [logits, mask, scalar(500), scalar(128), scalar(mul), scalar(128)], attributes)


def network(mask_shape: tuple[int, ...] | None, mul: int = 256) -> Any:
    """q and the result are stored by position, k and v by head; the weights pass a table."""
    inputs = {
        "q": ((1, QUERIES, HEADS, SIZE), "int8"),
        "k": ((1, HEADS, KEYS, SIZE), "int8"),
        "v": ((1, HEADS, KEYS, SIZE), "int8"),
        **({"mask": (mask_shape, "int8")} if mask_shape else {}),
    }

    def body(emit: Any, q: Any, k: Any, v: Any, mask: Any = None) -> list[Any]:
        moved = emit("transpose", [q], {"axes": [0, 2, 1, 3]})
        logits = requantize(emit, matmul(emit, moved, emit("transpose", [k], {"axes": [0, 1, 3, 2]}), 2), 140, 128)
        if mask is not None:
            logits = add_mask(emit, logits, mask, mul)
        weights = requantize(emit, emit("softmax", [logits], SOFTMAX), 700, 128)
        return [emit("transpose", [matmul(emit, weights, v, 3)], {"axes": [0, 2, 1, 3]})]

    return build(inputs, body)


@pytest.mark.parametrize("mask_shape", [None, (KEYS,), (1, QUERIES, KEYS)])
def test_becomes_one_operator(mask_shape: tuple[int, ...] | None) -> None:
    """Everything between the projections is one operator; a mask keeps a table of its own in front."""
    module = network(mask_shape)
    done = fuse(module)
    assert operators(done) == (["lookup", "attention"] if mask_shape else ["attention"])
    shapes = [tuple(int(d) for d in p.ty.shape.values) for p in module["main"].params]
    values = [RANDOM.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    np.testing.assert_array_equal(interpret(done, values)[0], interpret(module, values)[0])


def test_scaled_sum_is_not_attention() -> None:
    """A sum that is scaled afterwards is not a mask: the operators stay."""
    assert "attention" not in operators(fuse(network((KEYS,), mul=200)))
