"""Largest value or mean of windows of floats without padding; layout NCHW. `kind`: max or avg."""

import math

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.conv2d import output_size, taps
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, call, register
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, axes, float_window
from tvm_pulp.qnn.window_attributes import StepAttributes
from tvm_pulp.quick_records import quick_record


def _part(whole: Whole, box: Box) -> Part:
    first, count = float_window(whole, box, FloatPoolAttributes.of(whole).kernel)
    return Part((Box((*box.start[:2], *first), (*box.size[:2], *count)),), whole.attributes)


@quick_record(kw_only=True, slots=False)
class FloatPoolAttributes(StepAttributes):
    """`kind` is max or avg."""

    kernel: tuple[int, int]
    kind: str


@register("float_pool", attributes=FloatPoolAttributes, tile=TileRule(axes(1, 2, 0, 3), _part))
class FloatPool(Operator[FloatPoolAttributes]):
    def infer(self, attributes: FloatPoolAttributes, inputs: Specs) -> TensorSpec:
        n, channels, height, width = inputs[0].shape
        return TensorSpec((n, channels, *output_size(attributes, height, width, *attributes.kernel)), "float32")

    def reference(self, attributes: FloatPoolAttributes, inputs: Arrays) -> np.ndarray:
        x, kernel = inputs[0], attributes.kernel
        size = output_size(attributes, x.shape[2], x.shape[3], *kernel)
        values = [x[:, :, *met] for _, _, met in taps(attributes, kernel, size)]
        if attributes.kind == "max":
            return np.max(values, axis=0)
        return np.asarray(np.mean(np.asarray(values, np.float64), axis=0).astype(np.float32))

    def body(self, loops: Loops, attributes: FloatPoolAttributes, inputs: Specs, output: TensorSpec) -> None:
        (kh, kw), is_max = attributes.kernel, attributes.kind == "max"
        (sh, sw), (dh, dw) = attributes.strides, attributes.dilation
        _, _, height, width = inputs[0].shape
        n, channels, oh, ow = output.shape
        x = loops.buffer("x", inputs[0].flat)
        y = loops.buffer("y", output.flat)
        with loops.parallel("line", n * channels * oh) as line:
            plane, oy = loops.unravel("at", line, (n * channels, oh))
            first = loops.bind("first", plane * (height * width) + oy * (sh * width))
            with loops.loop("ox", ow) as ox:
                corner = loops.bind("corner", first + ox * sw)
                result = loops.scalar("result", x[corner] if is_max else 0, "float32")
                with loops.nest(("ky", "kx"), (kh, kw)) as (ky, kx):
                    value = x[corner + ky * (dh * width) + kx * dw]
                    result.set(call("fmax", result.value, value, dtype="float32") if is_max else result.value + value)
                mean = result.value * tirx.const(1 / math.prod((kh, kw)), "float32")
                loops.store(y, [line * ow + ox], result.value if is_max else mean)
