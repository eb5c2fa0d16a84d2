"""Closed cycle formulas of a job; exact with respect to the C model of this folder.

A job's subtiles come in two sizes per dimension (full and last), so the cost is a sum over at most eight classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode
from uma_backends.neureka.job import Job

LOAD_OVERHEAD = 6
POINTWISE_DRAIN = 6
COMPUTE_OVERHEAD = {Mode.POINTWISE: 10, Mode.DENSE_3X3: 14}
PREFETCH_OVERHEAD = {Mode.POINTWISE: 3, Mode.DENSE_3X3: 6}


@dataclass(frozen=True, slots=True)
class Timing:
    """Knobs of the cycle model; names and defaults are those of the C model (beats in thousandths of a cycle)."""

    geometry: Geometry = SIRACUSA
    beat_w: int = 1000
    beat_x: int = 1000
    gvsoc_dw_wmem_quirk: bool = False


DEFAULT_TIMING = Timing()


@dataclass(frozen=True, slots=True)
class _Cost:
    """Costs that do not depend on the subtile."""

    timing: Timing
    mode: Mode
    weight_bits: int
    output_bits: int
    scale_bits: int
    bias: bool
    shift_vector: bool
    stream_in: bool
    weight_memory: bool

    def load(self, rows: int, columns: int) -> int:
        geometry = self.timing.geometry
        pointwise = self.mode is Mode.POINTWISE
        beats = geometry.pe_rows * geometry.pe_columns if pointwise else rows * columns
        return -(-beats * self.timing.beat_x // 1000) + (POINTWISE_DRAIN if pointwise else 0)

    def compute(self, ko: int) -> int:
        beats = self.weight_bits
        if self.mode is Mode.POINTWISE:
            beats = ko
        elif self.mode is Mode.DENSE_3X3 or (self.timing.gvsoc_dw_wmem_quirk and self.weight_memory):
            beats = self.weight_bits * ko
        return -(-beats * self.timing.beat_w // 1000)

    def frame(self, ko: int, last_ko: bool, rows: int, columns: int) -> int:
        """Stream-in, scale/bias/shift and stream-out around the input-channel loop."""
        geometry = self.timing.geometry
        words = (ko + 7) // 8
        cycles = geometry.pe_rows * geometry.pe_columns * words + 10 if self.stream_in else 0
        if self.scale_bits:
            scales = ko if last_ko else geometry.output_channels
            cycles += ((scales + 3) // 4 if self.scale_bits == 8 else scales) + 17
            cycles += geometry.output_channels // 8 if self.bias else 0
            cycles += 8 if self.shift_vector else 0
        beats = 1 if self.output_bits == 8 else words
        cycles += ((rows - 1) * geometry.pe_columns + columns) * beats
        return cycles + (3 if self.mode is Mode.POINTWISE else 0)


def _classes(size: int, subtile: int, halo: int, padding: int) -> list[tuple[int, int, int]]:
    """Return (how many, output size, loaded input size) of full and last subtiles."""
    full, last = divmod(size - 1, subtile)
    classes = [(1, last + 1, last + 1 + halo - padding)]
    if full:
        classes.insert(0, (full, subtile, subtile + halo))
    return classes


@lru_cache(maxsize=1 << 17)
def tile_cycles(
    mode: Mode,
    input_channels: int,
    output_channels: int,
    output_height: int,
    output_width: int,
    *,
    weight_bits: int = 8,
    output_bits: int = 8,
    scale_bits: int = 8,
    bias: bool = True,
    shift_vector: bool = False,
    stream_in: bool = False,
    weight_memory: bool = False,
    prefetch: bool = False,
    pad_bottom: int = 0,
    pad_right: int = 0,
    timing: Timing = DEFAULT_TIMING,
) -> int:
    """Return the cycles of one job from TRIGGER to its event. `scale_bits=0` means raw accumulators."""
    geometry = timing.geometry
    cost = _Cost(timing, mode, weight_bits, output_bits, scale_bits, bias, shift_vector, stream_in, weight_memory)
    rows = _classes(output_height, geometry.pe_rows, mode.halo, pad_bottom)
    columns = _classes(output_width, geometry.pe_columns, mode.halo, pad_right)
    channels = _classes(output_channels, geometry.output_subtile(mode), 0, 0)
    depthwise = mode is Mode.DEPTHWISE_3X3
    steps = 1 if depthwise else -(-input_channels // geometry.input_subtile(mode))
    # Depthwise adds the weight offset one channel per cycle.
    overhead = LOAD_OVERHEAD + (6 + geometry.channels_3x3 if depthwise else COMPUTE_OVERHEAD[mode])
    cycles = 1
    for index, (ko_count, ko, _) in enumerate(channels):
        last_ko = index == len(channels) - 1
        body = cost.compute(ko)
        hidden = 0
        if prefetch:
            body += 0 if mode is Mode.POINTWISE else 8
            hidden = PREFETCH_OVERHEAD[mode] + body
        per_ko = 0
        for row_count, out_rows, in_rows in rows:
            for column_count, out_columns, in_columns in columns:
                load = cost.load(in_rows, in_columns)
                if prefetch:
                    step = LOAD_OVERHEAD + load + max(0, hidden - (3 + load)) + PREFETCH_OVERHEAD[mode]
                else:
                    step = overhead + load + body
                per_ko += row_count * column_count * (steps * step + cost.frame(ko, last_ko, out_rows, out_columns))
        if prefetch:
            # The first step has nothing to hide, the last one nothing to hide behind.
            per_ko -= max(0, hidden - (3 + cost.load(rows[0][2], columns[0][2])))
            per_ko += body + (10 if mode is Mode.POINTWISE else 0)
        cycles += ko_count * per_ko
    return cycles


def job_cycles(job: Job, timing: Timing = DEFAULT_TIMING) -> int:
    """Return the cycles of a described job from TRIGGER to its event."""
    how = job.requantization
    return tile_cycles(
        job.mode,
        job.input_channels,
        job.output_channels,
        job.output_height,
        job.output_width,
        weight_bits=job.weight_bits,
        output_bits=job.output_bits,
        scale_bits=how.scale_bits if how else 0,
        bias=how.bias if how else False,
        shift_vector=how.shift_vector if how else False,
        stream_in=job.stream_in,
        weight_memory=job.weight_memory,
        prefetch=job.prefetch,
        pad_bottom=job.padding.bottom,
        pad_right=job.padding.right,
        timing=timing,
    )
