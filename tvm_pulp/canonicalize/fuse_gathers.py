"""Pass: picking rows and then columns of an image, or the other way round, is one operator.

Expects channels-last images. Nearest-neighbour resizing picks along one axis after the other; together whole pixels
move once, and a part of the result knows which rows it needs.

    gather(gather(x, rows, axis 1), columns, axis 2)   becomes   resize(x, rows, columns) with one tap
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of

_ROWS, _COLUMNS = 1, 2


class FuseGathers(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        outer = _picked(value)
        inner = _picked(self.definition(value.args[0])) if outer is not None else None
        if outer is None or inner is None or {outer[0], inner[0]} != {_ROWS, _COLUMNS}:
            return value
        if self.uses(value.args[0]) != 1:
            return value
        picks = dict([inner, outer])
        places = [relax.const(picks[axis].astype(np.int32).reshape(-1, 1)) for axis in (_ROWS, _COLUMNS)]
        source = self.definition(value.args[0]).args[0]
        return qnn.emit("resize", [source, *places], {"layout": "NHWC", "taps": [1, 1]})


def _picked(call: Any) -> tuple[int, np.ndarray] | None:
    """Axis and indices of a gather from an image of bytes; it must not drop the axis."""
    if not qnn.is_qnn(call, "gather"):
        return None
    spec, indices = spec_of(call.args[0]), constant(call.args[1])
    is_image = len(spec.shape) == 4 and spec.dtype in ("int8", "uint8")
    return (qnn.attributes(call)["axis"], indices) if is_image and indices.ndim == 1 else None
