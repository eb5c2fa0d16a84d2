"""Closed cycle formulas of a job; exact with respect to the C model of this folder.

A job's subtiles come in two sizes per dimension (full and last), so its cost is a sum over few classes of subtiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from tvm_pulp.errors import UserError
from uma_backends.ne16.geometry import (
    INPUT_BYTES,
    OUTPUT_CHANNELS,
    PATCH,
    Mode,
    input_subtile,
    output_subtile,
    remainder,
    subtiles,
)
from uma_backends.ne16.job import Ne16Job

LOAD_OVERHEAD = 6
# Around the weight beats of a step.
COMPUTE_OVERHEAD = {Mode.DENSE_3X3: 12, Mode.DEPTHWISE_3X3: 22, Mode.POINTWISE: 16, Mode.LINEAR: 16}
BIAS_BEATS = 4


@dataclass(frozen=True, slots=True)
class Ne16Timing:
    """Knobs of the cycle model; names and defaults are those of the C model."""

    # 1: whole windows and patches at borders too, as in the public hardware sources.
    whole_windows: int = 0
    # 1: stores wait for banks of L1, by addresses, which plans do not know yet: estimates leave that out (0 to 14 %).
    bank_waits: int = 0

    @staticmethod
    def of(parameters: Mapping[str, int]) -> "Ne16Timing":
        """The knobs that a SoC's engine parameters state."""
        known = [f.name for f in fields(Ne16Timing)]
        for name, value in parameters.items():
            if name not in known:
                raise UserError(f"engine ne16 has no parameter '{name}': it has {', '.join(known)}")
            if value not in (0, 1):
                raise UserError(f"engine ne16: {name} is {value}, choose 0 or 1")
        return Ne16Timing(**parameters)


DEFAULT_TIMING = Ne16Timing()


def _sizes(size: int, subtile: int) -> list[tuple[int, int, bool]]:
    """(how many, size, is the last one) of subtiles."""
    full, last = (size - 1) // subtile, (1, remainder(size, subtile), True)
    return [(full, subtile, False), last] if full else [last]


@lru_cache(maxsize=1 << 17)
def job_cycles(job: Ne16Job, timing: Ne16Timing = DEFAULT_TIMING) -> int:
    """Return the cycles of a job from TRIGGER to its event."""
    mode, pad, linear = job.mode, job.padding, job.mode is Mode.LINEAR
    whole = bool(timing.whole_windows) and not linear
    steps = 1 if mode is Mode.DEPTHWISE_3X3 else subtiles(job.input_bytes, input_subtile(mode))
    below, beside = (0, 0) if job.strided else (pad.bottom, pad.right)
    window = PATCH + mode.halo
    cycles = 1
    for ko_count, k, is_last in _sizes(job.output_channels, output_subtile(mode)):
        beats = k if mode is Mode.POINTWISE else job.weight_bits * k
        step = LOAD_OVERHEAD + COMPUTE_OVERHEAD[mode] + beats
        frame = _frame_cycles(job, k, is_last)
        per_pixel = 1 if job.output_bits == 8 else -(-k // 8)
        for rows, ho, last_row in _sizes(job.computed_height, PATCH):
            for columns, wo, last_column in _sizes(job.computed_width, PATCH):
                hi = ho + mode.halo - below if last_row and not whole else window
                wi = wo + mode.halo - beside if last_column and not whole else window
                load = PATCH * PATCH if mode is Mode.POINTWISE else hi * wi
                loads = job.input_channels // INPUT_BYTES if linear else steps * load
                height, width = (PATCH, PATCH) if whole else (ho, wo)
                out = ((height - 1) * PATCH + width) * per_pixel
                if mode is Mode.POINTWISE:
                    out += max(0, 10 - height * width * job.output_bytes) - 1
                cycles += ko_count * rows * columns * (loads + steps * step + frame + out)
    return cycles


def _frame_cycles(job: Ne16Job, k: int, is_last: bool) -> int:
    """Stream-in, scale, shift and bias of a subtile; only the last subtile of channels stops its scales early."""
    how = job.requantization
    cycles = PATCH * PATCH * -(-k // 8) if job.stream_in else 0
    if how is None:
        return cycles
    scales = -(-(k if is_last else OUTPUT_CHANNELS) * how.scale_bits // 32)
    return cycles + scales + how.shift_vector + (BIAS_BEATS if how.bias else 0)
