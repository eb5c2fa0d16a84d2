"""One row by a matrix as a job of a single pixel; results are cut along channels."""

from dataclasses import dataclass

from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Local, Recipe, TileAxis
from uma_backends.conv_array.forms.array_form import ACTIVATION_SLACK, ArrayForm
from uma_backends.conv_array.forms.basic_forms import channel_axis


@dataclass(frozen=True)
class RowForm(ArrayForm):
    """How the row is packed is the engine's own business: it says how many channels the pixel has then."""

    @property
    def pixel_channels(self) -> int:
        """Channels of the pixel that the row becomes."""
        raise NotImplementedError

    def axes(self) -> tuple[TileAxis, ...]:
        return (channel_axis(self, len(self.layer.outputs[0].spec.shape) - 1),)

    def recipe(self, box: Box) -> Recipe:
        before, source = self.source(Box.whole(self.layer.inputs[0].spec.shape), ACTIVATION_SLACK)
        raw = Local("raw", TensorSpec(box.size, self.raw_dtype))
        job = self.array_job(1, 1, self.pixel_channels, box.size[-1])
        loads, step = self.job_steps(job, box.start[-1], source, raw)
        return self.assemble([*before, *loads], step, raw, box)
