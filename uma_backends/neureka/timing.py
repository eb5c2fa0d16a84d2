"""Closed cycle formulas of a job; exact with respect to the C model of this folder.

A job's subtiles come in two sizes per dimension (full and last), so its cost is a sum over few classes of subtiles.
Two revisions are those of the public simulator; the third one is what the public hardware sources took when simulated,
whose prefetch is an assumption (docs/fidelity.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from tvm_pulp.errors import UserError
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode
from uma_backends.neureka.job import ArrayJob

LOAD_OVERHEAD = 6
POINTWISE_DRAIN = 6
COMPUTE_OVERHEAD = {Mode.POINTWISE: 10, Mode.DENSE_3X3: 14}
PREFETCH_OVERHEAD = {Mode.POINTWISE: 3, Mode.DENSE_3X3: 6}
# Constants of the public model that changed in April 2026, and the phases of the public hardware sources.
EARLY, CURRENT, RTL = 202603, 202604, 0
REVISIONS = (EARLY, CURRENT, RTL)


@dataclass(frozen=True, slots=True)
class Timing:
    """Knobs of the cycle model; names and defaults are those of the C model (beats in thousandths of a cycle)."""

    geometry: Geometry = SIRACUSA
    beat_w: int = 1000
    beat_x: int = 1000
    gvsoc_dw_wmem_quirk: bool = False
    timing_revision: int = CURRENT

    @staticmethod
    def of(parameters: Mapping[str, int]) -> "Timing":
        """The knobs that a SoC's engine parameters state."""
        known = {f.name for kind in (Timing, Geometry) for f in fields(kind)} - {"geometry"}
        for name in parameters:
            if name not in known:
                raise UserError(f"engine neureka has no parameter '{name}': it has {', '.join(sorted(known))}")
        revision = parameters.get("timing_revision", CURRENT)
        if revision not in REVISIONS:
            raise UserError(
                f"engine neureka: timing_revision is {revision}, choose {EARLY}, {CURRENT} or {RTL} for the RTL"
            )
        own: dict[str, Any] = {f.name: parameters[f.name] for f in fields(Timing) if f.name in parameters}
        return Timing(Geometry.of(parameters), **own)


DEFAULT_TIMING = Timing()


def _loads(size: int, subtile: int, halo: int, padding: int) -> tuple[tuple[int, int], ...]:
    """Return (how many, loaded rows) of full and last subtiles; `padding` rows at the end are not loaded."""
    full, last = divmod(size - 1, subtile)
    end = (1, last + 1 + halo - padding)
    return ((full, subtile + halo), end) if full else (end,)


# Per job and, in its output phase, per subtile: a job of n subtiles has 4 + n - 1 cycles of control.
RTL_JOB, RTL_OUTPUT, RTL_UPDATE = 3, 4, 2


@dataclass(frozen=True, slots=True)
class _RtlPhases:
    """The phases of the public hardware sources, which always load the whole window."""

    mode: Mode
    weight_bits: int
    output_bits: int
    scale_bits: int
    bias: bool
    shift_vector: bool
    stream_in: bool
    prefetch: bool
    timing: Timing

    @property
    def load(self) -> int:
        g, halo = self.timing.geometry, self.mode.halo
        return -(-(g.pe_rows + halo) * (g.pe_columns + halo) * self.timing.beat_x // 1000) + 5

    def _weights(self, channels: int) -> tuple[int, int]:
        """Cycles of the weight beats of a step, and of those behind them."""
        beats = {Mode.POINTWISE: channels, Mode.DENSE_3X3: self.weight_bits * channels}.get(self.mode, self.weight_bits)
        drain = (5 if self.mode is Mode.DEPTHWISE_3X3 else 6) - (beats <= 4)
        return -(-beats * self.timing.beat_w // 1000), drain

    def exposed(self, channels: int) -> int:
        """With prefetch, what a step waits for the next load, which starts with the second half of its weights."""
        weights, drain = self._weights(channels)
        return max(0, weights // 2 + self.load - weights - drain)

    def output_subtile(self, channels: int, spatial: int, scanned: int, steps: int) -> int:
        """Cycles of one subtile of output channels over all pixels; `scanned` elements stream out."""
        g, words = self.timing.geometry, -(-channels // 8)
        step = sum(self._weights(channels)) + RTL_UPDATE + (channels + 5 if self.mode is Mode.DEPTHWISE_3X3 else 6)
        step += self.exposed(channels) if self.prefetch else self.load
        frame = RTL_OUTPUT + (g.pe_rows * g.pe_columns * words + 10 if self.stream_in else 0)
        if self.scale_bits:
            frame += (-(-channels // 4) if self.scale_bits == 8 else channels) + 7
            frame += (words + 8 if self.bias else 0) + (8 if self.shift_vector else 0)
        return spatial * (steps * step + frame) + scanned * (1 if self.output_bits == 8 else words)


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
    pointwise, depthwise = mode is Mode.POINTWISE, mode is Mode.DEPTHWISE_3X3
    early, rtl = timing.timing_revision == EARLY, timing.timing_revision == RTL
    array = geometry.pe_rows * geometry.pe_columns
    rows = _loads(output_height, geometry.pe_rows, mode.halo, pad_bottom)
    columns = _loads(output_width, geometry.pe_columns, mode.halo, pad_right)
    row_count, column_count = sum(count for count, _ in rows), sum(count for count, _ in columns)
    spatial = row_count * column_count
    # (how many spatial subtiles, cycles of their activation stream); 1x1 always scans and drains the whole array.
    if pointwise:
        loads = [(spatial, -(-array * timing.beat_x // 1000) + POINTWISE_DRAIN)]
    else:
        loads = [(m * n, -(-hi * wi * timing.beat_x // 1000)) for m, hi in rows for n, wi in columns]
    # Stream-out scans the array up to the last active element, in every subtile.
    scanned = geometry.pe_columns * column_count * (output_height - row_count) + row_count * output_width
    steps = 1 if depthwise else -(-input_channels // geometry.input_subtile(mode))
    subtile = geometry.output_subtile(mode)
    full, last = divmod(output_channels - 1, subtile)
    if rtl:
        how = _RtlPhases(mode, weight_bits, output_bits, scale_bits, bias, shift_vector, stream_in, prefetch, timing)
        total = how.output_subtile(last + 1, spatial, scanned, steps)
        total += full * how.output_subtile(subtile, spatial, scanned, steps) if full else 0
        return RTL_JOB + total + (how.load - how.exposed(last + 1) if prefetch else 0)
    # Depthwise adds the weight offset one channel per cycle.
    overhead = LOAD_OVERHEAD + (6 + geometry.channels_3x3 if depthwise else COMPUTE_OVERHEAD[mode])
    cycles = 1
    for ko_count, ko, scales in ((full, subtile, geometry.output_channels), (1, last + 1, last + 1)):
        if not ko_count:
            continue
        words = (ko + 7) // 8
        beats = ko if pointwise else weight_bits
        if mode is Mode.DENSE_3X3 or (depthwise and weight_memory and timing.gvsoc_dw_wmem_quirk):
            beats *= ko
        compute = -(-beats * timing.beat_w // 1000)
        # Once per spatial subtile: stream-in, scale, bias and shift.
        frame = (array * words + 10 if stream_in else 0) + (3 if pointwise else 0)
        if scale_bits:
            frame += ((scales + 3) // 4 if scale_bits == 8 else scales) + 17
            frame += (geometry.output_channels // 8 if bias else 0) + ((1 if early else 8) if shift_vector else 0)
        per_ko = spatial * frame + scanned * (1 if output_bits == 8 else words)
        if not prefetch:
            per_ko += steps * sum(count * (overhead + load + compute) for count, load in loads)
        else:
            before = 7 if early and pointwise else PREFETCH_OVERHEAD[mode]
            body = compute + (0 if pointwise else 8)
            hidden = before + body - 3
            per_ko += steps * sum(count * (LOAD_OVERHEAD + max(load, hidden) + before) for count, load in loads)
            # The first step has nothing to hide, the last one nothing to hide behind.
            per_ko += body + (10 if pointwise and not early else 0) - max(0, hidden - loads[0][1])
        cycles += ko_count * per_ko
    return cycles


def port_cycles(job: ArrayJob, timing: Timing = DEFAULT_TIMING) -> int:
    """Return the cycles in which a job uses its port to L1: windows, weights that lie there, parameters and results."""
    g, how, depthwise = timing.geometry, job.requantization, job.mode is Mode.DEPTHWISE_3X3
    subtile, halo = g.output_subtile(job.mode), job.mode.halo
    rows, columns = -(-job.output_height // g.pe_rows), -(-job.output_width // g.pe_columns)
    # Every subtile of pixels is loaded once per subtile of channels in and out, with the halo beside it.
    window = (job.output_height + rows * halo) * (job.output_width + columns * halo)
    window = window // 2 if job.prefetch else window  # of those loaded ahead about every second one is waited for
    steps = 1 if depthwise else -(-job.input_channels // g.input_subtile(job.mode))
    outer, words = -(-job.output_channels // subtile), -(-min(subtile, job.output_channels) // 8)
    beats = {Mode.POINTWISE: 1, Mode.DENSE_3X3: job.weight_bits}.get(job.mode, 0) * job.output_channels
    beats += outer * job.weight_bits if depthwise else 0
    parameters = (how.scale_bits // 32 or 0.25) + (1 / 8 if how.bias else 0) if how else 0
    per_pixel = outer * (1 if job.output_bits == 8 else words) * (2 if job.stream_in else 1)
    results = per_pixel * job.output_height * job.output_width
    weights = 0 if job.weight_memory else rows * columns * steps * beats
    loaded = window * steps * outer * timing.beat_x // 1000 + weights * timing.beat_w // 1000
    return loaded + round(rows * columns * job.output_channels * parameters) + results


def job_cycles(job: ArrayJob, timing: Timing = DEFAULT_TIMING) -> int:
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
