"""Channels that cannot change become constants with a small bias; values stay."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build
from tvm_pulp import qnn
from tvm_pulp.canonicalize.dead_channels import DeadChannels
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.interpret import interpret

ATTRIBUTES = {**qnn.Requant("tflite", 0, 3, -128, 127).attributes(), "zero_point": -5, "has_bias": 1}


def dense(weights: np.ndarray, bias: list[int], mul: list[int], exponent: list[int]) -> Any:
    constants = [weights, *(np.array(v, np.int32) for v in (bias, mul, exponent))]
    return build({"x": ((4, 8), "int8")}, lambda emit, x: [emit("dense", [x, *constants], ATTRIBUTES)])


def constants_of(module: Any) -> list[np.ndarray]:
    """Weights, bias, multipliers, exponents."""
    values = (b.value for block in module["main"].body.blocks for b in block.bindings)
    return [constant(a) for a in next(v for v in values if qnn.is_qnn(v, "dense")).args[1:]]


def assert_same_values(before: Any, after: Any) -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    for x in (rng.integers(-128, 128, (4, 8)), np.full((4, 8), -128), np.full((4, 8), 127)):
        np.testing.assert_array_equal(*(interpret(module, [x.astype(np.int8)])[0] for module in (before, after)))


def test_channel_without_weights() -> None:
    """Channel 1 has a bias of 2^30: the same output comes from a bias that fits 19 bits."""
    weights = np.random.Generator(np.random.PCG64(3)).integers(-127, 128, (3, 8)).astype(np.int8)
    weights[1] = 0
    module = dense(weights, [500, 1 << 30, -700], [1 << 30, 1518500250, 1 << 30], [-7, -24, -8])
    done = DeadChannels().run(module)
    assert_same_values(module, done)
    assert np.abs(constants_of(done)[1]).max() <= 1 << 18


@pytest.mark.parametrize(
    ("bias", "exponent", "dead"),
    [(0, -18, True), (0, -17, False), (1 << 20, -10, True), (-(1 << 20), -10, True), (1 << 20, -15, False)],
)
def test_channel_that_cannot_change(bias: int, exponent: int, dead: bool) -> None:
    """Weights of up to 127 reach 8 * 127 * 132; a channel is dead if that is rounded away, or clipped."""
    weights = np.full((3, 8), 127, np.int8)
    module = dense(weights, [0, bias, 0], [1 << 30] * 3, [-7, exponent, -7])
    done = DeadChannels().run(module)
    assert_same_values(module, done)
    assert constants_of(done)[0][1].any() != dead
    assert constants_of(done)[0][[0, 2]].all()
