"""Attention on ITA: logits, softmax and values of a head as one command; with the projection of values before it.

The softmax never leaves the engine: a row of tiles of logits is written to L1 and normalized when it is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Recipe, Step
from tvm_pulp.uma.strategy import Form, Refusal, TileAxis
from uma_backends.ita.attention_parts import Attention, AttentionRules, Heads, attention_of, rules_of
from uma_backends.ita.command import ATTENTION, PRODUCT, Command, Panel, panels_of
from uma_backends.ita.geometry import TILE, TILE_BYTES, padded, tiles
from uma_backends.ita.ita_form import ENGINE, Context, PackedWeights, arranged
from uma_backends.ita.jobs import BIAS_BY_ROW, NO_BIAS
from uma_backends.ita.panels import load_exact_panels, load_panels, load_turned, store_panels
from uma_backends.ita.registers import Constants, Slot
from uma_backends.ita.timing import attention_cycles, product_cycles


def attention_check(match: Any) -> bool | Refusal:
    """Softmax of form `octave`, up to 960 keys in whole tiles of 64, multipliers of up to 8 bits, no mask."""
    found = rules_of(match.layer)
    return Refusal(ENGINE, found) if isinstance(found, str) else True


def attention_strategy(region: Layer, context: Context) -> list[Form] | Refusal:
    """Head by head."""
    found = rules_of(region)
    if isinstance(found, str):
        return Refusal(ENGINE, found)
    parts = attention_of(region)
    name = "attention with the projection of values" if parts.value is not None else "attention"
    return [AttentionForm(region, parts, found, context, name)]


@dataclass(frozen=True)
class AttentionForm:
    """One head per tile."""

    layer: Layer
    parts: Attention
    rules: AttentionRules
    context: Context
    name: str
    engine: str = ENGINE
    packed: PackedWeights | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packed", self._packed())

    def _packed(self) -> PackedWeights | None:
        """Weights of the values, every head from a tile of its own on."""
        value = self.rules.value
        if value is None:
            return None
        heads, _, _, _, width = self.parts.sizes
        more = padded(width) - width
        weights = np.pad(value.weights.reshape(heads, width, -1), ((0, 0), (0, more), (0, 0)))
        bias = np.pad(value.bias.reshape(heads, width), ((0, 0), (0, more))).reshape(-1)
        return PackedWeights(
            f"{self.layer.name}_values", weights.reshape(heads * padded(width), -1), bias if value.has_bias else None
        )

    @property
    def _axes(self) -> tuple[int, int]:
        """Where the result has heads and queries."""
        return (2, 1) if self.parts.out.beside else (1, 2)

    def axes(self) -> tuple[TileAxis, ...]:
        head, query = self._axes
        _, queries, keys, _, _ = self.parts.sizes
        # The engine counts as many rows of tiles as there are tiles of keys; whose they are it does not know.
        cut = (TileAxis(query, TILE),) if tiles(queries) == tiles(keys) else ()
        return (TileAxis(head, limit=1), *cut)

    def bound_cycles(self) -> int:
        heads, _, keys, depth, _ = self.parts.sizes
        cycles = attention_cycles(tiles(keys), tiles(keys), tiles(depth))
        return heads * (cycles + (self._value_cycles() if self.packed is not None else 0))

    def _value_cycles(self) -> int:
        assert self.packed is not None
        _, _, keys, _, width = self.parts.sizes
        return product_cycles(tiles(width), tiles(keys), self.packed.inner, has_bias=self.packed.bias is not None)

    def recipe(self, box: Box) -> Recipe:
        p, context = self.parts, self.context
        heads, queries, keys, depth, width = p.sizes
        head, first, rows = box.start[self._axes[0]], box.start[self._axes[1]], box.size[self._axes[1]]
        s, size = tiles(keys), tiles(depth)
        # Queries of a whole layer are padded to the tiles of keys.
        room = keys if rows == queries else 0
        q_view, q_box = _head(p.q, heads, head, queries, depth)
        o_view, o_box = _head(p.out, heads, head, queries, width)
        q_loads, q = load_exact_panels("q", q_view, _rows(q_box, first, rows), context, room)
        k_loads, k = load_exact_panels("k", *_head(p.k, heads, head, keys, depth), context)
        values, value_steps = self._values(head)
        out, after = store_panels("o", o_view, _rows(o_box, first, rows), context, room)
        logits = Local("logits", TensorSpec((s, TILE, TILE), "int8"))
        rules = {Slot.QK: self.rules.logits, Slot.AV: self.rules.mix}
        panels = (*q, *k, *values, *panels_of(logits, s, TILE_BYTES), *out)
        count = tiles(max(rows, room))
        command = Command(ATTENTION, Constants((s, 1, size, 1), rules), count, s, size, panels, context.l1_base)
        writes = (logits, *(panel.local for panel in out))
        macs = rows * keys * (depth + width)
        job = context.job(command, writes, macs, attention_cycles(count, s, size))
        return Recipe(arranged([*q_loads, *k_loads, *value_steps, job, *after]))

    def _values(self, head: int) -> tuple[tuple[Panel, ...], list[Step]]:
        """One panel of [head][64] per tile of keys: turned by the cores, or projected so by the engine."""
        heads, _, keys, _, width = self.parts.sizes
        if self.packed is None:
            steps, panels = load_turned("v", *_head(self.parts.v, heads, head, keys, width), self.context)
            return panels, steps
        value, rule = self.parts.value, self.rules.value
        assert value is not None and rule is not None
        x = value.inputs[0]
        matrix = Tensor(f"{x.name}_rows", TensorSpec((keys, x.spec.shape[-1]), "int8"), x.kind, view_of=x)
        steps, right = load_panels("x", matrix, Box.whole(matrix.spec.shape), self.context)
        p, s, inner = tiles(width), tiles(keys), self.packed.inner
        loads, weights, bias = self.packed.load(head * p, p)
        turned = Local("v_turned", TensorSpec((s, p * TILE, TILE), "int8"))
        result = panels_of(turned, s, p * TILE_BYTES)
        command = Command(
            PRODUCT,
            Constants((p, inner, s, 1), {Slot.Q: rule.rule}),
            p,
            s,
            inner,
            (*panels_of(weights, inner, TILE_BYTES), *right, *result),
            self.context.l1_base,
            left_stride=inner * TILE_BYTES,
            bias=bias,
            bias_kind=NO_BIAS if bias is None else BIAS_BY_ROW,
        )
        macs = keys * x.spec.shape[-1] * width
        job = self.context.job(command, (turned,), macs, self._value_cycles())
        return result, [*steps, *loads, job]


def _head(operand: Heads, heads: int, head: int, rows: int, columns: int) -> tuple[Tensor, Box]:
    """A head as part of a matrix."""
    t = operand.tensor
    shape = (rows, heads * columns) if operand.beside else (heads * rows, columns)
    start = (0, head * columns) if operand.beside else (head * rows, 0)
    view = Tensor(f"{t.name}_rows", TensorSpec(shape, t.spec.dtype), t.kind, view_of=t)
    return view, Box(start, (rows, columns))


def _rows(box: Box, first: int, count: int) -> Box:
    """Some rows of a part."""
    return Box((box.start[0] + first, box.start[1]), (count, box.size[1]))
