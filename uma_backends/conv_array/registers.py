"""Registers of a job that all such arrays have, in the same order, and their fields in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from uma_backends.conv_array.base_job import BaseJob
from uma_backends.conv_array.modes import remainder, subtiles

WORD_NAMES = (
    "WEIGHTS_PTR", "INFEAT_PTR", "OUTFEAT_PTR", "SCALE_PTR", "SCALE_SHIFT_PTR", "SCALE_BIAS_PTR",
    "INFEAT_D0", "INFEAT_D1", "INFEAT_D2", "OUTFEAT_D0", "OUTFEAT_D1", "OUTFEAT_D2",
    "WEIGHTS_D0", "WEIGHTS_D1", "WEIGHTS_D2", "SUBTILE_REM0", "SUBTILE_REM1", "SUBTILE_REM2",
    "SUBTILE_NB0", "SUBTILE_NB1", "PADDING", "WEIGHT_OFFSET", "FILTER_MASK", "CONFIG0",
)  # fmt: skip
OUTPUT_BEAT_BYTES = 32
# Upper and lower half of registers that count.
_HALVES = {
    "SUBTILE_REM0": ("output channels", "input channels"),
    "SUBTILE_REM1": ("output rows", "output columns"),
    "SUBTILE_REM2": ("input rows", "input columns"),
    "SUBTILE_NB0": ("output channel tiles", "input channel tiles"),
    "SUBTILE_NB1": ("row tiles", "column tiles"),
}


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of the operands of a job, as the CPU sees them."""

    input: int
    output: int
    weights: int
    scale: int = 0
    bias: int = 0
    shift: int = 0


_SCALE_MODES = {8: 0, 16: 1, 32: 2}


def config_word(job: BaseJob) -> int:
    """Return CONFIG0."""
    how = job.requantization
    word = (job.weight_bits - 1) | job.mode.value << 5 | job.stream_in << 14 | 1 << 15
    word |= (0 if job.output_bits == 8 else 2) << 21 | sum(1 << bit for bit in job.features)
    if how is None:
        return word
    word |= 1 << 4 | _SCALE_MODES[how.scale_bits] << 12 | (0 if how.shift_vector else how.shift) << 16
    return word | (not how.relu) << 23 | how.shift_vector << 24 | how.bias << 25


def register_words(
    job: BaseJob,
    at: Addresses,
    sizes: tuple[int, int, int, int],
    weight_strides: tuple[int, int, int],
    mask: int = 0,
    word_bytes: int = 0,
) -> tuple[int, ...]:
    """Return the words of job registers 0 to 23 in the order of `WORD_NAMES`; `sizes`: of subtiles, as `job.extents`.

    With `word_bytes` the input is one row, of words of as many bytes, which are what is counted.
    """
    pad, halo, how, step = job.padding, job.mode.halo, job.requantization, job.output_step
    pixel, row = (word_bytes, 0) if word_bytes else job.input_strides
    output_pixel, output_row = (stride // step for stride in job.output_strides)
    inputs, outputs, rows, columns = (remainder(e, size) for e, size in zip(job.extents, sizes, strict=True))
    counts = [subtiles(extent, size) for extent, size in zip(job.extents, sizes, strict=True)]
    # A strided job has one subtile, whose border the array fills with the value itself.
    below, beside = (0, 0) if step > 1 else (pad.bottom, pad.right)
    value_bits = 8 * job.input_bytes // job.input_channels
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
        *weight_strides,
        outputs << 16 | inputs // (word_bytes or 1),
        rows << 16 | columns,
        (rows + halo - below) << 16 | (columns + halo - beside),
        counts[1] << 16 | counts[0],
        counts[2] << 16 | counts[3],
        pad.top << 28 | pad.right << 24 | pad.bottom << 20 | pad.left << 16 | (pad.value & ((1 << value_bits) - 1)),
        job.weight_offset,
        mask,
        config_word(job),
    )
    return tuple(word & 0xFFFF_FFFF for word in words)


def word_fields(job: BaseJob, words: Sequence[int]) -> dict[str, str]:
    """The fields of configuration words by the name of the register; `words` are those of all registers."""
    value, how, pad = dict(zip(WORD_NAMES, words, strict=True)), job.requantization, job.padding
    config = [job.mode.name.lower(), f"{job.weight_bits}-bit weights", f"{job.output_bits}-bit outputs"]
    config += job.features.values()
    config += ["adds to outputs"] * job.stream_in
    if how is not None:
        shift = "shifts of channels" if how.shift_vector else f"shift {how.shift}"
        config += [f"{how.scale_bits}-bit scales", shift, *["bias"] * how.bias, *["relu"] * how.relu]
    found = {name: f"{value[name] >> 16} {high}, {value[name] & 0xFFFF} {low}" for name, (high, low) in _HALVES.items()}
    sides = f"{pad.top} top, {pad.right} right, {pad.bottom} bottom, {pad.left} left, value {pad.value}"
    return {**found, "PADDING": sides, "CONFIG0": ", ".join(config)}
