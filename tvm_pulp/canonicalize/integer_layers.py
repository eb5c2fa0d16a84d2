"""Pass: layers whose result stays float are computed in integers all the same, where their operands are quantized.

Expects what folding left: float convolutions and products of dequantized operands, because a float function, a float
output or something unknown follows. Guarantees that products are sums of integers, which are exact, and that only the
result is float: one product with the scale of its channel.

    conv2d(dequantize(x), dequantize(w))   becomes   astype(qnn.conv2d(x, w), float32) * scales

Float weights are two such layers (`near_weights`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.canonicalize.accumulators import Accumulators
from tvm_pulp.canonicalize.qdq import LAYERS
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter
from tvm_pulp.qnn.operator import spec_of


class IntegerLayers(QdqRewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        is_operator = isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op)
        if not is_operator or value.op.name not in LAYERS:
            return value
        # Rewritten operands leave a call without its type; the rules ask for it.
        value = self.builder.normalize(value)
        taken = Accumulators(may_be_real=True)
        layer = LAYERS[value.op.name](self, value, taken)
        if layer is None or spec_of(value).dtype != "float32":
            return value
        whole = self.bound(layer, f"{self.lineage.name_of(variable.name)}_sum")
        if spec_of(whole).dtype != "float32":
            whole = self.emit(relax.op.astype(whole, "float32"))
        rank, units = len(spec_of(value).shape), taken.units.astype(np.float32)
        if value.op.name != "relax.matmul" and units.size > 1:
            # Channels come first.
            units = units.reshape([-1 if axis == 1 else 1 for axis in range(rank)])
        return relax.op.multiply(whole, relax.const(units))
