"""Pass: layers whose result stays float are computed in integers all the same, where their operands are quantized.

Expects what folding left: float convolutions and products of dequantized operands, because a float function, a float
output or something unknown follows. Guarantees that products are sums of integers, which are exact, and that only the
result is float: one product with the scale of its channel.

    conv2d(dequantize(x), dequantize(w))   becomes   astype(qnn.conv2d(x, w), float32) * scales

Float weights are two such layers (`near_weights`).
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.qdq import LAYERS
from tvm_pulp.canonicalize.qdq_rewriter import Accumulators, QdqRewriter
from tvm_pulp.canonicalize.rewriter import is_op, needed, relax_name, spec_of
from tvm_pulp.qnn.requant import along


class IntegerLayers(QdqRewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        rule = needed(LAYERS.get(relax_name(value)))
        # Rewritten operands leave a call without its type; the rules ask for it.
        value = self.builder.normalize(value)
        taken = Accumulators(may_be_real=True)
        layer = rule(self, value, taken)
        if layer is None or spec_of(value).dtype != "float32":
            return value
        whole = self.bound(layer, f"{self.lineage.name_of(variable.name)}_sum")
        if spec_of(whole).dtype != "float32":
            whole = self.emit(relax.op.astype(whole, "float32"))
        units = taken.units.astype(np.float32)
        if not is_op(value, "relax.matmul") and units.size > 1:
            # Channels come first.
            units = along(units, 1, len(spec_of(value).shape))
        return relax.op.multiply(whole, relax.const(units))
