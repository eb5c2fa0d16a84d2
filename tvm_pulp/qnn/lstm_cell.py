"""The element-wise parts of TFLite's integer LSTM (8-bit weights, 16-bit gates), bit for bit.

Operands: the sums of products, 32 bits, that the inputs [batch, 4 * cells] and the state contribute to the gates, and
the cells. Gates stand one after the other: input (absent where `coupled`: then it is one less the forget gate), forget,
cell, output; `input_scales` and `state_scales` hold multiplier and exponent of each, which bring the sums to three
integer bits. `lstm_cell` gives the new cells, which have `bits` integer bits, `lstm_hidden` the new state from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn import fixed_point16
from tvm_pulp.qnn.fixed_point import multiply, rounding_shift
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

_SCALES = ("input_scales", "state_scales")


def _place(attributes: dict[str, Any], name: str) -> int:
    """Which of the gates it is."""
    gates = ("forget", "cell", "output") if attributes["coupled"] else ("input", "forget", "cell", "output")
    return gates.index(name)


def _gate(attributes: dict[str, Any], inputs: Sequence[np.ndarray], name: str) -> np.ndarray:
    """A gate's sum; what the inputs contribute saturates first."""
    cells, place = inputs[2].shape[-1], _place(attributes, name)
    x, h = (
        multiply(
            t[:, place * cells : (place + 1) * cells],
            *(np.array(v) for v in attributes[scales][2 * place : 2 * place + 2]),
        )
        for t, scales in zip(inputs[:2], _SCALES, strict=True)
    )
    return np.clip(np.clip(x, -32768, 32767) + h, -32768, 32767)


class _Elements:
    """The loop over cells that both operators share."""

    def __init__(self, attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> None:
        self.attributes, self.loops, self.cells = attributes, Loops(), inputs[2].shape[-1]
        self.x, self.h, self.c = (self.loops.buffer(n, s) for n, s in zip(("x", "h", "c"), inputs[:3], strict=True))
        self.more = [self.loops.buffer(n, s) for n, s in zip(("mul", "add"), inputs[3:], strict=False)]
        self.y, self.elements = self.loops.buffer("y", output), output.elements

    def gate(self, row: Any, column: Any, name: str) -> Any:
        place = _place(self.attributes, name)
        column = column + place * self.cells if place else column
        x, h = (
            call("scale_tflite", buffer[row, column], *self.attributes[scales][2 * place : 2 * place + 2])
            for buffer, scales in zip((self.x, self.h), _SCALES, strict=True)
        )
        return call("clip", call("clip", x, -32768, 32767) + h, -32768, 32767)


@register
class LstmCell(Operator):
    name = "lstm_cell"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return inputs[2]

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        forget = fixed_point16.sigmoid(_gate(attributes, inputs, "forget"))
        fresh = fixed_point16.tanh(_gate(attributes, inputs, "cell"), 3)
        admit = fixed_point16.ONE - forget
        if not attributes["coupled"]:
            admit = fixed_point16.sigmoid(_gate(attributes, inputs, "input"))
        kept = rounding_shift(forget * inputs[2].astype(np.int64), 15)
        total = np.clip(kept + rounding_shift(admit * fresh, 15 + attributes["bits"]), -32768, 32767)
        clip = attributes["clip"]
        return (np.clip(total, -clip, clip) if clip else total).astype(np.int16)

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        e = _Elements(attributes, inputs, output)
        loops, cells = e.loops, e.cells
        with loops.parallel("place", e.elements) as place:
            row = loops.bind("row", tirx.truncdiv(place, i32(cells)))
            column = loops.bind("column", tirx.truncmod(place, i32(cells)))
            forget = loops.bind("forget", call("sigmoid16", e.gate(row, column, "forget")))
            fresh = loops.bind("fresh", call("tanh16", e.gate(row, column, "cell"), 3))
            admit = fixed_point16.ONE - forget
            if not attributes["coupled"]:
                admit = loops.bind("admit", call("sigmoid16", e.gate(row, column, "input")))
            kept = call("rounding_shift", forget * i32(e.c[row, column]), 15)
            added = call("rounding_shift", admit * fresh, 15 + attributes["bits"])
            total = call("clip", kept + added, -32768, 32767)
            clip = attributes["clip"]
            total = call("clip", total, -clip, clip) if clip else total
            loops.store(e.y, [row, column], total.astype("int16"))
        return loops.finish("lstm_cell")


@register
class LstmHidden(Operator):
    name = "lstm_hidden"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[2].shape, Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        out = fixed_point16.sigmoid(_gate(attributes, inputs, "output"))
        product = out * fixed_point16.tanh(inputs[2].astype(np.int64), attributes["bits"])
        return Requant.of(attributes).apply(product, inputs[3:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        e = _Elements(attributes, inputs, output)
        loops, cells = e.loops, e.cells
        with loops.parallel("place", e.elements) as place:
            row = loops.bind("row", tirx.truncdiv(place, i32(cells)))
            column = loops.bind("column", tirx.truncmod(place, i32(cells)))
            out = loops.bind("out", call("sigmoid16", e.gate(row, column, "output")))
            level = call("tanh16", i32(e.c[row, column]), attributes["bits"])
            product = loops.bind("product", out * level)
            loops.store(e.y, [row, column], Requant.of(attributes).expression(product, e.more, i32(0)))
        return loops.finish("lstm_hidden")
