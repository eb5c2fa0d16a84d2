"""Types, weights, windows and requantizations that the hand-written kernels can compute with."""

from collections.abc import Sequence

import numpy as np

from schedules.kernel_numbers import KINDS, TYPES, TYPES_16
from schedules.packed_weights import offset_weights
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.requant import Requant, weighted_reach
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma.recipe import Local


def typed(operand: Tensor | Local) -> int:
    """Number of an operand's type in `enum tvm_pulp_type`."""
    return (TYPES | TYPES_16)[operand.spec.dtype]


def uniform_requant(layer: Layer, reach: int | None = None) -> bool:
    """Tell whether the kernels can requantize a layer whose accumulator stays below `reach`.

    Both constant tensors have one element, or both have one per channel. TFLite's form needs multipliers that are not
    negative and an accumulator up to 2^29.
    """
    rule = Requant.of(layer.attributes)
    tensors = rule.tensors(layer.inputs)
    if len({t.spec.elements for t in tensors}) > 1 or rule.kind not in KINDS:
        return False
    if rule.kind != "tflite":
        return True
    multipliers = tensors[0].data
    return multipliers is not None and bool((multipliers >= 0).all()) and reach is not None and reach <= 1 << 29


def are_bytes(weight: Tensor) -> bool:
    """Tell whether constant weights fit int8, at least after the same number was taken from all of them."""
    return weight.data is not None and offset_weights(weight.data) is not None


def can_round_short(rule: Requant, constants: Sequence[np.ndarray], reach: int | None) -> bool:
    """Tell if a rule, and accumulators up to `reach`, are as kernels.h asks at `shift` of `struct tvm_pulp_requant`."""
    if rule.kind not in ("tflite", "half_up") or rule.out_dtype not in BYTES or reach is None or reach > 1 << 29:
        return False
    (mul, second), shifts = constants, {"tflite": (-20, -1), "half_up": (32, 51)}[rule.kind]
    values = (rule.zero_point, rule.low, rule.high)
    small = min(values) >= -128 and max(values) <= 255 and (rule.high - rule.low) % 2 == 1
    return bool(small and (mul >= 0).all() and (second >= shifts[0]).all() and (second <= shifts[1]).all())


def accumulator_reach(layer: Layer) -> int | None:
    """Largest |accumulator| of a layer with constant weights, or of a product of two activations."""
    low, high = layer.inputs[0].spec.range
    if layer.operator == "matmul":
        a, b = layer.inputs[0].spec, layer.inputs[1].spec
        return 256 * 256 * a.shape[-1] if {a.dtype, b.dtype} <= set(BYTES) else None
    weights = layer.inputs[1].data
    if weights is None:
        return None
    zero_point = LinearAttributes.of(layer).zero_point
    largest = max(abs(low - zero_point), abs(high - zero_point))
    return weighted_reach(weights, largest, layer.inputs[2].values if LinearAttributes.of(layer).has_bias else None)


def exact_bias(layer: Layer) -> np.ndarray:
    """Bias with the input's zero point taken out, in 64 bits."""
    weights = layer.inputs[1].values
    total = -LinearAttributes.of(layer).zero_point * weights.astype(np.int64).reshape(weights.shape[0], -1).sum(axis=1)
    return total + (layer.inputs[2].values.astype(np.int64) if LinearAttributes.of(layer).has_bias else 0)


def folded_bias(layer: Layer) -> np.ndarray:
    """The same in the 32 bits that kernels take."""
    return exact_bias(layer).astype(np.int32)
