"""The pass as the rules for float islands see it."""

from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.qdq_arithmetic import OnnxArithmetic, TfliteArithmetic
from tvm_pulp.canonicalize.qdq_operands import (
    Accumulators,
    IntegerTarget,
    QuantizedConstant,
    QuantizedTensor,
    dequantized_constant,
    movement,
    quantization_of,
    target_of,
)
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op, needed, or_none, require, spec_of
from tvm_pulp.qnn.tensor_spec import RANGES


class QdqRewriter(Rewriter):
    """A rewriter that knows the quantized operands of floats; `arithmetic` decides how results are rounded."""

    def __init__(self, arithmetic: TfliteArithmetic | OnnxArithmetic) -> None:
        self.arithmetic = arithmetic

    def start(self, function: Any) -> None:
        # Names that variables get when those that have them now are gone.
        self.wanted_names: dict[str, str] = {}

    @or_none
    def quantized(self, expression: Any) -> QuantizedTensor:
        """The per-tensor quantized value behind a float expression."""
        held = self.quantized_constant(expression)
        if held is not None:
            require(held.values.size and not np.ptp(held.scale) and not np.ptp(held.zero_point))
            return QuantizedTensor(relax.const(held.values), held.scale.flat[0], int(held.zero_point.flat[0]))
        call = self.definition(expression)
        require(is_op(call, "relax.dequantize") and spec_of(call.args[0]).dtype in RANGES)
        return QuantizedTensor(call.args[0], *quantization_of(call))

    @or_none
    def quantized_constant(self, expression: Any) -> QuantizedConstant:
        """Constant integers behind a float expression, through operators that only move elements."""
        call = self.definition(expression)
        if is_op(call, "relax.dequantize"):
            return dequantized_constant(call)
        move = needed(movement(call))
        return needed(self.quantized_constant(call.args[0])).rearranged(move)

    @or_none
    def real_constant(self, expression: Any) -> np.ndarray:
        """Float values of a constant expression, quantized or not."""
        array = constant(expression)
        if array is not None:
            return np.asarray(array)
        held = self.quantized_constant(expression)
        if held is not None:
            return held.real
        call = self.definition(expression)
        move = needed(movement(call))
        return move(needed(self.real_constant(call.args[0])))

    def is_all(self, expression: Any, value: float) -> bool:
        """Tell if an expression is constant and has one value everywhere."""
        if is_op(self.definition(expression), {0.0: "relax.zeros_like", 1.0: "relax.ones_like"}.get(value, "")):
            return True
        known = self.real_constant(expression)
        return known is not None and bool((known == value).all())

    def layer(self, real: Any, target: Accumulators) -> Any:
        """The accumulators of a layer with or without bias, or None."""
        raise NotImplementedError

    def island(self, real: Any, target: IntegerTarget, name: str = "") -> Any:
        """The integer form of a float value on its way to `target`, bound, or None."""
        raise NotImplementedError

    def image(self, line: QuantizedTensor) -> QuantizedTensor:
        """A tensor with one spatial axis as an image of one row."""
        n, c, length = line.shape
        return replace(line, value=self.emit(relax.op.reshape(line.value, (n, c, 1, length))))

    def shaped_like(self, call: Any, value: Any) -> Any:
        """A new value in the shape that the result of `call` has."""
        return relax.op.reshape(self.emit(value), spec_of(call).shape)

    def bound(self, value: Any, name: str = "") -> Any:
        """Bind a call; calls inside it are bound first."""
        if isinstance(value, relax.Call):
            arguments = [self.bound(a, name) if isinstance(a, relax.Call) else a for a in value.args]
            variable = self.emit(relax.Call(value.op, arguments, value.attrs, value.ty_args), name)
            if name:
                self.wanted_names[variable.name] = name
            return variable
        return value


# Of other files: rules take these from here, too.
__all__ = ["Accumulators", "IntegerTarget", "QuantizedConstant", "QuantizedTensor", "target_of"]
