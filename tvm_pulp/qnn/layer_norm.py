"""Integer layer normalization of rows: clip((d * weight / isqrt(mean(d^2) + 1) + bias) // D), d = x - mean(x).

Operands: x[..., n], weight[n], bias[n]. The mean is truncated, not rounded; D = 2^shift floors.
"""

from tvm_pulp.qnn.operator import register
from tvm_pulp.qnn.rows import RowNorm
from tvm_pulp.qnn.tiles import BY_ROW


@register("layer_norm", attributes="levels shift wide", operands="x weight bias", tile=BY_ROW)
class LayerNorm(RowNorm):
    """Rows less their mean."""
