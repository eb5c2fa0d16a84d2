"""Concatenation: rows of each operand to their place in the rows of the result."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from schedules.cluster.base import CALL_CYCLES, SLACK, KernelForm
from schedules.cluster.structures import words_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Load, Local, Pointer, Recipe, Store
from tvm_pulp.uma.strategy import TileAxis

_STRUCTURE = "tvm_pulp_copy_rows_args"
# A row costs a loop set-up; then a word every two cycles.
_ROW_CYCLES = 20


def applies(layer: Layer) -> bool:
    """Bytes are moved: any type will do."""
    return all(t.spec.elements > 0 for t in layer.inputs)


@dataclass(frozen=True)
class ConcatKernel(KernelForm):
    name: str = "row copies"

    def axes(self) -> tuple[TileAxis, ...]:
        return tuple(TileAxis(a) for a in range(self.layer.attributes["axis"]))

    def recipe(self, box: Box) -> Recipe:
        layer, out, axis = self.layer, self.layer.outputs[0], self.layer.attributes["axis"]
        itemsize = np.dtype(out.spec.dtype).itemsize
        inner = math.prod(out.spec.shape[axis + 1 :]) * itemsize
        rows, row_bytes = math.prod(box.size[:axis]), out.spec.shape[axis] * inner
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        loads: list[Load] = []
        calls: list[Call] = []
        position = cycles = 0
        for index, tensor in enumerate(layer.inputs):
            part = Box(
                (*box.start[:axis], *(0 for _ in tensor.spec.shape[axis:])),
                (*box.size[:axis], *tensor.spec.shape[axis:]),
            )
            x = Local(f"x{index}", TensorSpec(part.size, tensor.spec.dtype), SLACK)
            loads.append(Load(tensor, part, x))
            size = tensor.spec.shape[axis] * inner
            fields = {
                "x": Pointer(x), "y": Pointer(y, position), "rows": rows, "row_bytes": size, "x_stride": size,
                "y_stride": row_bytes,
            }  # fmt: skip
            words = words_of(_STRUCTURE, fields)
            calls.append(Call("tvm_pulp_kernel_copy_rows", f"struct {_STRUCTURE}", words, (x,), (y,)))
            position += size
            cycles += rows * (_ROW_CYCLES + size // 2) // self.cores
        return Recipe((*loads, *calls, Store(y, out, box)), CALL_CYCLES + cycles)
