"""A cache of floats as bytes, new rows behind: two kernels write side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedules.byte_tables import by_stored_byte
from schedules.cluster.base import SLACK, Arguments, KernelForm
from schedules.cluster.elementwise import output_local
from schedules.cluster.quantize import applies, quantize_fields
from schedules.cluster.structures import fields_of, words_of
from schedules.kernel_cycles import call_cost
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Load, Local, Pointer, Recipe, Store
from tvm_pulp.uma.strategy import TileAxis

_QUANTIZE, _COPY = "tvm_pulp_quantize_args", "tvm_pulp_copy_rows_args"


def applies_append(layer: Layer) -> bool:
    """Something of both kinds; a table is a constant."""
    sizes = (layer.inputs[0].spec.elements, math.prod(layer.attributes["appended"]))
    return applies(layer) and min(sizes) > 0 and all(t.data is not None for t in layer.inputs[5:])


@dataclass(frozen=True)
class AppendQuantizedKernel(KernelForm):
    name: str = "quantize kernel and row copies"

    def axes(self) -> tuple[TileAxis, ...]:
        """It runs whole: what is appended is a part of another tensor that no box describes."""
        return ()

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        x, more = layer.inputs[0], layer.inputs[4]
        rows, inner = math.prod(box.size[: a["axis"]]), math.prod(box.size[a["axis"] + 1 :])
        columns, row_bytes, added = (shape[a["axis"]] * inner for shape in (x.spec.shape, box.size, a["appended"]))
        arguments, y = Arguments(), output_local(self, box)
        fields = quantize_fields(self, arguments, Box.whole(x.spec.shape)) | {
            "y": Pointer(y), "rows": rows, "columns": columns, "y_stride": row_bytes, "y_step": 1,
        }  # fmt: skip
        cost = call_cost("quantize", fields, self.costs)
        reads = tuple(arguments.reads)
        names = ("tvm_pulp_kernel_quantize", f"struct {_QUANTIZE}", fields_of(_QUANTIZE))
        quantize = Call(*names, words_of(_QUANTIZE, fields), reads, (y,), cost)
        source = Local("more", TensorSpec(more.spec.shape, more.spec.dtype), SLACK)
        loads = [*arguments.steps, Load(more, Box.whole(more.spec.shape), source)]
        copied: list[Local] = [source]
        if a["has_table"]:
            assert layer.inputs[5].data is not None
            values = by_stored_byte(layer.inputs[5].data, more.spec.dtype)
            table = self.derived.constant(f"{layer.name}_table", values)
            copied.append(Local("table", table.spec))
            loads.append(Load(table, Box.whole(table.spec.shape), copied[1]))
        fields = {
            "x": Pointer(source, a["first"]), "y": Pointer(y, columns), "rows": rows, "row_bytes": added,
            "table": Pointer(copied[1]) if copied[1:] else 0, "table_stride": 0, "x_stride": added,
            "y_stride": row_bytes,
        }  # fmt: skip
        cost = call_cost("copy_rows", fields, self.costs)
        names = ("tvm_pulp_kernel_copy_rows", f"struct {_COPY}", fields_of(_COPY))
        copy = Call(*names, words_of(_COPY, fields), tuple(copied), (y,), cost)
        return Recipe((*loads, quantize, copy, Store(y, layer.outputs[0], box)))
