"""Change: ReLU, which requantization clips for nothing, in place of functions that are looked up."""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import spec_of

_FUNCTIONS = ("lookup", "gelu", "hardswish")


def plain_activations(base: Compilation) -> Change:
    cycles = cycles_of(base, lambda layer: any(p.operator in _FUNCTIONS for p in _parts(layer.layer)))
    return Change(
        "plain-activations",
        "ReLU in place of other activation functions: it is part of the layer before",
        cycles,
        lambda found: found.varied(rewrite=_Dropped().run),
    )


def _parts(layer: Layer) -> tuple[Layer, ...]:
    return layer.parts or (layer,)


class _Dropped(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not any(qnn.is_qnn(value, name) for name in _FUNCTIONS):
            return value
        source, result = spec_of(value.args[0]), spec_of(variable)
        return value.args[0] if (source.shape, source.dtype) == (result.shape, result.dtype) else value
