"""Concatenation: rows of each operand to their place in the rows of the result."""

import math

import numpy as np

from schedules.byte_tables import by_stored_byte
from schedules.cluster.base import SLACK, Box, KernelForm, Layer, Tensor, TileAxis, kernel_call, schedule
from schedules.kernel_cycles import Fields, Work, given, share, work
from tvm_pulp.qnn.concat import ConcatAttributes, divide
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.contiguous import contiguous_offset
from tvm_pulp.uma.recipe import Call, Load, Local, Pointer, Recipe, Store

# Bytes of a part from which on every core gets a table, and the bytes from one to the next: one bank on.
_MANY_BYTES, _TABLE_STRIDE = 8192, 260


def applies(layer: Layer) -> bool:
    """Bytes are moved: any type will do."""
    return all(t.spec.elements > 0 for t in divide(ConcatAttributes.of(layer), layer.inputs)[0])


def in_place_operand(layer: Layer) -> int | None:
    """The operand, if any, that the DMA can bring to its place in the result: an input of the network, as a cache is.

    The DMA fills the gaps between rows with what follows in memory, so its rows are at least half of the result's.
    """
    axis = ConcatAttributes.of(layer).axis
    total = layer.outputs[0].spec.shape[axis]
    parts, tables = divide(ConcatAttributes.of(layer), layer.inputs)
    for index, tensor in enumerate(parts):
        large = 2 * tensor.spec.shape[axis] >= total
        if tensor.storage.kind == "input" and large and len(parts) > 1 and index not in tables:
            return index
    return None


@schedule("concat", applies)
class ConcatKernel(KernelForm):
    kernel, label = "copy_rows", "row copies"

    def axes(self) -> tuple[TileAxis, ...]:
        if self.layer.outputs[0].storage.level == "l1":
            return ()
        return tuple(TileAxis(a) for a in range(ConcatAttributes.of(self.layer).axis))

    def table(self, index: int, part: Tensor, table: Tensor | None) -> Tensor | None:
        """The table of a part as the kernel wants it: for much to look up, one for every core, in banks of its own."""
        if table is None:
            return None
        values = by_stored_byte(table.values, part.spec.dtype)
        if part.spec.bytes < _MANY_BYTES:
            return self.constant(f"table{index}", values)
        return self.constant(f"tables{index}", np.tile(np.pad(values, (0, _TABLE_STRIDE - values.size)), self.cores))

    def recipe(self, box: Box) -> Recipe:
        layer, out, axis = self.layer, self.layer.outputs[0], ConcatAttributes.of(self.layer).axis
        inner = math.prod(out.spec.shape[axis + 1 :]) * out.spec.itemsize
        rows, row_bytes = math.prod(box.size[:axis]), out.spec.shape[axis] * inner
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        made: Local | Tensor = out if out.storage.level == "l1" else y
        loads: list[Load] = []
        calls: list[Call] = []
        position = 0
        held = in_place_operand(layer)
        kept: tuple[Local, ...] = ()
        parts, tables = divide(ConcatAttributes.of(layer), layer.inputs)
        for index, tensor in enumerate(parts):
            part = Box(
                (*box.start[:axis], *(0 for _ in tensor.spec.shape[axis:])),
                (*box.size[:axis], *tensor.spec.shape[axis:]),
            )
            size = tensor.spec.shape[axis] * inner
            if index == 0 and out.storage.level == "l1":
                # A cache that lies in L1: what was there stays, only new rows are copied.
                position += size
                continue
            if index == held and position == 0 and contiguous_offset(tensor, part) is not None:
                kept = (Local(f"x{index}", TensorSpec(((rows - 1) * row_bytes + size,), "uint8"), inside=y),)
                loads.append(Load(tensor, part, kept[0], rows, row_bytes))
                position += size
                continue
            x = Local(f"x{index}", TensorSpec(part.size, tensor.spec.dtype), SLACK)
            loads.append(Load(tensor, part, x))
            table = self.table(index, tensor, tables.get(index))
            if table is not None:
                loads.append(Load(table, Box.whole(table.spec.shape), Local(f"table{index}", table.spec)))
            reads = [x] if table is None else [x, loads[-1].local]
            stride = _TABLE_STRIDE if table is not None and table.spec.elements > 256 else 0
            fields = {
                "x": Pointer(x), "y": Pointer(made, position), "table": Pointer(reads[1]) if reads[1:] else 0,
                "table_stride": stride, "rows": rows, "row_bytes": size, "x_stride": size, "y_stride": row_bytes,
            }  # fmt: skip
            calls.append(kernel_call("copy_rows", fields, self.costs, (*reads, *kept), (made,)))
            position += size
        return Recipe((*loads, *calls) if made is out else (*loads, *calls, Store(y, out, box)))


@work("copy_rows")
def copy_rows_work(f: Fields, cores: int) -> Work:
    rows, row_bytes = f["rows"], f["row_bytes"]
    mine = share(rows * row_bytes, cores)
    # As many bytes and rows for each core as MANY_BYTES and MANY_ROWS of the kernel.
    if given(f["table"]) and rows >= 16 * cores and rows * row_bytes >= 512:
        touched = share(rows, cores)
        words, rest = touched * (row_bytes // 4), touched * (row_bytes % 4)
        return {"whole_call": 1, "whole_row": touched, "whole_word": words, "whole_rest": rest}
    if given(f["table"]) and rows >= cores and rows * row_bytes >= 512:
        touched = -(-mine // row_bytes) + 1
        return {
            "many_call": 1,
            "many_row": touched,
            "many_word": mine / 4,
            "many_rest": touched * (row_bytes % 4),
        }
    if f["x_stride"] == f["y_stride"] == row_bytes:
        rows, row_bytes = 1, rows * row_bytes
    touched = -(-mine // row_bytes) + (1 if rows > 1 else 0)
    if given(f["table"]):
        return {"table_call": 1, "table_row": touched, "table_byte": mine}
    work: Work = {"call": 1, "row": touched, "word": mine / 4}
    if row_bytes % 4:
        # Words cross word boundaries, and every row has bytes left over.
        work |= {"crossing_word": mine / 4, "rest": touched * (row_bytes % 4)}
    return work
