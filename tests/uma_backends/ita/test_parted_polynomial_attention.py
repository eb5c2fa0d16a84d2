"""Attention with a polynomial softmax: in parts it computes the same."""

from typing import Any

import numpy as np
import pytest

from tvm_pulp.qnn.attention import Attention
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.parted_polynomial_attention import PartedPolynomialAttention

from .networks import module_of


def attention(layout: str, **has: bool) -> tuple[dict[str, np.ndarray], dict[str, Any], list[np.ndarray]]:
    """Inputs, attributes and constants of three heads."""
    random = np.random.default_rng(len(layout) + len(has))
    heads, queries, keys, size = 3, 5, 7, 6
    inputs = {}
    attributes: dict[str, Any] = {"a": 1, "b": 50, "c": 900, "log2": 22, "levels": 256, "y_layout": layout}
    for name, positions in (("q", queries), ("k", keys), ("v", keys)):
        pair = (heads, positions) if layout == "hsd" else (positions, heads)
        inputs[name] = random.integers(-128, 128, (1, *pair, size)).astype(np.int8)
        attributes[f"{name}_layout"] = layout
    attributes |= {f"has_{name}": int(has.get(name, False)) for name in ("mask", "logit_table", "probability")}
    attributes |= Requant("pulp", 20, 0, -128, 127, True).attributes("logit")
    attributes |= Requant("pulp", 19, 0, -128, 127, True).attributes()
    constants = [np.zeros((keys,), np.int8)] if has.get("mask") else []
    constants += [np.array([1234], np.int32), np.array([1 << 19], np.int32)]
    for name in ("logit_table", "probability"):
        if has.get(name):
            constants.append(random.integers(-128, 128, 256).astype(np.int8))
    return inputs, attributes, [*constants, np.array([2345], np.int32), np.array([1 << 18], np.int32)]


@pytest.mark.parametrize("layout", ["hsd", "shd"])
@pytest.mark.parametrize("has", [{}, {"logit_table": True}, {"probability": True}])
def test_parts_compute_the_same(layout: str, has: dict[str, bool]) -> None:
    inputs, attributes, constants = attention(layout, **has)
    module = module_of(inputs, lambda emit, given: emit("attention", [*given, *constants], attributes))
    parted = PartedPolynomialAttention().run(module)
    assert "qnn.attention" not in str(parted) and "qnn.softmax" in str(parted)
    (result,) = interpret(parted, list(inputs.values()))
    np.testing.assert_array_equal(
        result, Attention().reference(Attention().stated(attributes), [*inputs.values(), *constants])
    )
    assert len(np.unique(result)) > 20


def test_masked_attention_stays() -> None:
    inputs, attributes, constants = attention("hsd", mask=True)
    module = module_of(inputs, lambda emit, given: emit("attention", [*given, *constants], attributes))
    assert "qnn.attention" in str(PartedPolynomialAttention().run(module))
