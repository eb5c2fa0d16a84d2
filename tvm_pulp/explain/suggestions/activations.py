"""Changes of activations: ReLU in place of functions that are looked up, zero points that are free to pad with."""

from collections.abc import Mapping
from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of_operators, without

_FUNCTIONS = ("lookup", "gelu", "hardswish")


def plain_activations(base: Compilation) -> Change:
    return Change(
        "plain-activations",
        "ReLU in place of other activation functions: it is part of the layer before",
        cycles_of_operators(base, lambda part: part.operator in _FUNCTIONS),
        lambda found: found.varied(rewrite=_Dropped().run),
    )


class _Dropped(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        return without(variable, value) if any(qnn.is_qnn(value, name) for name in _FUNCTIONS) else value


# Zero points of int8 and uint8 at which a padded byte is zero in some type.
_FREE = (0, -128, 128)


def symmetric_activations(base: Compilation) -> Change:
    return Change(
        "symmetric-activations",
        "zero point 0 for activations that convolutions pad, as `tvmc quantize` chooses it",
        cycles_of_operators(base, lambda part: part.operator == "conv2d" and _costs_padding(part.attributes)),
        lambda found: found.varied(rewrite=_ZeroPoints().run),
    )


def _costs_padding(convolution: Mapping[str, Any]) -> bool:
    return any(convolution["pads"]) and convolution["zero_point"] not in _FREE


class _ZeroPoints(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "conv2d") or not _costs_padding(qnn.attributes(value)):
            return value
        return qnn.emit("conv2d", list(value.args), {**qnn.attributes(value), "zero_point": 0})
