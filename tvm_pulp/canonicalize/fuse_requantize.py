"""Pass: bias and requantization move into the layer before them.

Expects dialect operators that deliver 32-bit accumulators, followed by `add` of a constant and `requantize`;
guarantees one operator per layer where the accumulator has no other reader.

    dense -> add(constant) -> requantize      becomes   dense(bias, requant)
    requantize, requantize -> add -> requantize  becomes   add(requant_a, requant_b, requant)
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_bound
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, or_none, require, spec_of
from tvm_pulp.qnn.add import AddAttributes
from tvm_pulp.qnn.elementwise import RequantizeAttributes
from tvm_pulp.qnn.record import LinearAttributes, Requantized
from tvm_pulp.qnn.requant import narrow_enough
from tvm_pulp.quick_records import changed

_ACCUMULATING = ("conv2d", "dense", "matmul", "add", "sub", "mul", "hardswish", "gelu", "integer_div")


class FuseRequantize(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "add", "requantize"))
        return self._add(value) if qnn.is_qnn(value, "add") else self._requantize(value)

    def _add(self, value: Any) -> Any:
        attributes = qnn.attributes(value, AddAttributes)
        require(attributes.form == "plain" and attributes.requant.kind == "none")
        a, b = value.args[:2]
        folded = [call for call in (self._bias(a, b), self._bias(b, a)) if call is not None]
        if folded:
            return folded[0]
        arguments, tensors = [a, b], []
        for position, prefix in enumerate(("requant_a", "requant_b")):
            inner = self.single(arguments[position], "requantize")
            rule = None if inner is None else qnn.attributes(inner, RequantizeAttributes)
            # Per-channel constants must run along the result's last axis.
            if rule is None or constant(inner.args[1]).size > 1 or rule.zero_point or rule.requant.kind != "pulp":
                continue
            attributes = changed(attributes, **{prefix: rule.requant})
            arguments[position] = inner.args[0]
            tensors += inner.args[1:]
        require(tensors)
        return qnn.emit("add", [*arguments, *tensors], attributes)

    @or_none
    def _bias(self, data: Any, other: Any) -> Any:
        addend = needed(constant(other))
        call = needed(self.single(data, "conv2d", "dense"))
        attributes = qnn.attributes(call, LinearAttributes)
        channels = spec_of(call.args[1]).shape[0]
        require(addend.size == 1 or (addend.size == channels and addend.shape[-1] == channels))
        require(attributes.requant.kind == "none")
        bias = np.broadcast_to(addend.reshape(-1), (channels,)).astype(np.int64)
        if attributes.has_bias:
            bias = bias + constant(call.args[2])
        require(np.abs(bias).max(initial=0) < 1 << 31)
        if not attributes.has_bias and not bias.any():
            return call
        return qnn.emit(qnn.name_of(call), [*call.args[:2], bias.astype(np.int32)], changed(attributes, has_bias=True))

    def _requantize(self, value: Any) -> Any:
        rule, (data, mul, add) = qnn.attributes(value, RequantizeAttributes), value.args
        call = needed(self.single(data, *_ACCUMULATING))
        attributes, rank = qnn.attributes(call, Requantized), len(spec_of(data).shape)
        require(not rule.zero_point and attributes.requant.kind == "none")
        require(constant(mul).size == 1 or rule.axis % rank == rank - 1)
        requant = rule.requant
        if requant.kind == "pulp":
            bound = accumulator_bound(call)
            wide = bound is None or not narrow_enough(bound, constant(mul), constant(add))
            requant = qnn.Requant(requant.kind, requant.shift, 0, requant.low, requant.high, wide)
        return qnn.emit(qnn.name_of(call), [*call.args, mul, add], changed(attributes, requant=requant))
