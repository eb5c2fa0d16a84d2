"""Windows of a convolution as rows of a matrix: [n, oh, ow, kh * kw * C]. Padding reads the zero point.

Internal: engines that have only 1x1 convolutions, or products, use it; no frontend produces it.
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.conv2d import output_size, pixel_place
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.pool import shifted_inputs
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, axes, window_box, with_channels
from tvm_pulp.qnn.window import windows


def _part(whole: Whole, box: Box) -> Part:
    source, attributes = window_box(whole, box, whole.attributes["kernel"])
    return Part((with_channels(source, 0, whole.inputs[0].shape[3]),), attributes)


@register("im2col", attributes="dilation kernel pads strides zero_point", tile=TileRule(axes(1, 2, 0), _part))
class Im2col(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        n, h, w, c = inputs[0].shape
        kh, kw = attributes["kernel"]
        return TensorSpec((n, *output_size(attributes, h, w, kh, kw), kh * kw * c), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        stacked = shifted_inputs({**attributes, "layout": "NHWC"}, inputs[0], attributes["zero_point"])
        taps, n, oh, ow, c = stacked.shape
        return np.ascontiguousarray(stacked.transpose(1, 2, 3, 0, 4)).reshape(n, oh, ow, taps * c)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        rows, columns = windows(attributes, attributes["kernel"])
        kh, kw = attributes["kernel"]
        n, h, w, c = inputs[0].shape
        _, oh, ow, _ = output.shape
        x = loops.buffer("x", inputs[0])
        y = loops.buffer("y", TensorSpec((n * oh * ow, kh, kw, c), output.dtype))
        zero = tirx.const(attributes["zero_point"], output.dtype)
        with loops.parallel("pixel", n * oh * ow) as pixel:
            batch, oy, ox = pixel_place(loops, pixel, (n, oh, ow))
            with loops.loop("ky", kh) as ky, loops.loop("kx", kw) as kx:
                iy = loops.bind("iy", rows.position(oy, ky))
                ix = loops.bind("ix", columns.position(ox, kx))
                with loops.loop("i", c) as i:
                    if not any(attributes["pads"]):
                        loops.store(y, [pixel, ky, kx, i], x[batch, iy, ix, i])
                    else:
                        loops.store(y, [pixel, ky, kx, i], zero)
                        with loops.when(tirx.all(iy >= 0, iy < h, ix >= 0, ix < w)):
                            loops.store(y, [pixel, ky, kx, i], x[batch, iy, ix, i])
