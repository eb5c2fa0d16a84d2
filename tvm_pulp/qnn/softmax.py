"""Integer softmax over the last axis, in the forms frameworks use. Each form has a file of its own.

* `i_softmax`        polynomial exponential of the PULP dialect, result uint8.
* `ita_max`          shift-only softmax of the ITA accelerator over the whole row, result uint8.
* `ita_partial_max`  the streaming form ITA's hardware computes, result uint8 up to 127.
* `octave`           the streaming form over logits that step in octaves; the result type is stated.
* `tflite`           TFLite's reference fixed-point softmax, result int8.
* `tflite16`         TFLite's softmax of int16 by two tables (operands), result int16.
* `table`            exponentials from a table (a second operand), rounded as ONNX does; the result type is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn import softmax_i, softmax_ita, softmax_octave, softmax_table, softmax_tflite, softmax_tflite16
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.rows import as_rows
from tvm_pulp.qnn.tensor_spec import TensorSpec

REFERENCES: dict[str, Callable[..., np.ndarray]] = {
    "i_softmax": softmax_i.reference,
    "ita_max": softmax_ita.reference_max,
    "ita_partial_max": softmax_ita.reference_partial_max,
    "octave": softmax_octave.reference,
    "tflite": softmax_tflite.reference,
    "tflite16": softmax_tflite16.reference,
    "table": softmax_table.reference,
}
ROWS: dict[str, Callable[..., None]] = {
    "i_softmax": softmax_i.row_loops,
    "ita_max": softmax_ita.row_loops_max,
    "ita_partial_max": softmax_ita.row_loops_partial_max,
    "octave": softmax_octave.row_loops,
    "tflite": softmax_tflite.row_loops,
    "tflite16": softmax_tflite16.row_loops,
    "table": softmax_table.row_loops,
}


@register
class Softmax(Operator):
    name = "softmax"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        signed = "int8" if attributes["form"] == "tflite" else "uint8"
        return TensorSpec(inputs[0].shape, attributes.get("dtype", signed))

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        return REFERENCES[attributes["form"]](attributes, inputs[0].astype(np.int64), *inputs[1:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, length = Loops(), inputs[0].shape[-1]
        x = loops.buffer("x", as_rows(inputs[0]))
        tables = [loops.buffer("table", spec) for spec in inputs[1:]]
        y = loops.buffer("y", as_rows(output))
        with loops.parallel("row", output.elements // length) as row:
            ROWS[attributes["form"]](loops, attributes, x, y, row, length, *tables)
        return loops.finish("softmax")
