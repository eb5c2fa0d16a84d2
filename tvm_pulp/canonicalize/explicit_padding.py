"""Pass: padding as wide as the kernel becomes an operator of its own.

Expects NHWC convolutions; guarantees that every window touches the input, so that a part of the output always has a
part of the input to be computed from.

    conv2d 1x1 (pads 1)      becomes      pad -> conv2d 1x1 (pads 0)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, require, spec_of


class ExplicitPadding(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d"))
        attributes = qnn.attributes(value)
        (top, left, bottom, right), dilation = attributes["pads"], attributes["dilation"]
        _, height, width, _ = spec_of(value.args[1]).shape
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, (height, width), strict=True)]
        require(max(top, bottom) >= reach[0] or max(left, right) >= reach[1])
        border = {"before": [0, top, left, 0], "after": [0, bottom, right, 0], "value": attributes["zero_point"]}
        padded = self.emit(qnn.emit("pad", [value.args[0]], border), f"{variable.name}_padded")
        return qnn.emit("conv2d", [padded, *value.args[1:]], {**attributes, "pads": [0, 0, 0, 0]})
