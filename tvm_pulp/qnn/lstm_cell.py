"""The element-wise parts of TFLite's integer LSTM (8-bit weights, 16-bit gates), bit for bit.

Operands: the sums of products, 32 bits, that the inputs [batch, 4 * cells] and the state contribute to the gates, and
the cells. Gates stand one after the other: input (absent where `coupled`: then it is one less the forget gate), forget,
cell, output; `input_scales` and `state_scales` hold multiplier and exponent of each, which bring the sums to three
integer bits. `lstm_cell` gives the new cells, which have `bits` integer bits, `lstm_hidden` the new state from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tvm_pulp.qnn.fixed_point import multiply, rounding_shift
from tvm_pulp.qnn.fixed_point_functions import ONE16, sigmoid16, tanh16
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, TensorSpec, call, i32, register

_SCALES = ("input_scales", "state_scales")


def _place(attributes: Attributes, name: str) -> int:
    """Which of the gates it is."""
    gates = ("forget", "cell", "output") if attributes["coupled"] else ("input", "forget", "cell", "output")
    return gates.index(name)


def _gate(attributes: Attributes, inputs: Arrays, name: str) -> np.ndarray:
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

    def __init__(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        self.loops, self.attributes, self.cells, self.elements = loops, attributes, inputs[2].shape[-1], output.elements
        self.x, self.h, self.c, *self.more = loops.buffers("x h c mul add", inputs)
        self.y = loops.buffer("y", output)

    @contextmanager
    def each(self) -> Iterator[None]:
        with self.loops.parallel("place", self.elements) as place:
            self.row, self.column = self.loops.split(place, self.cells, "row", "column")
            yield

    @property
    def state(self) -> Any:
        return i32(self.c[self.row, self.column])

    def store(self, value: Any) -> None:
        self.loops.store(self.y, [self.row, self.column], value)

    def gate(self, name: str) -> Any:
        place = _place(self.attributes, name)
        column = self.column + place * self.cells if place else self.column
        x, h = (
            call("scale_tflite", buffer[self.row, column], *self.attributes[scales][2 * place : 2 * place + 2])
            for buffer, scales in zip((self.x, self.h), _SCALES, strict=True)
        )
        return call("clip", call("clip", x, -32768, 32767) + h, -32768, 32767)


@register("lstm_cell", attributes="bits clip coupled input_scales state_scales")
class LstmCell(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return inputs[2]

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        forget = sigmoid16(_gate(attributes, inputs, "forget"))
        fresh = tanh16(_gate(attributes, inputs, "cell"), 3)
        admit = ONE16 - forget
        if not attributes["coupled"]:
            admit = sigmoid16(_gate(attributes, inputs, "input"))
        kept = rounding_shift(forget * inputs[2].astype(np.int64), 15)
        total = np.clip(kept + rounding_shift(admit * fresh, 15 + attributes["bits"]), -32768, 32767)
        clip = attributes["clip"]
        return (np.clip(total, -clip, clip) if clip else total).astype(np.int16)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        e = _Elements(loops, attributes, inputs, output)
        with e.each():
            forget = loops.bind("forget", call("sigmoid16", e.gate("forget")))
            fresh = loops.bind("fresh", call("tanh16", e.gate("cell"), 3))
            admit = ONE16 - forget
            if not attributes["coupled"]:
                admit = loops.bind("admit", call("sigmoid16", e.gate("input")))
            kept = call("rounding_shift", forget * e.state, 15)
            total = call("clip", kept + call("rounding_shift", admit * fresh, 15 + attributes["bits"]), -32768, 32767)
            clip = attributes["clip"]
            total = call("clip", total, -clip, clip) if clip else total
            e.store(total.astype("int16"))


@register("lstm_hidden", attributes="bits coupled input_scales state_scales requant*")
class LstmHidden(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[2].shape, Requant.of(attributes).out_dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        out = sigmoid16(_gate(attributes, inputs, "output"))
        return Requant.of(attributes).apply(out * tanh16(inputs[2].astype(np.int64), attributes["bits"]), inputs[3:])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        e = _Elements(loops, attributes, inputs, output)
        with e.each():
            out = loops.bind("out", call("sigmoid16", e.gate("output")))
            product = loops.bind("product", out * call("tanh16", e.state, attributes["bits"]))
            e.store(Requant.of(attributes).expression(product, e.more, i32(0)))
