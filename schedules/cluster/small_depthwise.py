"""Depthwise convolutions of small pictures: a weight for every pixel and output, whatever the size of the kernel."""

import numpy as np

from schedules.cluster import depthwise_conv2d
from schedules.cluster.base import Arguments, Box, Fields, Layer, Schedule, TileAxis, register, schedule
from schedules.cluster.conv2d import WindowKernel
from schedules.cluster.depthwise_conv2d import DepthwiseKernel
from schedules.kernel_cycles import Work, kind_of, share, words, work
from schedules.packed_weights import padded, weights_of_pixels
from tvm_pulp.qnn.conv2d import Conv2dAttributes

# Pixels of a channel that registers hold.
_MOST_PIXELS = 16


def applies(layer: Layer) -> bool:
    """As many groups as channels, at most 16 pixels."""
    _, height, width, _ = layer.inputs[0].spec.shape
    return height * width <= _MOST_PIXELS and depthwise_conv2d.applies(layer)


@schedule("conv2d", applies, first=True)
class SmallDepthwiseKernel(WindowKernel):
    kernel = "small_depthwise"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(3, 4 * self.multiplier), TileAxis(0, limit=1))

    def _constants(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and biases; those of pixels outside the picture are not there."""
        (_, *size, _), (_, *out_size, _) = self.layer.inputs[0].spec.shape, self.layer.outputs[0].spec.shape
        a, filters = Conv2dAttributes.of(self.layer), self.layer.inputs[1].values[..., 0]
        weight = weights_of_pixels(filters, size, out_size, a)
        bias = -a.zero_point * weight.astype(np.int64).sum(axis=2)
        if a.has_bias:
            bias += self.layer.inputs[2].values.astype(np.int64)[:, None]
        return weight, bias.astype(np.int32)

    def fields(self, call: Arguments, box: Box) -> Fields:
        x, multiplier = self.layer.inputs[0], self.multiplier
        _, height, width, _ = x.spec.shape
        first, channels = box.start[3] // multiplier, box.size[3] // multiplier
        outputs, pixels = box.size[1] * box.size[2], height * width
        names, made = ("pixel_weight", "pixel_bias"), self._constants()
        weight, bias = (self.constant(name, values) for name, values in zip(names, made, strict=True))
        return {
            "x": call.load("x", x, Box((box.start[0], 0, 0, first), (1, height, width, channels))),
            "weight": call.load("weight", weight, Box((box.start[3], 0, 0), (box.size[3], *weight.spec.shape[1:]))),
            "bias": call.load("bias", bias, Box((box.start[3], 0), (box.size[3], outputs))),
            **call.scratch(4 * padded(pixels) + 16 * multiplier * outputs),
            "pixels": pixels, "outputs": outputs, "channels": channels, "multiplier": multiplier,
            **call.requant(box.span(3), short=self.rounds_short),
        }  # fmt: skip


@work("small_depthwise")
def small_depthwise_work(f: Fields, cores: int) -> Work:
    kind, pixels, outputs = kind_of(f), f["pixels"], f["outputs"]
    if f["channels"] < 4:
        done = share(f["channels"] * f["multiplier"], cores) * outputs
        return {"plain_call": 1, f"plain_output_{kind}": done, "plain_pixel": done * pixels}
    groups = share(-(-f["channels"] // 4), cores)
    planes = 4 * groups * f["multiplier"]
    done = {"call": 1, "group": groups, "turned_word": groups * (pixels // 4), "turned_pixel": groups * (pixels % 4)}
    done |= {"plane": planes, "odd": planes * (outputs % 2), "word": planes * outputs * words(pixels)}
    return done | {f"output_{kind}": planes * outputs}


# Planes need less memory.
register("conv2d", Schedule(applies, DepthwiseKernel, needs="small_depthwise", is_smaller=True))
