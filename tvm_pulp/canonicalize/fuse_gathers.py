"""Pass: picking rows and then columns of an image, or the other way round, is one operator.

Expects channels-last images. Nearest-neighbour resizing picks along one axis after the other; together whole pixels
move once, and a part of the result knows which rows it needs.

    gather(gather(x, rows, axis 1), columns, axis 2)   becomes   resize(x, rows, columns) with one tap
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require, spec_of
from tvm_pulp.qnn.indexing import GatherAttributes

_ROWS, _COLUMNS = 1, 2


class FuseGathers(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        outer = _picked(value)
        first = self.single(value.args[0])
        inner = _picked(first)
        require({outer[0], inner[0]} == {_ROWS, _COLUMNS})
        picks = dict([inner, outer])
        places = [picks[axis].astype(np.int32).reshape(-1, 1) for axis in (_ROWS, _COLUMNS)]
        return qnn.emit("resize", [first.args[0], *places], {"layout": "NHWC", "taps": [1, 1]})


def _picked(call: Any) -> tuple[int, np.ndarray]:
    """Axis and indices of a gather from an image of bytes; it must not drop the axis."""
    require(qnn.is_qnn(call, "gather"))
    spec, indices = spec_of(call.args[0]), constant(call.args[1])
    require(len(spec.shape) == 4 and spec.dtype in qnn.BYTES and indices.ndim == 1)
    return qnn.attributes(call, GatherAttributes).axis, indices
