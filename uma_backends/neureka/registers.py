"""Register image of a job: the 24 words a driver writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, remainder, subtiles
from uma_backends.neureka.job import ArrayJob, check_on

WEIGHT_MEMORY_BASE = 0x1040_0000
WORD_NAMES = (
    "WEIGHTS_PTR", "INFEAT_PTR", "OUTFEAT_PTR", "SCALE_PTR", "SCALE_SHIFT_PTR", "SCALE_BIAS_PTR",
    "INFEAT_D0", "INFEAT_D1", "INFEAT_D2", "OUTFEAT_D0", "OUTFEAT_D1", "OUTFEAT_D2",
    "WEIGHTS_D0", "WEIGHTS_D1", "WEIGHTS_D2", "SUBTILE_REM0", "SUBTILE_REM1", "SUBTILE_REM2",
    "SUBTILE_NB0", "SUBTILE_NB1", "PADDING", "WEIGHT_OFFSET", "FILTER_MASK", "CONFIG0",
)  # fmt: skip
OUTPUT_BEAT_BYTES = 32


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of the operands of a job, as the CPU sees them."""

    input: int
    output: int
    weights: int
    scale: int = 0
    bias: int = 0
    shift: int = 0


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
    value, how, pad = dict(zip(WORD_NAMES, words, strict=True)), job.requantization, job.padding
    config = [job.mode.name.lower(), f"{job.weight_bits}-bit weights", f"{job.output_bits}-bit outputs"]
    config += ["signed inputs"] * job.input_signed + ["weight memory"] * job.weight_memory
    config += ["prefetch"] * job.prefetch + ["adds to outputs"] * job.stream_in
    if how is not None:
        shift = "shifts of channels" if how.shift_vector else f"shift {how.shift}"
        config += [f"{how.scale_bits}-bit scales", shift, *["bias"] * how.bias, *["relu"] * how.relu]
    halves = {
        "SUBTILE_REM0": ("output channels", "input channels"),
        "SUBTILE_REM1": ("output rows", "output columns"),
        "SUBTILE_REM2": ("input rows", "input columns"),
        "SUBTILE_NB0": ("output channel tiles", "input channel tiles"),
        "SUBTILE_NB1": ("row tiles", "column tiles"),
    }
    found = {name: f"{value[name] >> 16} {high}, {value[name] & 0xFFFF} {low}" for name, (high, low) in halves.items()}
    sides = f"{pad.top} top, {pad.right} right, {pad.bottom} bottom, {pad.left} left, value {pad.value}"
    return {**found, "PADDING": sides, "CONFIG0": ", ".join(config)}


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
