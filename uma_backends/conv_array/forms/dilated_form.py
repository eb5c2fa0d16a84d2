"""3x3 convolutions with gaps between their taps: every phase of the picture is a job without gaps."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Local, Recipe
from tvm_pulp.window import InputSpan
from uma_backends.conv_array.arithmetic.requantization import MAX_PADDING, Padding
from uma_backends.conv_array.forms.array_form import ACTIVATION_SLACK
from uma_backends.conv_array.forms.basic_forms import Direct3x3Form, breaks_last_subtile


@dataclass(frozen=True)
class Phase:
    """Every n-th line of a tile: results, padded lines of the input before and after, its first line in memory."""

    first: int
    count: int
    before: int
    after: int
    source: int


def phases(results: int, gap: int, span: InputSpan) -> Iterator[Phase]:
    """The phases of so many results along one axis, whose window takes lines `gap` apart."""
    for first in range(min(gap, results)):
        count = -(-(results - first) // gap)
        lines = range(first, first + gap * (count + 2), gap)
        before = sum(line < span.before for line in lines)
        after = sum(line >= span.before + span.size for line in lines)
        yield Phase(first, count, before, after, first + gap * before - span.before)


@dataclass(frozen=True)
class DilatedForm(Direct3x3Form):
    """One job after the other: pointers and strides say which pixels are neighbours."""

    def recipe(self, box: Box) -> Recipe:
        (dh, dw), (height, width) = Conv2dAttributes.of(self.layer).dilation, box.size[1:3]
        before, source, rows, columns = self.picture(box, ACTIVATION_SLACK)
        channels_in = source.spec.shape[3]
        if self._padded_by_cores(box, rows, columns):
            source = self.pad(before, source, rows, columns, (height + 2 * dh, width + 2 * dw))
            rows, columns = InputSpan(0, height + 2 * dh, 0, 0), InputSpan(0, width + 2 * dw, 0, 0)
        raw = Local("raw", TensorSpec(box.size, self.raw_dtype))
        pixel = box.size[3] * self.arithmetic.output_bits // 8
        strides = {
            "input_pixel_stride": dw * channels_in,
            "input_row_stride": dh * columns.size * channels_in,
            "output_pixel_stride": dw * pixel,
            "output_row_stride": dh * width * pixel,
        }
        jobs, loads = [], None
        for down in phases(height, dh, rows):
            for across in phases(width, dw, columns):
                padding = Padding(down.before, down.after, across.before, across.after)
                job = self.array_job(down.count, across.count, channels_in, box.size[3], padding=padding, **strides)
                if loads is None:
                    loads, step = self.job_steps(job, box.start[3], source, raw)
                begin = (down.source * columns.size + across.source) * channels_in
                target = (down.first * width + across.first) * pixel
                description = step.description.behind(input=begin, output=target)
                jobs.append(self.context.step(replace(description, job=job)))
        assert loads is not None
        return self.arranged([*before, *loads, *jobs, *self.finish(raw, box)])

    def _padded_by_cores(self, box: Box, rows: InputSpan, columns: InputSpan) -> bool:
        """Tell if the array cannot pad: a border of another value, or one that it does wrongly."""
        if not any((rows.before, rows.after, columns.before, columns.after)):
            return False
        dh, dw = Conv2dAttributes.of(self.layer).dilation
        found = [(d, a) for d in phases(box.size[1], dh, rows) for a in phases(box.size[2], dw, columns)]
        return self.arithmetic.zero_point != 0 or any(
            max(d.before, d.after, a.before, a.after) > MAX_PADDING
            or min(d.count + 2 - d.before - d.after, a.count + 2 - a.before - a.after) < 1
            or breaks_last_subtile(self.context, d.count, a.count, (d.before, d.after, a.before, a.after))
            for d, a in found
        )
