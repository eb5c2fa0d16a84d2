"""How sums of products become results: constants that give the network's results in few instructions, or its own rule.

Constants are packed in blocks of channels, in the order of use.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from schedules.cpu.base import RANGES, SATURATIONS, CallBuilder, Cpu, Layer, Tensor, offer_if
from schedules.cpu.pack_weights import padded
from tvm_pulp.qnn.fit_rule import FittedRule, Sums, fit_rule
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.cpu_form import FUNCTION


@dataclass(frozen=True)
class ProductRule:
    """How sums become results: the kernels' suffix, constants in the order of use, and the network's own rule."""

    suffix: str
    scale: np.ndarray
    constants: np.ndarray | None = None

    @property
    def name(self) -> str:
        """The function of the network's own rule, in C."""
        return "0" if self.constants is None else f"{FUNCTION}_rule"

    @property
    def constants_name(self) -> str:
        return "0" if self.constants is None else "constants"


# Rules of weights by all that they depend on: parts of a layer share its own.
_RULES: "WeakKeyDictionary[Tensor, dict[Any, ProductRule | None]]" = WeakKeyDictionary()


def check_product(layer: Layer) -> None:
    """Check operands and rule of a layer that sums up products."""
    x, weight = layer.inputs[0], layer.inputs[1]
    offer_if(weight.spec.dtype == "int8", f"weights are {weight.spec.dtype}, not int8")
    offer_if(weight.data is not None, "weights are no constant")
    for tensor, name in ((x, "values"), (layer.outputs[0], "results")):
        offer_if(tensor.spec.dtype in RANGES, f"{name} are {tensor.spec.dtype}, not bytes")
    offer_if(LinearAttributes.of(layer).sum_bits <= 32, "sums have more than 32 bits")
    offer_if(Requant.of(layer.attributes).operands, "sums are results: nothing requantizes them")


def rule_for(layer: Layer, matrix: np.ndarray, block: int, cpu: Cpu, values: str = "") -> ProductRule:
    """The rule for weights [channels, depth] and values of a type."""
    x, weight, *others = layer.inputs
    known = _RULES.setdefault(weight, {})
    key = (
        tuple(others), x.spec.dtype, Requant.of(layer.attributes), LinearAttributes.of(layer).zero_point,
        block, cpu.doubled, cpu.block.by_constant, values,
    )  # fmt: skip
    if key not in known:
        known[key] = _rule_of(layer, matrix, block, cpu, values)
    found = known[key]
    offer_if(found is not None, "sums do not fit into 32 bits")
    assert found is not None
    return found


def _rule_of(layer: Layer, matrix: np.ndarray, block: int, cpu: Cpu, values: str) -> ProductRule | None:
    """The same; None where sums do not fit into 32 bits."""
    requant, low_high = Requant.of(layer.attributes), RANGES[layer.inputs[0].spec.dtype]
    weights, zero_point = matrix.astype(np.int64), int(LinearAttributes.of(layer).zero_point)
    if values:
        zero_point, low_high = zero_point + RANGES[values][0] - low_high[0], RANGES[values]
    channels = len(weights)
    bias = (
        layer.inputs[2].values.astype(np.int64) if LinearAttributes.of(layer).has_bias else np.zeros(channels, np.int64)
    )
    bias = bias - zero_point * weights.sum(1)
    ends = np.stack([weights * low_high[0], weights * low_high[1]])
    lowest, highest = ends.min(0).sum(1), ends.max(0).sum(1)
    reach = max(int(np.abs(e + b).max()) for e in (lowest, highest) for b in (bias, 0))
    if reach >= 1 << 31 or np.abs(bias).max() >= 1 << 31:
        return None
    first, second = (np.asarray(o.values, np.int64) for o in requant.tensors(layer.inputs))
    clipped = (requant.low, requant.high)
    if clipped in SATURATIONS:
        fitted = fit_rule(Sums(requant, (first, second), bias, lowest, highest), clipped, doubled=cpu.doubled)
        if fitted is not None:
            suffix = SATURATIONS[clipped] + ("" if fitted.less is None else "_away")
            return ProductRule(suffix, _scale(fitted, block, cpu.block.by_constant))
    constants = np.concatenate([np.broadcast_to(o.reshape(-1), channels) for o in (first, second)])
    return ProductRule("s32", padded(bias, 0, block).astype(np.int32), constants.astype(np.int32))


def _scale(fitted: FittedRule, block: int, by_constant: bool) -> np.ndarray:
    """Constants of the fitted rule, blocks of channels one after the other."""
    added = [fitted.shift, fitted.multiply, fitted.add] + ([] if fitted.less is None else [fitted.less])
    each = padded(np.stack(added, axis=1), 0, block).reshape(-1, block, len(added))
    rows = (each.transpose(0, 2, 1) if by_constant else each).reshape(-1, len(added) * block)
    return np.concatenate([padded(fitted.start, 0, block).reshape(-1, block), rows], axis=1).astype(np.int32)


def begin_call(layer: Layer, rule: ProductRule, weights: np.ndarray) -> CallBuilder:
    """A call with the operands that all products have."""
    call = CallBuilder(layer, layer.inputs[:1])
    call.constant("weight", weights)
    call.constant("scale", rule.scale)
    if rule.constants is not None:
        call.constant("constants", rule.constants)
    call.result()
    return call


def rule_function(layer: Layer, rule: ProductRule) -> list[str]:
    """The network's rule as a function, where the kernels leave it to the layer."""
    if rule.constants is None:
        return []
    requant = Requant.of(layer.attributes)
    operands = f"sum, constants[channel], constants[{rule.constants.size // 2} + channel]"
    name, third = (
        ("requantize_wide", requant.shift)
        if requant.kind == "pulp"
        else (f"requantize_{requant.kind}", requant.zero_point)
    )
    head = f"TVM_PULP_INLINE int32_t {rule.name}(int32_t sum, int32_t channel, const int32_t *constants) {{"
    return [head, f"  return tvm_pulp_{name}({operands}, {third}, {requant.low}, {requant.high});", "}", ""]
