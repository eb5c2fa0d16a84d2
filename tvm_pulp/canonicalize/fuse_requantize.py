"""Pass: bias and requantization move into the layer before them.

Expects dialect operators that deliver 32-bit accumulators, followed by `add` of a constant and `requantize`;
guarantees one operator per layer where the accumulator has no other reader.

    dense -> add(constant) -> requantize      becomes   dense(bias, requant)
    requantize, requantize -> add -> requantize  becomes   add(requant_a, requant_b, requant)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_bound
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import PREFIX, spec_of
from tvm_pulp.qnn.requant import narrow_enough

_ACCUMULATING = {"conv2d", "dense", "matmul", "add", "sub", "mul", "hardswish", "gelu", "integer_div"}


class FuseRequantize(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "add"):
            return self._add(value)
        if qnn.is_qnn(value, "requantize"):
            return self._requantize(value)
        return value

    def _single(self, expression: Any, *names: str) -> Any:
        """The defining call of an operand that nobody else reads, if it is one of `names`."""
        call = self.definition(expression)
        if call is None or self.uses(expression) != 1:
            return None
        return call if any(qnn.is_qnn(call, n) for n in names) else None

    def _add(self, value: Any) -> Any:
        attributes = qnn.attributes(value)
        if attributes["form"] != "plain" or attributes["requant"] != "none":
            return value
        for data, other in ((0, 1), (1, 0)):
            folded = self._bias(value.args[data], constant(value.args[other]))
            if folded is not None:
                return folded
        arguments, tensors = list(value.args[:2]), []
        for position, prefix in enumerate(("requant_a", "requant_b")):
            inner = self._single(arguments[position], "requantize")
            if inner is None:
                continue
            rule = qnn.attributes(inner)
            # Per-channel constants must run along the result's last axis.
            if constant(inner.args[1]).size > 1 or rule["zero_point"] or rule["requant"] != "pulp":
                continue
            attributes |= qnn.Requant.of(rule).attributes(prefix)
            arguments[position] = inner.args[0]
            tensors += inner.args[1:]
        return qnn.emit("add", [*arguments, *tensors], attributes) if tensors else value

    def _bias(self, data: Any, addend: Any) -> Any:
        """layer + constant, as the layer's bias."""
        call = self._single(data, "conv2d", "dense") if addend is not None else None
        if call is None:
            return None
        attributes = qnn.attributes(call)
        channels = spec_of(call.args[1]).shape[0]
        per_channel = addend.size == 1 or (addend.size == channels and addend.shape[-1] == channels)
        if attributes["requant"] != "none" or not per_channel:
            return None
        bias = np.broadcast_to(addend.reshape(-1), (channels,)).astype(np.int64)
        if attributes["has_bias"]:
            bias = bias + constant(call.args[2])
        if np.abs(bias).max(initial=0) >= 1 << 31:
            return None
        if not attributes["has_bias"] and not bias.any():
            return call
        attributes["has_bias"] = 1
        return qnn.emit(
            call.op.name.removeprefix(PREFIX), [*call.args[:2], relax.const(bias.astype(np.int32))], attributes
        )

    def _requantize(self, value: Any) -> Any:
        rule, (data, mul, add) = qnn.attributes(value), value.args
        call = self._single(data, *_ACCUMULATING)
        if call is None or rule["zero_point"]:
            return value
        attributes = qnn.attributes(call)
        shape = spec_of(data).shape
        last = rule["axis"] % len(shape) == len(shape) - 1
        if attributes["requant"] != "none" or not (constant(mul).size == 1 or last):
            return value
        requant = qnn.Requant.of(rule)
        if requant.kind == "pulp":
            bound = accumulator_bound(call)
            wide = bound is None or not narrow_enough(bound, constant(mul), constant(add))
            requant = qnn.Requant(requant.kind, requant.shift, 0, requant.low, requant.high, wide)
        name = call.op.name.removeprefix(PREFIX)
        return qnn.emit(name, [*call.args, mul, add], {**attributes, **requant.attributes()})
