"""Change: activations that are padded have their zero at an integer that padding costs nothing for."""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of
from tvm_pulp.qnn.network import Layer

# Zero points of int8 and uint8 at which a padded byte is zero in some type.
_FREE = (0, -128, 128)


def symmetric_activations(base: Compilation) -> Change:
    cycles = cycles_of(base, lambda layer: any(_is_padded(p) for p in layer.layer.parts or (layer.layer,)))
    return Change(
        "symmetric-activations",
        "zero point 0 for activations that convolutions pad, as `tvmc quantize` chooses it",
        cycles,
        lambda found: found.varied(rewrite=_ZeroPoints().run),
    )


def _is_padded(layer: Layer) -> bool:
    stated = layer.attributes
    return layer.operator == "conv2d" and any(stated["pads"]) and stated["zero_point"] not in _FREE


class _ZeroPoints(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "conv2d"):
            return value
        attributes = qnn.attributes(value)
        if not any(attributes["pads"]) or attributes["zero_point"] in _FREE:
            return value
        return qnn.emit("conv2d", list(value.args), {**attributes, "zero_point": 0})
