"""Pass: padding as wide as the kernel becomes an operator of its own.

Expects NHWC convolutions; guarantees that every window touches the input, so that a part of the output always has a
part of the input to be computed from.

    conv2d 1x1 (pads 1)      becomes      pad -> conv2d 1x1 (pads 0)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.window_attributes import windows


class ExplicitPadding(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d"))
        attributes = qnn.attributes(value, Conv2dAttributes)
        rows, columns = windows(attributes, spec_of(value.args[1]).shape[1:3])
        require(any(max(axis.before, axis.after) > axis.reach for axis in (rows, columns)))
        before, after = [0, rows.before, columns.before, 0], [0, rows.after, columns.after, 0]
        border = {"before": before, "after": after, "value": attributes.zero_point}
        padded = self.emit(qnn.emit("pad", [value.args[0]], border), f"{variable.name}_padded")
        return qnn.emit("conv2d", [padded, *value.args[1:]], {**attributes, "pads": [0, 0, 0, 0]})
