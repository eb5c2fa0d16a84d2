"""Integer RMS normalization of rows: clip((x * weight / isqrt(mean(x^2) + 1)) // D).

Operands: x[..., n], weight[n]. The product is truncated towards zero when divided by the root, floored by D = 2^shift.
"""

from tvm_pulp.qnn.operator import register
from tvm_pulp.qnn.rows import RowNorm
from tvm_pulp.qnn.tiles import BY_ROW


@register("rms_norm", attributes="levels shift wide", operands="x weight", tile=BY_ROW)
class RmsNorm(RowNorm):
    """Rows as they are."""
