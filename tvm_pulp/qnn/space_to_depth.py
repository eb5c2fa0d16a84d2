"""Blocks of 2 x 2 pixels as channels of one pixel; the result is NHWC.

From NHWC the channels are ordered by row, column, channel (TensorFlow's space_to_depth), from NCHW by channel, row,
column (PyTorch's pixel_unshuffle). With `unsigned` int8 becomes uint8: 128 is added to every value.

Internal: engines without strides use it; no frontend produces it.
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class SpaceToDepthAttributes(Attributes):
    """The layout of the operand; the result may be made unsigned."""

    layout: str
    unsigned: bool


def image_size(attributes: SpaceToDepthAttributes, x: TensorSpec) -> tuple[int, int, int]:
    """Height, width and channels of the input."""
    _, *size = x.shape
    height, width, channels = size if attributes.layout == "NHWC" else (*size[1:], size[0])
    return height, width, channels


@register("space_to_depth", attributes=SpaceToDepthAttributes)
class SpaceToDepth(Operator[SpaceToDepthAttributes]):
    def infer(self, attributes: SpaceToDepthAttributes, inputs: Specs) -> TensorSpec:
        height, width, channels = image_size(attributes, inputs[0])
        dtype = "uint8" if attributes.unsigned else inputs[0].dtype
        return TensorSpec((inputs[0].shape[0], height // 2, width // 2, 4 * channels), dtype)

    def reference(self, attributes: SpaceToDepthAttributes, inputs: Arrays) -> np.ndarray:
        x = inputs[0]
        if attributes.unsigned:
            x = (x.astype(np.int16) + 128).astype(np.uint8)
        if attributes.layout == "NHWC":
            n, h, w, c = x.shape
            blocks = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5)
        else:
            n, c, h, w = x.shape
            blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 2, 4, 1, 3, 5)
        return np.ascontiguousarray(blocks).reshape(n, h // 2, w // 2, 4 * c)

    def body(self, loops: Loops, attributes: SpaceToDepthAttributes, inputs: Specs, output: TensorSpec) -> None:
        (_, _, channels) = image_size(attributes, inputs[0])
        x, y = loops.buffers("x y", (inputs[0], output))
        n, height, width, _ = output.shape
        interleaved = attributes.layout == "NHWC"
        with loops.parallel("pixel", n * height * width) as pixel:
            line, ox = loops.split(pixel, width, "line", "ox")
            batch = loops.bind("batch", tirx.truncdiv(line, i32(height))) if n > 1 else i32(0)
            oy = loops.bind("oy", tirx.truncmod(line, i32(height))) if n > 1 else line
            with loops.loop("row", 2) as row, loops.loop("column", 2) as column, loops.loop("c", channels) as c:
                iy, ix = oy * 2 + row, ox * 2 + column
                value = x[batch, iy, ix, c] if interleaved else x[batch, c, iy, ix]
                if attributes.unsigned:
                    value = (i32(value) + 128).astype("uint8")
                to = (row * 2 + column) * channels + c if interleaved else c * 4 + row * 2 + column
                loops.store(y, [batch, oy, ox, to], value)
