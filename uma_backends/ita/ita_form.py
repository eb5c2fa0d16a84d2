"""Parts that all forms of ITA share: panels of activations, packed weights, steps of the cores around a job."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tvm_pulp.planning.tiling.cost.core_step import core_step
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import Box, Call, Derived, Form, Job, Kernel, Load, Local, Refused, Step, Store
from uma_backends.ita.command import (
    BIAS_BY_COLUMN,
    BIAS_BY_ROW,
    NO_BIAS,
    PRODUCT,
    ItaCommand,
    Panel,
    panels_of,
    reads_of,
)
from uma_backends.ita.geometry import BIAS_BYTES, BIAS_OVERREAD, MOST_TILES, TILE, TILE_BYTES, UNUSED_TILES, tiles
from uma_backends.ita.linear_arithmetic import LinearArithmetic
from uma_backends.ita.packing import pack_biases, pad_matrix, tile_matrix
from uma_backends.ita.registers import Constants, RequantSlot
from uma_backends.ita.timing import START_CYCLES, product_cycles

ENGINE = "ita"


@dataclass(frozen=True)
class Operands:
    """A product of tiles: panels of both sides, and biases."""

    left: tuple[Panel, ...]
    right: tuple[Panel, ...]
    depth: int  # inner length that counts as the layer's
    bias: Local | None = None
    bias_kind: int = BIAS_BY_COLUMN
    # Bytes between the tiles of a panel: those of rows on the left side, of columns on the right one.
    left_stride: int = TILE_BYTES
    right_stride: int = TILE_BYTES
    # Panels behind those of the right side that are the same for all columns.
    shared: tuple[Panel, ...] = ()

    def of_column(self, column: int) -> tuple[Panel, ...]:
        """Panels of the right side for a tile of columns."""
        return (*shifted(self.right, column * self.right_stride), *self.shared)


@dataclass(frozen=True)
class ItaContext:
    """The compilation as forms see it."""

    costs: CostModel

    @property
    def l1_base(self) -> int:
        return self.costs.soc.memory.l1.base

    def on_cores(self, kernel: Kernel) -> Kernel | Call:
        """A step that the cores take over, with its cost."""
        return core_step(kernel, self.costs)

    def job(self, command: ItaCommand, writes: tuple[Local, ...], macs: int, cycles: int) -> Job:
        """A command as a step; its weights are among what it reads."""
        writes = tuple(dict.fromkeys(writes))
        reads = reads_of([p for p in command.panels if p.local not in writes], command.bias)
        queue = self.costs.job_queue(ENGINE)
        return Job(ENGINE, command, command.words, reads, writes, reads[0], macs, cycles, queue, runs=command.jobs)

    def product(
        self,
        sizes: tuple[int, int],
        arithmetic: Any,
        of: Operands,
        result: Sequence[Panel],
        results: int,
        bias_offset: int = 0,
    ) -> Job:
        """Tiles of rows by columns, as panels, of which so many results are wanted.

        `arithmetic` has a rule of requantization and an activation; its biases begin so many bytes later.
        """
        (rows, columns), inner = sizes, len(of.left)
        # The engine counts output tiles; how they lie it does not know. Where s is more than one, contexts do not
        # mislead attention behind this product, and the driver need not wait to clean them.
        outputs = (rows * columns, 1) if rows * columns <= MOST_TILES else (rows, columns)
        counts = (outputs[0], inner, outputs[1], UNUSED_TILES)
        constants = Constants(counts, {RequantSlot.Q: arithmetic.rule}, arithmetic.activation)
        panels, kind = (*of.left, *of.right, *of.shared, *result), NO_BIAS if of.bias is None else of.bias_kind
        sizes_and_panels = (rows, columns, inner, panels, self.l1_base, of.left_stride, of.right_stride)
        command = ItaCommand(PRODUCT, constants, *sizes_and_panels, of.bias, kind, bias_offset)
        cycles = product_cycles(rows, columns, inner, has_bias=of.bias is not None)
        return self.job(command, tuple(panel.local for panel in result), results * of.depth, cycles)


def row_runs(rows: int) -> Iterator[tuple[int, int, int]]:
    """Rows as the engine takes them at once: the first byte of a panel, tiles, rows that are computed."""
    for first in range(0, tiles(rows), MOST_TILES):
        count = min(MOST_TILES, tiles(rows) - first)
        yield first * TILE_BYTES, count, min(rows, (first + count) * TILE) - first * TILE


def shifted(panels: Sequence[Panel], offset: int) -> tuple[Panel, ...]:
    """Panels from so many bytes on."""
    return tuple(replace(panel, offset=panel.offset + offset) for panel in panels)


def native_or_digits(native: Callable[[], Form], by_digits: Callable[[], Form]) -> list[Form]:
    """The form by the engine's own requantization, else that by digits; refuses with both reasons."""
    try:
        return [native()]
    except Refused as first:
        reason = str(first)
    try:
        return [by_digits()]
    except Refused as second:
        raise Refused("; ".join(dict.fromkeys((reason, str(second))))) from None


def flattened(tensor: Tensor, columns: int = 0) -> Tensor:
    """A view of a tensor as rows: of its last axis, or of so many elements."""
    columns = columns or tensor.spec.shape[-1]
    view = TensorSpec((tensor.spec.elements // columns, columns), tensor.spec.dtype)
    return Tensor(f"{tensor.name}_rows", view, tensor.kind, view_of=tensor)


@dataclass(frozen=True)
class PackedWeights:
    """Constant weights and biases as the engine reads them: [column tile][inner tile][64][64], 192 bytes per 64."""

    name: str
    weights: np.ndarray  # int8 [out][in]
    bias: np.ndarray
    # Of names in L1, where a layer has several.
    suffix: str = ""

    @staticmethod
    def of_heads(name: str, made: LinearArithmetic, heads: int, filling: int = 0) -> "PackedWeights":
        """Every head from a tile of its own on; `filling` is the bias of what is padded."""
        depth, bias = made.weights.shape[1], made.bias.reshape(heads, -1)
        more = (0, -bias.shape[1] % TILE)
        weights = np.pad(made.weights.reshape(heads, -1, depth), ((0, 0), more, (0, 0))).reshape(-1, depth)
        biases = np.pad(bias, ((0, 0), more), constant_values=filling).reshape(-1)
        return PackedWeights(name, weights, biases)

    @property
    def inner(self) -> int:
        return tiles(self.weights.shape[1])

    @property
    def has_bias(self) -> bool:
        return bool(self.bias.any())

    @cached_property
    def tensor(self) -> Tensor:
        """All tiles, a row per 64 outputs."""
        tiled = tile_matrix(pad_matrix(spread(self.weights)))
        return Derived().constant(f"{self.name}_ita_weights", tiled.reshape(tiled.shape[0], -1))

    @cached_property
    def bias_tensor(self) -> Tensor:
        """All biases, a row per 64 outputs."""
        filled = np.pad(self.bias, (0, -len(self.bias) % TILE))
        return Derived().constant(f"{self.name}_ita_bias", pack_biases(filled).reshape(-1, BIAS_BYTES))

    def times(
        self, panels: tuple[Panel, ...], first: int, count: int, *, are_left: bool = False
    ) -> tuple[list[Step], Operands]:
        """Loads of some of the column tiles, and their product with panels: on the right side, or on the left one."""
        stride, depth = self.inner * TILE_BYTES, self.weights.shape[1]
        weights = Load.of(self.tensor, f"weights{first}{self.suffix}", Box((first, 0), (count, stride)))
        steps: list[Step] = [weights]
        bias = None
        if self.has_bias:
            place = Box((first, 0), (count, BIAS_BYTES))
            steps.append(biases := Load.of(self.bias_tensor, f"bias{first}{self.suffix}", place, BIAS_OVERREAD))
            bias = biases.local
        own = panels_of(weights.local, self.inner, TILE_BYTES)
        if are_left:
            return steps, Operands(own, panels, depth, bias, BIAS_BY_ROW, left_stride=stride)
        return steps, Operands(panels, own, depth, bias, right_stride=stride)


def spread(weights: np.ndarray) -> np.ndarray:
    """Columns where the panels of the input have them: an overlapping last panel finds zeros where it overlaps."""
    depth = weights.shape[1]
    if depth < TILE or depth % TILE == 0:
        return weights
    whole = depth // TILE * TILE
    last = np.zeros((weights.shape[0], TILE), weights.dtype)
    last[:, TILE - (depth - whole) :] = weights[:, whole:]
    return np.concatenate([weights[:, :whole], last], axis=1)


def arranged(steps: list[Any]) -> tuple[Step, ...]:
    """Loads first, stores last: one wait and one barrier serve them all. Only the first job finds the engine idle."""
    loads = [s for s in steps if isinstance(s, Load)]
    stores = [s for s in steps if isinstance(s, Store)]
    others = [s for s in steps if not isinstance(s, Load | Store)]
    first = next((i for i, s in enumerate(others) if isinstance(s, Job)), None)
    if first is not None:
        others[first] = replace(others[first], cycles=others[first].cycles + START_CYCLES)
    return (*loads, *others, *stores)
