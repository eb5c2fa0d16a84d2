"""Matrix products, and 1x1 convolutions seen as such: rows folded into a space that fills the array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeVar

from uma_backends.neureka.geometry import Mode, subtiles
from uma_backends.neureka.job import ArrayJob
from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, Step

F = TypeVar("F", bound=Form)
Block = tuple[int, int]
"""Rows of the matrix as height x width of a job."""


@lru_cache(maxsize=1 << 14)
def factorise(rows: int, pe_rows: int, pe_columns: int) -> Block:
    """Return the exact factorisation with the fewest subtiles; the squarest of equals."""
    divisors = [size for size in range(1, rows + 1) if rows % size == 0]
    blocks = [(size, rows // size) for size in divisors]
    return min(
        blocks,
        key=lambda block: (subtiles(block[0], pe_rows) * subtiles(block[1], pe_columns), abs(block[0] - block[1])),
    )


@lru_cache(maxsize=1 << 14)
def foldings(rows: int, pe_rows: int, pe_columns: int) -> tuple[tuple[Block, ...], ...]:
    """Return the ways worth comparing: one exact block, or whole subtiles followed by one or two that hold the rest."""
    candidates: list[tuple[Block, ...]] = [(factorise(rows, pe_rows, pe_columns),)]
    whole, rest = divmod(rows, pe_rows * pe_columns)
    head: tuple[Block, ...] = ((whole * pe_rows, pe_columns),) if whole else ()
    if rest:
        fitting = {h * w: (h, w) for h in range(1, pe_rows + 1) for w in range(1, pe_columns + 1)}
        if rest in fitting:
            candidates.append((*head, fitting[rest]))
        else:
            first = max(size for size in fitting if size < rest and rest - size in fitting)
            candidates.append((*head, fitting[first], fitting[rest - first]))
            if whole:
                candidates.append((*head, factorise(rest, pe_rows, pe_columns)))
    return tuple(dict.fromkeys(candidates))


@dataclass(frozen=True)
class Gemm(Form):
    """A dense 1x1 convolution of stride 1: its pixels are the rows of a matrix and may be folded at will."""

    name: ClassVar[str] = "gemm"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> Gemm | None:
        """Apply to unpadded 1x1 convolutions of stride 1; take the cheapest folding."""
        if convolution.kernel != (1, 1) or convolution.stride != (1, 1) or convolution.depthwise:
            return None
        if convolution.has_padding:
            return None
        return fold(cls, convolution, costs, convolution.input_channels)


def fold(cls: type[F], convolution: Convolution, costs: Costs, depth: int) -> F:
    """Return the cheapest folding of a product of [output pixels x depth] with the weights."""
    geometry = costs.timing.geometry
    rows = convolution.output_height * convolution.output_width
    offers = (
        cls(convolution, costs, _steps(convolution, costs, depth, blocks))
        for blocks in foldings(rows, geometry.pe_rows, geometry.pe_columns)
    )
    return min(offers, key=lambda form: form.engine_cycles)


def _steps(convolution: Convolution, costs: Costs, depth: int, blocks: tuple[Block, ...]) -> tuple[Step, ...]:
    """Return one job per block, over consecutive rows of the matrix."""
    steps, row = [], 0
    for height, width in blocks:
        job = ArrayJob(
            Mode.POINTWISE,
            depth,
            convolution.output_channels,
            height,
            width,
            weight_bits=convolution.weight_bits,
            weight_offset=convolution.weight_offset,
            input_signed=convolution.input_signed,
            output_bits=convolution.output_bits,
            requantization=convolution.requantization,
            weight_memory=convolution.weight_memory,
            prefetch=costs.prefetch and convolution.weight_memory,
        )
        output_row = convolution.output_channels * job.output_bytes
        steps.append(Step(job, input_offset=row * depth, output_offset=row * output_row))
        row += height * width
    return tuple(steps)
