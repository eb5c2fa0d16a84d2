"""Register image of a job: the 24 words a driver writes."""

from collections.abc import Sequence

from tvm_pulp.uma.conv_array.registers import OUTPUT_BEAT_BYTES, WORD_NAMES, Addresses, fields_in_words
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, remainder, subtiles
from uma_backends.neureka.job import ArrayJob, check_on

__all__ = ["WEIGHT_MEMORY_BASE", "WORD_NAMES", "Addresses", "register_image", "word_fields"]

WEIGHT_MEMORY_BASE = 0x1040_0000


def weight_channel_stride(job: ArrayJob, geometry: Geometry = SIRACUSA) -> int:
    """Return the bytes between the packed filters of two output channels (depthwise: 0)."""
    groups = subtiles(job.input_channels, geometry.input_subtile(job.mode))
    planes = {Mode.POINTWISE: 1, Mode.DENSE_3X3: job.weight_bits, Mode.DEPTHWISE_3X3: 0}[job.mode]
    return geometry.weight_beat_bytes * planes * groups


def config_word(job: ArrayJob) -> int:
    """Return CONFIG0."""
    how = job.requantization
    word = (job.weight_bits - 1) | job.mode.value << 5 | job.weight_memory << 9 | job.prefetch << 10
    word |= job.stream_in << 14 | 1 << 15 | job.input_signed << 26
    word |= (0 if job.output_bits == 8 else 2) << 21
    if how is None:
        return word
    word |= 1 << 4 | (0 if how.scale_bits == 8 else 2) << 12 | how.shift << 16
    return word | (not how.relu) << 23 | how.shift_vector << 24 | how.bias << 25


def word_fields(job: ArrayJob, words: Sequence[int]) -> dict[str, str]:
    """Return the fields of configuration words by the name of the register; `words` are those of all registers."""
    features = ["signed inputs"] * job.input_signed + ["weight memory"] * job.weight_memory
    features += ["prefetch"] * job.prefetch
    return fields_in_words(job, words, features)


def register_image(job: ArrayJob, at: Addresses, geometry: Geometry = SIRACUSA) -> tuple[int, ...]:
    """Return the words of job registers 0 to 23 in the order of `WORD_NAMES`."""
    check_on(job, geometry)
    pad, halo, how = job.padding, job.mode.halo, job.requantization
    ki, ko = geometry.input_subtile(job.mode), geometry.output_subtile(job.mode)
    rows, columns = geometry.pe_rows, geometry.pe_columns
    last_rows, last_columns = remainder(job.output_height, rows), remainder(job.output_width, columns)
    pixel, row = job.input_strides
    output_pixel, output_row = job.output_strides
    words = (
        at.weights - WEIGHT_MEMORY_BASE if job.weight_memory else at.weights,
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
        geometry.weight_beat_bytes,
        weight_channel_stride(job, geometry),
        0,
        remainder(job.output_channels, ko) << 16 | remainder(job.input_channels, ki),
        last_rows << 16 | last_columns,
        (last_rows + halo - pad.bottom) << 16 | (last_columns + halo - pad.right),
        subtiles(job.output_channels, ko) << 16 | subtiles(job.input_channels, ki),
        subtiles(job.output_height, rows) << 16 | subtiles(job.output_width, columns),
        pad.top << 28 | pad.right << 24 | pad.bottom << 20 | pad.left << 16 | (pad.value & 0xFF),
        job.weight_offset,
        0,
        config_word(job),
    )
    return tuple(word & 0xFFFF_FFFF for word in words)
