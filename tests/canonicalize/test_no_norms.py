"""Affine replacements of normalizations are requantizations, which sums take over; no value changes."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, operators, requantize
from tvm_pulp.canonicalize.fuse_requantize import FuseRequantize
from tvm_pulp.canonicalize.no_norms import NoNorms
from tvm_pulp.qnn.interpret import interpret

RNG = np.random.default_rng(3)
SHAPE = (1, 5, 8)
INPUTS = {"a": (SHAPE, "int8"), "b": (SHAPE, "int8")}
DATA = [RNG.integers(-128, 128, SHAPE).astype(np.int8) for _ in INPUTS]
WEIGHT, BIAS = RNG.integers(-90, 90, 8).astype(np.int32), RNG.integers(-9000, 9000, 8).astype(np.int32)
PLAIN = {"form": "plain", "requant": "none", "requant_a": "none", "requant_b": "none"}


def check(module: Any, expected: list[str]) -> None:
    done = FuseRequantize().run(NoNorms().run(module))
    assert operators(done) == expected
    for a, b in zip(interpret(done, DATA), interpret(module, DATA), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_sum_takes_it_over() -> None:
    def body(emit, a, b):  # type: ignore[no-untyped-def]
        total = emit("add", [a, requantize(emit, b, 201, 128)], PLAIN)
        return [emit("no_norm", [total, WEIGHT, BIAS], {"levels": 256, "shift": 7, "mul": 3})]

    check(build(INPUTS, body), ["add"])


@pytest.mark.parametrize("levels", [256, 16, 1 << 16])
@pytest.mark.parametrize("constants", [(WEIGHT, BIAS), (WEIGHT, BIAS[:1]), (WEIGHT[:1], BIAS), (WEIGHT[:1], BIAS[:1])])
def test_alone(levels: int, constants: tuple[np.ndarray, np.ndarray]) -> None:
    def body(emit, a, b):  # type: ignore[no-untyped-def]
        return [emit("no_norm", [a, *constants], {"levels": levels, "shift": 7, "mul": 3})]

    check(build(INPUTS, body), ["requantize"])


@pytest.mark.parametrize("weight", [WEIGHT[:5, None], WEIGHT << 24])
def test_others_stay(weight: np.ndarray) -> None:
    """A weight per row, and numbers beyond 32 bits."""

    def body(emit, a, b):  # type: ignore[no-untyped-def]
        return [emit("no_norm", [a, weight, BIAS], {"levels": 256, "shift": 7, "mul": 300})]

    check(build(INPUTS, body), ["no_norm"])
