"""Register image of a job: the 24 words a driver writes."""

from collections.abc import Sequence

from tvm_pulp.uma.conv_array.registers import OUTPUT_BEAT_BYTES, WORD_NAMES, Addresses, fields_in_words
from uma_backends.ne16.geometry import PATCH, Mode, input_subtile, output_subtile, remainder, subtiles
from uma_backends.ne16.job import ArrayJob
from uma_backends.ne16.packing import channel_bytes, group_channels

__all__ = ["WORD_NAMES", "Addresses", "register_image", "word_fields"]

LINEAR_WORD = 16
_SCALE_MODES = {8: 0, 16: 1, 32: 2}


def config_word(job: ArrayJob) -> int:
    """Return CONFIG0."""
    how = job.requantization
    word = (job.weight_bits - 1) | (job.input_bits == 16) << 3 | job.mode.value << 5 | job.strided << 8
    word |= job.stream_in << 14 | 1 << 15 | (0 if job.output_bits == 8 else 2) << 21
    if how is None:
        return word
    word |= 1 << 4 | _SCALE_MODES[how.scale_bits] << 12 | (0 if how.shift_vector else how.shift) << 16
    return word | (not how.relu) << 23 | how.shift_vector << 24 | how.bias << 25


def word_fields(job: ArrayJob, words: Sequence[int]) -> dict[str, str]:
    """Return the fields of configuration words by the name of the register; `words` are those of all registers."""
    features = ["16-bit inputs"] * (job.input_bits == 16) + ["stride 2"] * job.strided
    return fields_in_words(job, words, features)


def _weight_strides(job: ArrayJob) -> tuple[int, int, int]:
    """Bytes between planes (1x1: input groups), output channels and, in linear mode, output subtiles."""
    whole = channel_bytes(job.mode, job.input_channels, job.weight_bits, job.input_bits)
    plane = job.mode.taps * group_channels(job.input_bits) // 8
    if job.mode is Mode.LINEAR:
        return job.input_channels // 8, whole, output_subtile(job.mode) * whole
    if job.mode is Mode.POINTWISE:
        return plane * job.weight_bits, whole, 0
    return plane, 0 if job.mode is Mode.DEPTHWISE_3X3 else whole, 0


def register_image(job: ArrayJob, at: Addresses) -> tuple[int, ...]:
    """Return the words of job registers 0 to 23 in the order of `WORD_NAMES`."""
    pad, mask, halo, how = job.padding, job.filter_mask, job.mode.halo, job.requantization
    ko, linear = output_subtile(job.mode), job.mode is Mode.LINEAR
    height, width = job.computed_height, job.computed_width
    last_rows, last_columns = remainder(height, PATCH), remainder(width, PATCH)
    # A strided job has one subtile, whose border the array fills with the value itself.
    below, beside = (0, 0) if job.strided else (pad.bottom, pad.right)
    pixel, row = (LINEAR_WORD, 0) if linear else job.input_strides
    last_input = remainder(job.input_bytes, input_subtile(job.mode))
    output_pixel, output_row = (stride // (2 if job.strided else 1) for stride in job.output_strides)
    words = (
        at.weights,
        at.input - pad.top * row - pad.left * pixel,
        at.output,
        at.scale if how else 0,
        at.shift if how and how.shift_vector else 0,
        at.bias if how and how.bias else 0,
        pixel,
        row,
        0,
        OUTPUT_BEAT_BYTES,
        output_pixel,
        output_row,
        *_weight_strides(job),
        remainder(job.output_channels, ko) << 16 | (last_input // LINEAR_WORD if linear else last_input),
        last_rows << 16 | last_columns,
        (last_rows + halo - below) << 16 | (last_columns + halo - beside),
        subtiles(job.output_channels, ko) << 16 | subtiles(job.input_bytes, input_subtile(job.mode)),
        subtiles(height, PATCH) << 16 | subtiles(width, PATCH),
        pad.top << 28 | pad.right << 24 | pad.bottom << 20 | pad.left << 16 | (pad.value & 0xFFFF),
        job.weight_offset,
        mask.top << 24 | mask.right << 16 | mask.bottom << 8 | mask.left,
        config_word(job),
    )
    return tuple(word & 0xFFFF_FFFF for word in words)
