"""Sums that an engine of 8-bit results delivered digit by digit, put together and requantized.

Operands: a digit each, int8 [rows][width], the highest first; then the requantization's tensors. The sum is that of
digit * step over all digits, less `offset`. The result has the first `columns` of the digits' columns.
"""

import numpy as np

from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class JoinDigitsAttributes(Requantized):
    """One step per digit."""

    columns: int
    offset: int
    steps: tuple[int, ...]


@register("join_digits", attributes=JoinDigitsAttributes)
class JoinDigits(Operator[JoinDigitsAttributes]):
    def infer(self, attributes: JoinDigitsAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((inputs[0].shape[0], attributes.columns), Requant.of(attributes).out_dtype)

    def reference(self, attributes: JoinDigitsAttributes, inputs: Arrays) -> np.ndarray:
        steps, columns = attributes.steps, attributes.columns
        digits = zip(inputs, steps, strict=False)
        total = sum(digit[:, :columns].astype(np.int64) * step for digit, step in digits) - attributes.offset
        return Requant.of(attributes).apply(np.asarray(total), inputs[len(steps) :])

    def body(self, loops: Loops, attributes: JoinDigitsAttributes, inputs: Specs, output: TensorSpec) -> None:
        requant, steps = Requant.of(attributes), attributes.steps
        digits = [loops.buffer(f"digit{i}", spec) for i, spec in enumerate(inputs[: len(steps)])]
        operands = loops.buffers("mul add", inputs[len(steps) :])
        y = loops.buffer("y", output)
        rows, columns = output.shape
        with loops.parallel("row", rows) as row, loops.loop("column", columns) as column:
            total = i32(-attributes.offset)
            for digit, step in zip(digits, steps, strict=True):
                total = total + i32(digit[row, column]) * step
            loops.store(y, [row, column], requant.expression(total, operands, column))
