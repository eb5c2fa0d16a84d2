"""The pass as the rules for float islands see it."""

from dataclasses import replace
from typing import Any

from tvm import relax

from tvm_pulp.canonicalize.qdq_arithmetic import OnnxArithmetic, TfliteArithmetic
from tvm_pulp.canonicalize.qdq_operands import (
    Accumulators,
    IntegerTarget,
    Operands,
    Quantized,
    QuantizedConstant,
    accumulator_reach,
    target_of,
)
from tvm_pulp.canonicalize.rewriter import Rewriter, spec_of


class QdqRewriter(Rewriter):
    """A rewriter that knows the quantized operands of floats; `arithmetic` decides how results are rounded."""

    def __init__(self, arithmetic: TfliteArithmetic | OnnxArithmetic) -> None:
        self.arithmetic = arithmetic

    def start(self, function: Any) -> None:
        self.operands = Operands(self.definition)
        # Names that variables get when those that have them now are gone.
        self.wanted_names: dict[str, str] = {}

    def layer(self, real: Any, target: Accumulators) -> Any:
        """The accumulators of a layer with or without bias, or None."""
        raise NotImplementedError

    def layer_name(self, real: Any) -> str:
        """The operator behind a layer with or without bias; empty where there is none."""
        raise NotImplementedError

    def island(self, real: Any, target: IntegerTarget, name: str = "") -> Any:
        """The integer form of a float value on its way to `target`, bound, or None."""
        raise NotImplementedError

    def image(self, line: Quantized) -> Quantized:
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
__all__ = ["Accumulators", "IntegerTarget", "Quantized", "QuantizedConstant", "accumulator_reach", "target_of"]
