"""Channels without weights become constants with a small bias; values stay."""

from __future__ import annotations

import numpy as np

from tests.canonicalize.small_modules import build
from tvm_pulp import qnn
from tvm_pulp.canonicalize.dead_channels import DeadChannels
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.interpret import interpret


def test_dead_channel_keeps_its_value_with_a_small_bias() -> None:
    """Channel 1 has no weights and a bias of 2^30: the same output comes from a bias that fits 18 bits."""
    rng = np.random.Generator(np.random.PCG64(3))
    weights = rng.integers(-127, 128, (3, 8)).astype(np.int8)
    weights[1] = 0
    bias = np.array([500, 1 << 30, -700], np.int32)
    mul, exponent = np.array([1 << 30, 1518500250, 1 << 30], np.int32), np.array([-7, -24, -8], np.int32)
    rule = qnn.Requant("tflite", 0, 3, -128, 127)
    attributes = {**rule.attributes(), "zero_point": -5, "has_bias": 1}
    module = build(
        {"x": ((4, 8), "int8")}, lambda emit, x: [emit("dense", [x, weights, bias, mul, exponent], attributes)]
    )
    done = DeadChannels().run(module)
    x = rng.integers(-128, 128, (4, 8)).astype(np.int8)
    before, after = interpret(module, [x])[0], interpret(done, [x])[0]
    np.testing.assert_array_equal(after, before)
    layer = next(b.value for block in done["main"].body.blocks for b in block.bindings if qnn.is_qnn(b.value, "dense"))
    assert np.abs(constant(layer.args[2])).max() <= 1 << 17
