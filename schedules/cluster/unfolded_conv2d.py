"""Convolutions whose windows are laid out once for all cores: less L1 than windows for every core."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schedules.cluster import conv2d, dense
from schedules.cluster.base import SLACK, Arguments
from schedules.cluster.dense import DenseKernel
from schedules.cluster.steps import step_call
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis
from tvm_pulp.uma.windows import unfolding

# Bytes of a window from which on the windows of all cores are large beside a small L1.
_LARGE_WINDOW = 192
# The product takes this much longer than the model of the dense kernel says, relative to that of the convolution.
_SLOWER = 1.025


def applies(layer: Layer) -> bool:
    """Where the convolution kernel does, with large windows."""
    _, kernel_height, kernel_width, channels = layer.inputs[1].spec.shape
    large = kernel_height * kernel_width * channels >= _LARGE_WINDOW and kernel_height * kernel_width > 1
    return large and channels >= 4 and conv2d.applies(layer)


def applies_int16(layer: Layer) -> bool:
    """One group of 16-bit inputs."""
    return layer.attributes["groups"] == 1 and dense.multiplies_int16(layer)


@dataclass(frozen=True)
class UnfoldedConv2d(DenseKernel):
    name: str = "im2col + dense kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        x, (_, kernel_height, kernel_width, channels) = layer.inputs[0], layer.inputs[1].spec.shape
        rows, columns = conv2d.spans(layer, box)
        arguments = Arguments()
        source_box = Box((box.start[0], rows.start, columns.start, 0), (1, rows.size, columns.size, channels))
        source = arguments.load("x", x, source_box).operand
        # The product reads windows instead.
        arguments.reads.remove(source)
        depth = kernel_height * kernel_width * channels
        windows = Local("windows", TensorSpec((*box.size[:3], depth), x.spec.dtype), SLACK)
        arguments.reads.append(windows)
        copied = Kernel("im2col", unfolding(layer, rows, columns), (source,), (windows,))
        # Generated C where no kernel copies windows of 16-bit values.
        unfold = step_call(copied, self.costs) or copied
        steps = self.product(arguments, Pointer(windows), depth, box).steps
        position, product = next((i, step) for i, step in enumerate(steps) if isinstance(step, Call))
        cost = replace(product.cost, cycles=round(_SLOWER * product.cost.cycles))
        return Recipe((*steps[:position], unfold, replace(product, cost=cost), *steps[position + 1 :]))
