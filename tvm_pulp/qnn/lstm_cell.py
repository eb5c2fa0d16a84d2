"""The element-wise parts of TFLite's integer LSTM (8-bit weights, 16-bit gates), bit for bit.

Operands: the sums of products, 32 bits, that the inputs [batch, 4 * cells] and the state contribute to the gates, and
the cells. Gates stand one after the other: input (absent where `coupled`: then it is one less the forget gate), forget,
cell, output; `input_scales` and `state_scales` hold multiplier and exponent of each, which bring the sums to three
integer bits. `lstm_cell` gives the new cells, which have `bits` integer bits, `lstm_hidden` the new state from them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.qnn.either import clip, rounding_shift, scale_tflite, sigmoid16, tanh16
from tvm_pulp.qnn.fixed_point_functions import ONE16
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, TensorSpec, i32, register

_SCALES = ("input_scales", "state_scales")


def _place(attributes: Attributes, name: str) -> int:
    """Which of the gates it is."""
    gates = ("forget", "cell", "output") if attributes["coupled"] else ("input", "forget", "cell", "output")
    return gates.index(name)


def _gate(attributes: Attributes, x: Any, h: Any, place: int) -> Any:
    """A gate's sum; what the inputs contribute saturates first."""
    x, h = (scale_tflite(t, *attributes[s][2 * place : 2 * place + 2]) for t, s in zip((x, h), _SCALES, strict=True))
    return clip(clip(x, -32768, 32767) + h, -32768, 32767)


Gates = Callable[[str], Any]
Bind = Callable[[str, Any], Any]


class _Cells(Operator):
    """Cell by cell; its loop is what both operators share."""

    def value(self, attributes: Attributes, gate: Gates, state: Any, bind: Bind) -> Any:
        """The result before requantization, of gates by name and a cell; `bind` names what is used twice."""
        raise NotImplementedError

    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[2].shape, self.result_type(attributes))

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        (x, h, c), rule = inputs[:3], Requant.of(attributes)

        def gate(name: str) -> Any:
            place = _place(attributes, name)
            own = slice(place * c.shape[-1], (place + 1) * c.shape[-1])
            return _gate(attributes, x[:, own], h[:, own], place)

        value = self.value(attributes, gate, c.astype(np.int64), lambda _name, made: made)
        return (rule.apply(value, inputs[3:]) if rule.operands else value).astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        x, h, c, *more = loops.buffers("x h c mul add", inputs)
        y, cells = loops.buffer("y", output), inputs[2].shape[-1]
        with loops.parallel("place", output.elements) as index:
            row, column = loops.split(index, cells, "row", "column")

            def gate(name: str) -> Any:
                place = _place(attributes, name)
                own = column + place * cells if place else column
                return _gate(attributes, x[row, own], h[row, own], place)

            value = self.value(attributes, gate, i32(c[row, column]), loops.bind)
            result = Requant.of(attributes).expression(value, more, i32(0))
            loops.store(y, [row, column], result.astype(output.dtype))


@register("lstm_cell", attributes="bits clip coupled input_scales state_scales", result="int16")
class LstmCell(_Cells):
    def value(self, attributes: Attributes, gate: Gates, state: Any, bind: Bind) -> Any:
        forget = bind("forget", sigmoid16(gate("forget")))
        fresh = bind("fresh", tanh16(gate("cell"), 3))
        admit = ONE16 - forget if attributes["coupled"] else bind("admit", sigmoid16(gate("input")))
        kept, added = rounding_shift(forget * state, 15), rounding_shift(admit * fresh, 15 + attributes["bits"])
        total, most = clip(kept + added, -32768, 32767), attributes["clip"]
        return clip(total, -most, most) if most else total


@register("lstm_hidden", attributes="bits coupled input_scales state_scales requant*")
class LstmHidden(_Cells):
    def value(self, attributes: Attributes, gate: Gates, state: Any, bind: Bind) -> Any:
        out = bind("out", sigmoid16(gate("output")))
        return bind("product", out * tanh16(state, attributes["bits"]))
