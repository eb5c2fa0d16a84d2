"""Numbers of a product with constant weights on the engine: weights, folded biases, rule, activation."""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Refused, refuse_if
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
    panels = slice(None)  # of the input: all of them

    @property
    def depth(self) -> int:
        return int(self.weights.shape[1])

    @property
    def reach(self) -> int:
        """The largest sum of int8 inputs."""
        return int((np.abs(self.weights.astype(np.int64)).sum(axis=1) * 128 + np.abs(self.bias)).max(initial=0))


def arithmetic_of(layer: Layer) -> LinearArithmetic:
    """Arithmetic of a dense layer by the engine's own requantization."""
    values, bias = folded(layer)
    check_depth(values.shape[1])
    found = rule_of(Requant.of(layer.attributes), layer.inputs[len(layer.inputs) - 2 :])
    if found.negated:
        values, bias = -values, -bias
    lacks_opposite = values.max(initial=0) > 127
    refuse_if(lacks_opposite, "its multiplier is negative and a weight is -128, which has no opposite of 8 bits")
    bias = bias + found.summand
    check_sums(values, bias)
    return LinearArithmetic(values.astype(np.int8), bias, found.rule, found.activation)


def folded(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Weights of a dense layer, and its biases with the input's zero point inside."""
    x, weight = layer.inputs[0].spec, layer.inputs[1]
    if weight.data is None:
        raise Refused("its weights are not constant")
    check_types(x, weight.spec)
    values = weight.data.astype(np.int64)
    bias = -int(LinearAttributes.of(layer).zero_point) * values.sum(axis=1)
    if LinearAttributes.of(layer).has_bias:
        assert layer.inputs[2].data is not None
        bias = bias + layer.inputs[2].data.astype(np.int64)
    return values, bias


def check_operands(a: TensorSpec, b: TensorSpec, depth: int) -> None:
    """Types and inner length of a product."""
    check_types(a, b)
    check_depth(depth)


def check_types(a: TensorSpec, b: TensorSpec) -> None:
    is_signed = (a.dtype, b.dtype) == ("int8", "int8")
    refuse_if(not is_signed, f"it multiplies {a.dtype} by {b.dtype}: the engine multiplies int8 by int8")


def check_depth(depth: int) -> None:
    refuse_if(
        depth > LONGEST_INNER, f"its inner length is {depth}: sums of the engine are over {LONGEST_INNER} at most"
    )


def check_sums(values: np.ndarray, bias: np.ndarray) -> None:
    """Sums of int8 inputs must fit the accumulator."""
    refuse_if(np.abs(bias).max(initial=0) >= 1 << (BIAS_BITS - 1), f"a bias needs more than {BIAS_BITS} bits")
    check_reach((np.abs(values).sum(axis=1) * 128 + np.abs(bias)).max(initial=0))


def check_reach(reach: int) -> None:
    """The largest sum must fit the accumulator."""
    refuse_if(reach >= 1 << (ACCUMULATOR_BITS - 1), f"its accumulator may exceed {ACCUMULATOR_BITS} bits")
