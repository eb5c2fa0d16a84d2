"""Numbers of a product with constant weights on the engine: weights, folded biases, rule, activation."""

from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.geometry import ACCUMULATOR_BITS, BIAS_BITS, LONGEST_INNER
from uma_backends.ita.reference import Activation, Requantization
from uma_backends.ita.requantization import rule_of


@dataclass(frozen=True)
class LinearArithmetic:
    """Constants of one product."""

    weights: np.ndarray  # int8 [out][in]
    bias: np.ndarray  # int64 [out], zero point and the requantization's summand inside
    rule: Requantization
    activation: Activation | None = None

    @property
    def has_bias(self) -> bool:
        return bool(self.bias.any())

    def followed_by(self, activation: Activation) -> "LinearArithmetic":
        """With another activation behind it."""
        return replace(self, activation=activation)


def arithmetic_of(layer: Layer) -> LinearArithmetic | str:
    """Arithmetic of a dense layer, or the reason why the engine cannot do it."""
    made = folded(layer)
    if isinstance(made, str):
        return made
    values, bias = made
    found = rule_of(Requant.of(layer.attributes), layer.inputs[len(layer.inputs) - 2 :])
    if isinstance(found, str):
        return found
    if found.negated:
        values, bias = -values, -bias
    if values.max(initial=0) > 127:
        return "its multiplier is negative and a weight is -128, which has no opposite of 8 bits"
    bias = bias + found.summand
    refused = check_sums(values, bias)
    return refused or LinearArithmetic(values.astype(np.int8), bias, found.rule, found.activation)


def folded(layer: Layer) -> tuple[np.ndarray, np.ndarray] | str:
    """Weights of a dense layer, and its biases with the input's zero point inside; or what keeps it off the engine."""
    x, weight = layer.inputs[0].spec, layer.inputs[1]
    if weight.data is None:
        return "its weights are not constant"
    if x.dtype != "int8" or weight.spec.dtype != "int8":
        return f"it multiplies {x.dtype} by {weight.spec.dtype}: the engine multiplies int8 by int8"
    depth = weight.spec.shape[1]
    if depth > LONGEST_INNER:
        return f"its inner length is {depth}: sums of the engine are over {LONGEST_INNER} at most"
    values = weight.data.astype(np.int64)
    bias = -int(layer.attributes["zero_point"]) * values.sum(axis=1)
    if layer.attributes["has_bias"]:
        assert layer.inputs[2].data is not None
        bias = bias + layer.inputs[2].data.astype(np.int64)
    return values, bias


def check_sums(values: np.ndarray, bias: np.ndarray) -> str:
    """Why sums of int8 inputs do not fit the accumulator, or nothing."""
    if np.abs(bias).max(initial=0) >= 1 << (BIAS_BITS - 1):
        return f"a bias needs more than {BIAS_BITS} bits"
    reach = (np.abs(values).sum(axis=1) * 128 + np.abs(bias)).max(initial=0)
    if reach >= 1 << (ACCUMULATOR_BITS - 1):
        return f"its accumulator may exceed {ACCUMULATOR_BITS} bits"
    return ""
