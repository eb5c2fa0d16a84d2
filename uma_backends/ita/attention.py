"""Attention on ITA: logits, softmax and values of a head as one command; with projections before it.

The softmax never leaves the engine: a row of tiles of logits is written to L1 and normalized when it is read again.
"""

from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import EXACT, Box, Form, Local, Recipe, Step, TileAxis
from uma_backends.ita.attention_parts import AttentionParts, AttentionRules, Heads, attention_of, rules_of
from uma_backends.ita.command import ATTENTION, ItaCommand, Panel, panels_of
from uma_backends.ita.geometry import TILE, TILE_BYTES, UNUSED_TILES, padded, tiles
from uma_backends.ita.ita_form import ENGINE, ItaContext, PackedWeights, arranged, flattened
from uma_backends.ita.panels import load_panels, load_transposed, panel_local, store_panels
from uma_backends.ita.registers import Constants, RequantSlot
from uma_backends.ita.requantization import silent_bias
from uma_backends.ita.timing import attention_cycles, product_cycles


def attention_strategy(region: Layer, context: ItaContext) -> list[Form]:
    """Head by head: softmax of form `octave`, 960 keys at most in whole tiles of 64, multipliers of 8 bits, no mask."""
    parts = attention_of(region)
    inside = f" with projections of {', '.join(parts.projections)}" if parts.projections else ""
    return [HeadTileForm(region, parts, rules_of(region), context, f"attention{inside}")]


@dataclass(frozen=True)
class HeadTileForm:
    """One head per tile."""

    layer: Layer
    parts: AttentionParts
    rules: AttentionRules
    context: ItaContext
    name: str
    engine: str = ENGINE
    rounding = EXACT

    @cached_property
    def _packed(self) -> dict[str, PackedWeights]:
        """Weights of projections. Padding of queries and keys has to be zero; that of values does not matter."""
        return {
            name: PackedWeights.of_heads(
                f"{self.layer.name}_{name}", made, self.parts.sizes[0], silent_bias(made.rule) or 0
            )
            for name, made in self.rules.projections.items()
        }

    @property
    def _axes(self) -> tuple[int, int]:
        """Axes of the result that are heads and queries."""
        return (2, 1) if self.parts.out.beside else (1, 2)

    def axes(self) -> tuple[TileAxis, ...]:
        head, query = self._axes
        _, queries, keys, _, _ = self.parts.sizes
        # The engine counts as many rows of tiles as there are tiles of keys; whose they are it does not know.
        # Projections of all positions are made once per head.
        cut = (TileAxis(query, TILE),) if tiles(queries) == tiles(keys) and not self._packed else ()
        return (TileAxis(head, limit=1), *cut)

    def bound_cycles(self) -> int:
        heads, _, keys, depth, _ = self.parts.sizes
        cycles = attention_cycles(tiles(keys), tiles(keys), tiles(depth), gap=0)
        projections = (
            product_cycles(tiles(keys), tiles(depth), packed.inner, has_bias=packed.has_bias, gap=0)
            for packed in self._packed.values()
        )
        return heads * (cycles + sum(projections))

    def recipe(self, box: Box) -> Recipe:
        p, context = self.parts, self.context
        heads, queries, keys, depth, width = p.sizes
        head, first, rows = box.start[self._axes[0]], box.start[self._axes[1]], box.size[self._axes[1]]
        s, size = tiles(keys), tiles(depth)
        # Queries of a whole layer are padded to the tiles of keys.
        room = keys if rows == queries else 0
        o_view, o_box = _head(p.out, heads, head, queries, width)
        inputs: dict[Tensor, tuple[Panel, ...]] = {}
        q_steps, q = self._rows("q", p.q, head, queries, depth, first, rows, room, inputs)
        k_steps, k = self._rows("k", p.k, head, keys, depth, 0, keys, 0, inputs)
        value_steps, values = self._values(head, inputs)
        out, after = store_panels("o", o_view, _rows(o_box, first, rows), context, room)
        logits = Local("logits", TensorSpec((s, TILE, TILE), "int8"))
        rules = {RequantSlot.QK: self.rules.logits, RequantSlot.AV: self.rules.mix}
        panels = (*q, *k, *values, *panels_of(logits, s, TILE_BYTES), *out)
        count = tiles(max(rows, room))
        command = ItaCommand(
            ATTENTION, Constants((s, UNUSED_TILES, size, UNUSED_TILES), rules), count, s, size, panels, context.l1_base
        )
        writes = (logits, *(panel.local for panel in out))
        macs = rows * keys * (depth + width)
        job = context.job(command, writes, macs, attention_cycles(count, s, size))
        return Recipe(arranged([*q_steps, *k_steps, *value_steps, job, *after]))

    def _rows(
        self,
        name: str,
        operand: Heads,
        head: int,
        count: int,
        depth: int,
        first: int,
        rows: int,
        room: int,
        inputs: dict[Tensor, tuple[Panel, ...]],
    ) -> tuple[list[Step], tuple[Panel, ...]]:
        if name not in self._packed:
            view, box = _head(operand, self.parts.sizes[0], head, count, depth)
            return load_panels(name, view, _rows(box, first, rows), self.context, room, exact=True)
        loads, left = self._inputs(name, inputs, room)
        size = tiles(depth)
        more, product = self._packed[name].times(left, head * size, size)
        result = tuple(Panel(panel_local(f"{name}_made{i}", rows, room)) for i in range(size))
        sizes = (tiles(max(rows, room)), size)
        job = self.context.product(sizes, self.rules.projections[name], product, result, rows * depth)
        return [*loads, *more, job], result

    def _inputs(
        self, name: str, inputs: dict[Tensor, tuple[Panel, ...]], room: int = 0
    ) -> tuple[list[Step], tuple[Panel, ...]]:
        """Panels of what a projection reads, loaded once for all that read it."""
        x = self.parts.projections[name].inputs[0]
        if x.storage in inputs:
            return [], inputs[x.storage]
        rows = flattened(x)
        loads, panels = load_panels(f"{name}_x", rows, Box.whole(rows.spec.shape), self.context, room)
        inputs[x.storage] = panels
        return loads, panels

    def _values(self, head: int, inputs: dict[Tensor, tuple[Panel, ...]]) -> tuple[list[Step], tuple[Panel, ...]]:
        """One panel of [head][64] per tile of keys: transposed by the cores, or projected so by the engine."""
        heads, _, keys, _, width = self.parts.sizes
        if "v" not in self._packed:
            if self.parts.transposed and not self.parts.v.beside:
                part = Box((head * width, 0), (width, keys))
                return load_panels("v", flattened(self.parts.v.tensor), part, self.context, padded(width), exact=True)
            return load_transposed("v", *_head(self.parts.v, heads, head, keys, width), self.context)
        loads, right = self._inputs("v", inputs)
        p, s = tiles(width), tiles(keys)
        more, product = self._packed["v"].times(right, head * p, p, are_left=True)
        transposed = Local("v_transposed", TensorSpec((s, p * TILE, TILE), "int8"))
        result = panels_of(transposed, s, p * TILE_BYTES)
        job = self.context.product((p, s), self.rules.projections["v"], product, result, keys * width)
        return [*loads, *more, job], result


def _head(operand: Heads, heads: int, head: int, rows: int, columns: int) -> tuple[Tensor, Box]:
    """A head as part of a matrix."""
    start = (0, head * columns) if operand.beside else (head * rows, 0)
    view = flattened(operand.tensor, heads * columns if operand.beside else columns)
    return view, Box(start, (rows, columns))


def _rows(box: Box, first: int, count: int) -> Box:
    return Box((box.start[0] + first, box.start[1]), (count, box.size[1]))
