"""Convolutions in groups: some groups at a time are one convolution, with zeros where groups do not meet."""

from functools import cached_property

import numpy as np

from schedules.cluster.base import Arguments, Box, Layer, TileAxis, schedule
from schedules.cluster.conv2d import Conv2dKernel, multiplies_bytes
from schedules.kernel_cycles import call_cost
from schedules.packed_weights import padded
from tvm_pulp.qnn.block_diagonal import block_diagonal
from tvm_pulp.qnn.conv2d import Conv2dAttributes

# Windows that the cost of a call is asked for: as many as most layers have room for.
_WINDOWS = 8


def applies(layer: Layer) -> bool:
    """Several groups, 8-bit input, constant weights of eight bits."""
    return Conv2dAttributes.of(layer).groups > 1 and multiplies_bytes(layer)


@schedule("conv2d", applies)
class GroupedConv2dKernel(Conv2dKernel):
    label = "grouped convolution kernel"

    @property
    def outputs(self) -> int:
        """Of one group."""
        return self.layer.inputs[1].spec.shape[0] // int(Conv2dAttributes.of(self.layer).groups)

    def axes(self) -> tuple[TileAxis, ...]:
        at_once = self.outputs * self.groups_at_once
        return (TileAxis(1), TileAxis(3, at_once, limit=at_once), TileAxis(2), TileAxis(0, limit=1))

    @cached_property
    def groups_at_once(self) -> int:
        """More groups multiply more zeros and fewer of them make many calls of little work."""
        groups, (_, kernel_height, kernel_width, channels) = (
            Conv2dAttributes.of(self.layer).groups,
            self.layer.inputs[1].spec.shape,
        )
        picture = Box((0, 0, 0, 0), (1, *self.layer.outputs[0].spec.shape[1:]))
        common = self.common(Arguments(self, picture), picture)

        def cycles(count: int) -> float:
            depth = padded(kernel_height * kernel_width * channels * count)
            sizes = {"channels": channels * count, "out_channels": self.outputs * count, "depth_stride": depth}
            cost = call_cost(
                self.function,
                {**common, **sizes, "weight_offset": 0, "scratch_stride": _WINDOWS * depth + 4},
                self.costs,
            )
            # A step with commands for picture, constants and result.
            step = self.costs.executor.step + 3 * self.costs.executor.command + self.costs.barrier_cycles
            return -(-groups // count) * (cost.cycles + step)

        return min((count for count in (1, 2, 4, 8, 16) if count <= groups), key=cycles)

    def filters(self, box: Box) -> np.ndarray:
        return block_diagonal(super().filters(box), box.size[3] // self.outputs)
