"""Windows of a convolution as rows of a matrix: [n, oh, ow, kh * kw * C]. Padding reads the zero point.

Internal: engines that have only 1x1 convolutions, or products, use it; no frontend produces it.
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.conv2d import output_size, pixel_place
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.pool import shifted_inputs
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, axes, window_box, with_channels
from tvm_pulp.qnn.window_attributes import KernelAttributes, windows
from tvm_pulp.quick_records import quick_record


def _part(whole: Whole, box: Box) -> Part:
    stated = Im2colAttributes.of(whole)
    source, attributes = window_box(whole, stated, box, stated.kernel)
    return Part((with_channels(source, 0, whole.inputs[0].shape[3]),), attributes)


@quick_record(kw_only=True, slots=False)
class Im2colAttributes(KernelAttributes):
    """The value that padding reads."""

    zero_point: int


@register("im2col", attributes=Im2colAttributes, tile=TileRule(axes(1, 2, 0), _part))
class Im2col(Operator[Im2colAttributes]):
    def infer(self, attributes: Im2colAttributes, inputs: Specs) -> TensorSpec:
        n, h, w, c = inputs[0].shape
        kh, kw = attributes.kernel
        return TensorSpec((n, *output_size(attributes, h, w, kh, kw), kh * kw * c), inputs[0].dtype)

    def reference(self, attributes: Im2colAttributes, inputs: Arrays) -> np.ndarray:
        stacked = shifted_inputs(attributes, inputs[0], attributes.zero_point, "NHWC")
        taps, n, oh, ow, c = stacked.shape
        return np.ascontiguousarray(stacked.transpose(1, 2, 3, 0, 4)).reshape(n, oh, ow, taps * c)

    def body(self, loops: Loops, attributes: Im2colAttributes, inputs: Specs, output: TensorSpec) -> None:
        rows, columns = windows(attributes, attributes.kernel)
        kh, kw = attributes.kernel
        n, h, w, c = inputs[0].shape
        _, oh, ow, _ = output.shape
        x = loops.buffer("x", inputs[0])
        y = loops.buffer("y", TensorSpec((n * oh * ow, kh, kw, c), output.dtype))
        zero = tirx.const(attributes.zero_point, output.dtype)
        with loops.parallel("pixel", n * oh * ow) as pixel:
            batch, oy, ox = pixel_place(loops, pixel, (n, oh, ow))
            with loops.loop("ky", kh) as ky, loops.loop("kx", kw) as kx:
                iy = loops.bind("iy", rows.position(oy, ky))
                ix = loops.bind("ix", columns.position(ox, kx))
                with loops.loop("i", c) as i:
                    if not any(attributes.pads):
                        loops.store(y, [pixel, ky, kx, i], x[batch, iy, ix, i])
                    else:
                        loops.store(y, [pixel, ky, kx, i], zero)
                        with loops.when(tirx.all(iy >= 0, iy < h, ix >= 0, ix < w)):
                            loops.store(y, [pixel, ky, kx, i], x[batch, iy, ix, i])
