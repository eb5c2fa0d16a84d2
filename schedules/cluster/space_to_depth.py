"""Blocks of 2 x 2 pixels as channels, cut into rows."""

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.qnn.space_to_depth import SpaceToDepthAttributes
from tvm_pulp.qnn.tensor_spec import BYTES


def applies(layer: Layer) -> bool:
    """8-bit values."""
    return layer.inputs[0].spec.dtype in BYTES


@schedule("space_to_depth", applies)
class SpaceToDepthKernel(KernelForm):
    layouts = ("NHWC", "NCHW")
    cut = (TileAxis(1), TileAxis(0, limit=1))

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, x = SpaceToDepthAttributes.of(self.layer), self.layer.inputs[0]
        planar, shape = a.layout == "NCHW", x.spec.shape
        first, count = 2 * box.start[1], 2 * box.size[1]
        if planar:
            source = Box((box.start[0], 0, first, 0), (1, shape[1], count, shape[3]))
        else:
            source = Box((box.start[0], first, 0, 0), (1, count, *shape[2:]))
        return {
            "x": call.load("x", x, source), "height": box.size[1], "width": box.size[2],
            "channels": box.size[3] // 4, "is_planar": int(planar), "flip": 0x80 if a.unsigned else 0,
        }  # fmt: skip


@work("space_to_depth")
def space_to_depth_work(f: Fields, cores: int) -> Work:
    lines, width, channels = share(f["height"], cores), f["width"], f["channels"]
    if f["is_planar"]:
        rest = lines * (width % 4) * channels if width % 4 else 0
        fours = lines * channels * (width // 4)
        work = {"call": 1, "plane": lines * channels, "plane_word": fours, "pixel": rest}
        return {**work, "flipped_plane_word": fours if f["flip"] else 0}
    if channels == 3:
        return {"call": 1, "line": lines, "triple": lines * width, "flipped_triple": lines * width if f["flip"] else 0}
    return {"call": 1, "line": lines, "pixel": lines * width * channels}
