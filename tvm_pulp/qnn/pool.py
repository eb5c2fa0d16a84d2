"""Windows of the pooling operators, in numpy and as loops. Layout NHWC, or NCHW before the NHWC pass."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.conv2d import guard, output_size, taps
from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.tensor_spec import Attributes, TensorSpec


def pool_shape(attributes: Attributes, x: TensorSpec) -> TensorSpec:
    """Type of a pooled tensor."""
    kernel = attributes["kernel"]
    if attributes["layout"] == "NCHW":
        n, c, h, w = x.shape
        return TensorSpec((n, c, *output_size(attributes, h, w, *kernel)), x.dtype)
    n, h, w, c = x.shape
    return TensorSpec((n, *output_size(attributes, h, w, *kernel), c), x.dtype)


def windows(attributes: Attributes, x: np.ndarray, fill: int) -> np.ndarray:
    """Stack of the shifted inputs, one per kernel position; padding reads `fill`."""
    if attributes["layout"] == "NCHW":
        return windows({**attributes, "layout": "NHWC"}, x.transpose(0, 2, 3, 1), fill).transpose(0, 1, 4, 2, 3)
    (sh, sw), (dh, dw), (top, left, bottom, right) = (attributes[k] for k in ("strides", "dilation", "pads"))
    kh, kw = attributes["kernel"]
    _, h, w, _ = x.shape
    oh, ow = output_size(attributes, h, w, kh, kw)
    # A ceil-mode output may reach beyond the padding: those positions are padding too.
    reach_h, reach_w = (oh - 1) * sh + (kh - 1) * dh + 1, (ow - 1) * sw + (kw - 1) * dw + 1
    after = (max(bottom, reach_h - h - top), max(right, reach_w - w - left))
    x = np.pad(x, ((0, 0), (top, after[0]), (left, after[1]), (0, 0)), constant_values=fill)
    return np.stack([x[:, *met] for _, _, met in taps(attributes, (kh, kw), (oh, ow))])


@dataclass(frozen=True)
class WindowPlace:
    """One output position inside the loop nest."""

    attributes: Attributes
    size: tuple[int, int]
    out_size: tuple[int, int]
    batch: Any
    oy: Any
    ox: Any
    channel: Any

    @property
    def output(self) -> list[Any]:
        return [self.batch, self.oy, self.ox, self.channel]

    def input(self, iy: Any, ix: Any) -> tuple[Any, ...]:
        return (self.batch, iy, ix, self.channel)

    @contextmanager
    def taps(self, loops: Loops) -> Iterator[tuple[Any, Any]]:
        """Every input position of the window that exists."""
        (sh, sw), (dh, dw), (top, left, _, _) = (self.attributes[k] for k in ("strides", "dilation", "pads"))
        kh, kw = self.attributes["kernel"]
        (h, w), (oh, ow) = self.size, self.out_size
        out_h = top > 0 or (oh - 1) * sh + (kh - 1) * dh - top >= h
        out_w = left > 0 or (ow - 1) * sw + (kw - 1) * dw - left >= w
        with loops.loop("ky", kh) as ky:
            iy = loops.bind("iy", self.oy * sh + ky * dh - top)
            with guard(loops, iy, h, out_h), loops.loop("kx", kw) as kx:
                ix = loops.bind("ix", self.ox * sw + kx * dw - left)
                with guard(loops, ix, w, out_w):
                    yield iy, ix


@contextmanager
def window_axes(loops: Loops, attributes: Attributes, x: TensorSpec, output: TensorSpec) -> Iterator[WindowPlace]:
    """Loops over all output positions, channels innermost."""
    n, oh, ow, channels = output.shape
    with loops.parallel("place", n * oh * ow * channels) as place:
        channel = loops.bind("channel", tirx.truncmod(place, i32(channels)))
        pixel = loops.bind("pixel", tirx.truncdiv(place, i32(channels)))
        ox = loops.bind("ox", tirx.truncmod(pixel, i32(ow)))
        line = loops.bind("line", tirx.truncdiv(pixel, i32(ow)))
        oy = loops.bind("oy", tirx.truncmod(line, i32(oh))) if n > 1 else line
        batch = loops.bind("batch", tirx.truncdiv(line, i32(oh))) if n > 1 else i32(0)
        yield WindowPlace(attributes, (x.shape[1], x.shape[2]), (oh, ow), batch, oy, ox, channel)
