"""Registers of a job that all such arrays have, in the same order, and their fields in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.uma.conv_array.base_job import BaseJob

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


def fields_in_words(job: BaseJob, words: Sequence[int], features: Sequence[str]) -> dict[str, str]:
    """The fields of configuration words by the name of the register; `features`: those that only some arrays have."""
    value, how, pad = dict(zip(WORD_NAMES, words, strict=True)), job.requantization, job.padding
    config = [job.mode.name.lower(), f"{job.weight_bits}-bit weights", f"{job.output_bits}-bit outputs", *features]
    config += ["adds to outputs"] * job.stream_in
    if how is not None:
        shift = "shifts of channels" if how.shift_vector else f"shift {how.shift}"
        config += [f"{how.scale_bits}-bit scales", shift, *["bias"] * how.bias, *["relu"] * how.relu]
    found = {name: f"{value[name] >> 16} {high}, {value[name] & 0xFFFF} {low}" for name, (high, low) in _HALVES.items()}
    sides = f"{pad.top} top, {pad.right} right, {pad.bottom} bottom, {pad.left} left, value {pad.value}"
    return {**found, "PADDING": sides, "CONFIG0": ", ".join(config)}
