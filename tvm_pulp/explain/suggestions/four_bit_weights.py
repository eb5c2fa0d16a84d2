"""Change: weights of four bits."""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import PREFIX

_WEIGHTED = ("conv2d", "dense")
_LOW, _HIGH = -8, 7


def four_bit_weights(base: Compilation) -> Change:
    """Layers on accelerators: the cores multiply bytes whatever they hold."""
    return Change(
        "four-bit-weights",
        "weights of 4 bits: `tvmc quantize --weight-bits 4` says what that costs in accuracy",
        cycles_of(base, lambda layer: layer.engine != "cluster" and _has_bytes(layer.layer)),
        lambda found: found.varied(rewrite=_FourBits().run),
    )


def _has_bytes(layer: Layer) -> bool:
    """Tell if a product has constant weights that need more than four bits."""
    weights = [p.inputs[1].storage.data for p in layer.parts or (layer,) if p.operator in _WEIGHTED]
    return any(w is not None and w.size and (w.min() < _LOW or w.max() > _HIGH) for w in weights)


class _FourBits(Rewriter):
    """Weights cut to four bits: another network, of the same work."""

    def visit(self, variable: Any, value: Any) -> Any:
        weights = constant(value.args[1]) if any(qnn.is_qnn(value, name) for name in _WEIGHTED) else None
        if weights is None or weights.dtype.kind not in "iu" or weights.dtype.itemsize != 1:
            return value
        # Of a weight without a sign, the step in the middle is its zero.
        middle = 0 if weights.dtype == np.int8 else 128
        cut = np.clip(weights.astype(np.int64) - middle, _LOW, _HIGH) + middle
        operands = [value.args[0], relax.const(cut.astype(weights.dtype)), *value.args[2:]]
        return qnn.emit(value.op.name.removeprefix(PREFIX), operands, qnn.attributes(value))
