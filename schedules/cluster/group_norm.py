"""GroupNorm and InstanceNorm of quantize/dequantize graphs: cut into groups, which need no others."""

import math

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, work
from tvm_pulp.qnn.group_norm import GroupNormAttributes
from tvm_pulp.qnn.tensor_spec import BYTES


def applies(layer: Layer) -> bool:
    """Bytes, a constant weight and bias for each channel."""
    known = all(t.data is not None for t in layer.inputs[1:])
    return known and {layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype} <= set(BYTES)


@schedule("group_norm", applies)
class GroupNormKernel(KernelForm):
    @property
    def channels(self) -> int:
        """Of a group."""
        return int(self.layer.outputs[0].spec.shape[1] // GroupNormAttributes.of(self.layer).groups)

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1, self.channels), TileAxis(0, limit=1))

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, x = GroupNormAttributes.of(self.layer), self.layer.inputs[0]
        of_channels = Box((box.start[1],), (box.size[1],))
        vectors = zip(("weight", "bias"), self.layer.inputs[1:], strict=True)
        return {
            "x": call.load("x", x, box), **{name: call.load(name, tensor, of_channels) for name, tensor in vectors},
            "reals": call.load_reals("reals", "statistic", "epsilon", "gain"),
            "groups": box.size[1] // self.channels, "channels": self.channels,
            "pixels": math.prod(box.size[2:]), "low": a.low - a.zero_point, "high": a.high - a.zero_point,
        }  # fmt: skip


@work("group_norm")
def group_norm_work(f: Fields, cores: int) -> Work:
    """Elements are shared; every core adds up all groups that its elements belong to."""
    size, planes = f["channels"] * f["pixels"], f["groups"] * f["channels"]
    part = 4 * -(-planes * f["pixels"] // (4 * cores))
    groups = min(-(-part // size) + (1 if part % size else 0), f["groups"])
    touched = min(-(-part // f["pixels"]) + (1 if part % f["pixels"] else 0), planes)
    return {"call": 1, "group": groups, "sum": groups * size, "plane": touched, "element": part}
