"""3x3 convolutions of stride 2 in patches of 2x2 outputs, a job each.

Four of nine columns of the array work, where computing at stride 1 and discarding keeps a quarter of what all of them
make; the cores have nothing to lay out or to drop.
"""

from dataclasses import dataclass, replace

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Local, Recipe, TileAxis
from uma_backends.conv_array import ACTIVATION_SLACK, ArrayContext, ArrayForm, channel_axis
from uma_backends.conv_array.arithmetic.layer_arithmetic import Arithmetic
from uma_backends.conv_array.arithmetic.requantization import MAX_PADDING, Padding
from uma_backends.ne16.geometry import INPUT_BYTES, Mode
from uma_backends.ne16.job import LEAST_STRIDED, Patch, patches

# More of them are more descriptors and waits of core 0 than the array's time is worth.
_MOST_JOBS = 64


@dataclass(frozen=True)
class PatchesForm(ArrayForm):
    """One job after the other, all input and output channels in each."""

    def axes(self) -> tuple[TileAxis, ...]:
        depthwise = self.mode is Mode.DEPTHWISE_3X3
        channels = TileAxis(3, INPUT_BYTES) if depthwise else channel_axis(self, 3)
        # A last piece of two rows above a border would be too small for the strided mode.
        _, height, _, _ = self.layer.outputs[0].spec.shape
        rows = [TileAxis(1, 4)] if height % 4 == 0 else []
        return (*rows, channels, TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        before, source, rows, columns = self.picture(box, ACTIVATION_SLACK)
        taken = source.spec.shape[3]
        raw = Local("raw", TensorSpec(box.size, self.raw_dtype))
        whole = self.array_job(box.size[1], box.size[2], taken, box.size[3], input_row_stride=columns.size * taken)
        padding = Padding(rows.before, rows.after, columns.before, columns.after, self.arithmetic.zero_point)
        found = patches(replace(whole, padding=padding), rows.size, columns.size)
        loads, step = self.job_steps(found[0].job, box.start[3], source, raw)
        jobs = []
        for patch in found:
            begin, end = _begins(patch, padding)
            description = step.description.behind(input=begin, output=end)
            jobs.append(self.context.step(replace(description, job=patch.job)))
        return self.arranged([*before, *loads, *jobs, *self.finish(raw, box)])


def _begins(patch: Patch, padding: Padding) -> tuple[int, int]:
    """Bytes from the beginning of input and output to what a patch takes; its own padding is in its registers."""
    (pixel, row), (output_pixel, output_row) = patch.job.input_strides, patch.job.output_strides
    top, left = padding.top - patch.job.padding.top, padding.left - patch.job.padding.left
    source = (2 * patch.row - top) * row + (2 * patch.column - left) * pixel
    return source, patch.row * output_row + patch.column * output_pixel


def patches_forms(layer: Layer, arithmetic: Arithmetic, context: ArrayContext) -> list[PatchesForm]:
    """The form, where the array's strided mode takes the layer and requantizes it.

    Core 0 waits for all jobs but two, which cores that finish results have no time for.
    """
    a, (_, kh, kw, per_group) = Conv2dAttributes.of(layer), layer.inputs[1].spec.shape
    (_, height, width, _), (_, rows, columns, channels) = layer.inputs[0].spec.shape, layer.outputs[0].spec.shape
    if (kh, kw, *a.strides, *a.dilation) != (3, 3, 2, 2, 1, 1) or max(a.pads) > MAX_PADDING:
        return []
    # Groups are channels of their own here, or there is one.
    if a.groups > 1 and (per_group != 1 or a.groups != layer.outputs[0].spec.shape[3]):
        return []
    few = -(-rows // 2) * -(-columns // 2) <= _MOST_JOBS
    if min(height, width) < LEAST_STRIDED or min(rows, columns) < 2 or not few:
        return []
    if channels % 2 or not arithmetic.native:
        return []
    mode = Mode.DEPTHWISE_3X3 if a.groups > 1 else Mode.DENSE_3X3
    name = "3x3 depthwise in patches of stride 2" if a.groups > 1 else "3x3 in patches of stride 2"
    return [PatchesForm(layer, context, name, arithmetic, mode)]
