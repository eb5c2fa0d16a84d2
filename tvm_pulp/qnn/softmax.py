"""Integer softmax over the last axis, in the forms frameworks use. Each form, or family of them, has a file of its own.

* `i_softmax`        polynomial exponential of the PULP dialect, result uint8.
* `ita_max`          shift-only softmax of the ITA accelerator over the whole row, result uint8.
* `ita_partial_max`  the streaming form ITA's hardware computes, result uint8 up to 127.
* `octave`           the streaming form over logits that step in octaves; the result type is stated.
* `tflite`           TFLite's reference fixed-point softmax, result int8.
* `tflite16`         TFLite's softmax of int16 by two tables (operands), result int16.
* `table`            exponentials from a table (a second operand), rounded as ONNX does; the result type is stated.
"""

from collections.abc import Callable

import numpy as np

from tvm_pulp.qnn import softmax_i, softmax_shift, softmax_table, softmax_tflite, softmax_tflite16
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.tiles import BY_ROW

# By form: the reference, and the loops of a row.
FORMS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., None]]] = {
    "i_softmax": (softmax_i.reference, softmax_i.row_loops),
    "ita_max": (softmax_shift.reference, softmax_shift.row_loops_max),
    "ita_partial_max": (softmax_shift.reference, softmax_shift.row_loops_partial_max),
    "octave": (softmax_shift.reference, softmax_shift.row_loops_octave),
    "tflite": (softmax_tflite.reference, softmax_tflite.row_loops),
    "tflite16": (softmax_tflite16.reference, softmax_tflite16.row_loops),
    "table": (softmax_table.reference, softmax_table.row_loops),
}


@register(
    "softmax",
    attributes=SoftmaxAttributes,
    operands="x table",
    tile=BY_ROW,
)
class Softmax(Operator[SoftmaxAttributes]):
    def uses_float(self, attributes: SoftmaxAttributes) -> bool:
        return bool(attributes.form == "table")

    def infer(self, attributes: SoftmaxAttributes, inputs: Specs) -> TensorSpec:
        signed = "int8" if attributes.form == "tflite" else "uint8"
        return TensorSpec(inputs[0].shape, getattr(attributes, "dtype", signed))

    def reference(self, attributes: SoftmaxAttributes, inputs: Arrays) -> np.ndarray:
        return FORMS[attributes.form][0](attributes, inputs[0].astype(np.int64), *inputs[1:])

    def body(self, loops: Loops, attributes: SoftmaxAttributes, inputs: Specs, output: TensorSpec) -> None:
        length = inputs[0].shape[-1]
        x, *tables = loops.buffers("x table table", (inputs[0].rows, *inputs[1:]))
        y = loops.buffer("y", output.rows)
        with loops.parallel("row", output.elements // length) as row:
            FORMS[attributes.form][1](loops, attributes, x, y, row, length, *tables)
