"""The element-wise parts of TFLite's integer LSTM (8-bit weights, 16-bit gates), bit for bit.

Operands: the sums of products, 32 bits, that the inputs [batch, 4 * cells] and the state contribute to the gates, and
the cells. Gates stand one after the other: input (absent where `coupled`: then it is one less the forget gate), forget,
cell, output; `input_scales` and `state_scales` hold multiplier and exponent of each, which bring the sums to three
integer bits. `lstm_cell` gives the new cells, which have `bits` integer bits, `lstm_hidden` the new state from them.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tvm_pulp.qnn.either import clip, rounding_shift, scale_tflite, sigmoid16, tanh16
from tvm_pulp.qnn.fixed_point_functions import ONE16
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class GateAttributes(Attributes):
    """Multiplier and exponent of every gate's sums, and integer bits of cells; `coupled`: there is no input gate."""

    bits: int
    coupled: bool
    input_scales: tuple[int, ...]
    state_scales: tuple[int, ...]


def _place(attributes: GateAttributes, name: str) -> int:
    """Which of the gates it is."""
    gates = ("forget", "cell", "output") if attributes.coupled else ("input", "forget", "cell", "output")
    return gates.index(name)


def _gate(attributes: GateAttributes, x: Any, h: Any, place: int) -> Any:
    """A gate's sum; what the inputs contribute saturates first."""
    sides = (x, attributes.input_scales), (h, attributes.state_scales)
    x, h = (scale_tflite(t, *scales[2 * place : 2 * place + 2]) for t, scales in sides)
    return clip(clip(x, -32768, 32767) + h, -32768, 32767)


Gated = TypeVar("Gated", bound=GateAttributes)
Gates = Callable[[str], Any]
Bind = Callable[[str, Any], Any]


class _Cells(Operator[Gated]):
    """Cell by cell; its loop is what both operators share."""

    def value(self, attributes: Gated, gate: Gates, state: Any, bind: Bind) -> Any:
        """The result before requantization, of gates by name and a cell; `bind` names what is used twice."""
        raise NotImplementedError

    def infer(self, attributes: Gated, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[2].shape, self.result_type(attributes))

    def reference(self, attributes: Gated, inputs: Arrays) -> np.ndarray:
        (x, h, c), rule = inputs[:3], Requant.of(attributes)

        def gate(name: str) -> Any:
            place = _place(attributes, name)
            own = slice(place * c.shape[-1], (place + 1) * c.shape[-1])
            return _gate(attributes, x[:, own], h[:, own], place)

        value = self.value(attributes, gate, c.astype(np.int64), lambda _name, made: made)
        return (rule.apply(value, inputs[3:]) if rule.operands else value).astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: Gated, inputs: Specs, output: TensorSpec) -> None:
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


@quick_record(kw_only=True, slots=False)
class LstmCellAttributes(GateAttributes):
    """The largest cell, 0: any."""

    clip: int


@register("lstm_cell", attributes=LstmCellAttributes, result="int16")
class LstmCell(_Cells[LstmCellAttributes]):
    def value(self, attributes: LstmCellAttributes, gate: Gates, state: Any, bind: Bind) -> Any:
        forget = bind("forget", sigmoid16(gate("forget")))
        fresh = bind("fresh", tanh16(gate("cell"), 3))
        admit = ONE16 - forget if attributes.coupled else bind("admit", sigmoid16(gate("input")))
        kept, added = rounding_shift(forget * state, 15), rounding_shift(admit * fresh, 15 + attributes.bits)
        total, most = clip(kept + added, -32768, 32767), attributes.clip
        return clip(total, -most, most) if most else total


@quick_record(kw_only=True, slots=False)
class LstmHiddenAttributes(GateAttributes, Requantized):
    """Gates, and how the state is rounded."""


@register("lstm_hidden", attributes=LstmHiddenAttributes)
class LstmHidden(_Cells[LstmHiddenAttributes]):
    def value(self, attributes: LstmHiddenAttributes, gate: Gates, state: Any, bind: Bind) -> Any:
        out = bind("out", sigmoid16(gate("output")))
        return bind("product", out * tanh16(state, attributes.bits))
