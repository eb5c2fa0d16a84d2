"""Closed cycle formulas of a job; exact with respect to the C model of this folder.

A job's subtiles come in two sizes per dimension (full and last), so its cost is a sum over few classes of subtiles.
Two revisions are those of the public simulator; the third one is what the public hardware sources took when simulated,
whose prefetch is an assumption (docs/fidelity.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, NamedTuple

from tvm_pulp.errors import UserError
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode
from uma_backends.neureka.job import NeurekaJob

# Cycles at the end of an RTL step, in which indices are updated.
RTL_UPDATE = 2
# Constants of the public model that changed in April 2026, and the phases of the public hardware sources.
EARLY, CURRENT, RTL = 202603, 202604, 0
REVISIONS = (EARLY, CURRENT, RTL)


@dataclass(frozen=True, slots=True)
class NeurekaTiming:
    """Knobs of the cycle model; names and defaults are those of the C model (beats in thousandths of a cycle)."""

    geometry: Geometry = SIRACUSA
    beat_w: int = 1000
    beat_x: int = 1000
    gvsoc_dw_wmem_quirk: bool = False
    timing_revision: int = CURRENT

    @staticmethod
    def of(parameters: Mapping[str, int]) -> "NeurekaTiming":
        """The knobs that a SoC's engine parameters state."""
        known = {f.name for kind in (NeurekaTiming, Geometry) for f in fields(kind)} - {"geometry"}
        for name in parameters:
            if name not in known:
                raise UserError(f"engine neureka has no parameter '{name}': it has {', '.join(sorted(known))}")
        revision = parameters.get("timing_revision", CURRENT)
        if revision not in REVISIONS:
            raise UserError(
                f"engine neureka: timing_revision is {revision}, choose {EARLY}, {CURRENT} or {RTL} for the RTL"
            )
        own: dict[str, Any] = {f.name: parameters[f.name] for f in fields(NeurekaTiming) if f.name in parameters}
        return NeurekaTiming(Geometry.of(parameters), **own)


DEFAULT_TIMING = NeurekaTiming()


def _loads(size: int, subtile: int, halo: int, padding: int) -> tuple[tuple[int, int], ...]:
    """Return (how many, loaded rows) of full and last subtiles; `padding` rows at the end are not loaded."""
    full, last = divmod(size - 1, subtile)
    end = (1, last + 1 + halo - padding)
    return ((full, subtile + halo), end) if full else (end,)


class _Phases(NamedTuple):
    """Cycles of a subtile of output channels: before, in and behind the weights of a step; around all its steps."""

    before: int
    weights: int
    behind: int
    frame: int


def _phases(job: NeurekaJob, timing: NeurekaTiming, channels: int, is_last: bool) -> _Phases:
    """The phases of `channels` of the output; in the simulator only the last subtile of them stops its scales early."""
    geometry, how, rtl = timing.geometry, job.requantization, timing.timing_revision == RTL
    early, pointwise = timing.timing_revision == EARLY, job.mode is Mode.POINTWISE
    depthwise, words = job.mode is Mode.DEPTHWISE_3X3, -(-channels // 8)
    beats = channels if pointwise else job.weight_bits
    per_channel = timing.gvsoc_dw_wmem_quirk and job.weight_memory and not rtl
    if job.mode is Mode.DENSE_3X3 or (depthwise and per_channel):
        beats *= channels
    if rtl:
        before, frame, scales = channels + 5 if depthwise else 6, 4, channels
        behind = (5 if depthwise else 6) - (beats <= 4) + RTL_UPDATE
        after_scales, biases, shifts = 7, words + 8, 8
    else:
        # Depthwise adds the weight offset one channel per cycle.
        before = 6 + geometry.channels_3x3 if depthwise else 6
        if pointwise:
            before = 10 if not job.prefetch else 7 if early else 3
        behind, frame = 8 if job.mode is Mode.DENSE_3X3 else 0, 3 if pointwise else 0
        scales = channels if is_last else geometry.output_channels
        after_scales, biases, shifts = 17, geometry.output_channels // 8, 1 if early else 8
    if job.stream_in:
        frame += geometry.pe_rows * geometry.pe_columns * words + 10
    if how is not None:
        frame += (-(-scales // 4) if how.scale_bits == 8 else scales) + after_scales
        frame += biases * how.bias + shifts * how.shift_vector
    return _Phases(before, -(-beats * timing.beat_w // 1000), behind, frame)


@lru_cache(maxsize=1 << 17)
def job_cycles(job: NeurekaJob, timing: NeurekaTiming = DEFAULT_TIMING) -> int:
    """Return the cycles of a job from TRIGGER to its event."""
    geometry, halo, rtl = timing.geometry, job.mode.halo, timing.timing_revision == RTL
    pointwise = job.mode is Mode.POINTWISE
    rows = _loads(job.output_height, geometry.pe_rows, halo, job.padding.bottom)
    columns = _loads(job.output_width, geometry.pe_columns, halo, job.padding.right)
    row_count, column_count = sum(count for count, _ in rows), sum(count for count, _ in columns)
    spatial = row_count * column_count
    # (how many spatial subtiles, pixels of them): 1x1 always scans the whole array, the RTL the whole window.
    windows = [(m * n, high * wide) for m, high in rows for n, wide in columns]
    if pointwise or rtl:
        windows = [(spatial, (geometry.pe_rows + halo) * (geometry.pe_columns + halo))]
    # The simulator drains the array behind the pixels of a 1x1.
    overhead = 5 if rtl else 12 if pointwise else 6
    loads = [(count, -(-pixels * timing.beat_x // 1000) + overhead) for count, pixels in windows]
    # Stream-out scans the array up to the last active element, in every subtile.
    scanned = geometry.pe_columns * column_count * (job.output_height - row_count) + row_count * job.output_width
    steps = 1 if job.mode is Mode.DEPTHWISE_3X3 else -(-job.input_channels // geometry.input_subtile(job.mode))
    subtile = geometry.output_subtile(job.mode)
    full, last = divmod(job.output_channels - 1, subtile)
    cycles = 3 if rtl else 1
    for count, channels, is_last in ((full, subtile, False), (1, last + 1, True)):
        if not count:
            continue
        phases = _phases(job, timing, channels, is_last)
        computed = phases.before + phases.weights + phases.behind
        total = spatial * phases.frame + scanned * (1 if job.output_bits == 8 else -(-channels // 8))
        if not job.prefetch:
            total += steps * sum(n * (load + computed) for n, load in loads)
        elif rtl:
            # The next load starts with the second half of a step's weights.
            waited = max(0, phases.weights // 2 + loads[0][1] - phases.weights - phases.behind + RTL_UPDATE)
            total += steps * spatial * (computed + waited)
        else:
            hidden = computed + 3
            total += steps * sum(n * (max(load, hidden) + phases.before) for n, load in loads)
            # The first step has nothing to hide, the last one nothing to hide behind.
            total += computed - phases.before - max(0, hidden - loads[0][1])
            total += 10 if pointwise and timing.timing_revision != EARLY else 0
        cycles += count * total
    # In the RTL they are the first and the last one of the job: it reads ahead across subtiles of channels too.
    return cycles + (loads[0][1] - waited if rtl and job.prefetch else 0)


def port_cycles(job: NeurekaJob, timing: NeurekaTiming = DEFAULT_TIMING) -> int:
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
