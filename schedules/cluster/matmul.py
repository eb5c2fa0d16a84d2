"""Products of two activations."""

import math
from itertools import dropwhile

from schedules.cluster.arithmetic import accumulator_reach, uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.cluster.dense import DEPTH_INSTRUCTIONS
from schedules.kernel_cycles import Work, is_four, kind_of, share, words, work
from schedules.packed_weights import padded
from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.matmul import MatmulAttributes
from tvm_pulp.qnn.tensor_spec import BYTES


def applies(layer: Layer) -> bool:
    """8-bit operands whose batches are equal, or of which one is not batched."""
    a, b = layer.inputs[0].spec, layer.inputs[1].spec
    if not {a.dtype, b.dtype} <= set(BYTES) or not uniform_requant(layer, accumulator_reach(layer)):
        return False
    return batch_of(a.shape) == batch_of(b.shape) or 1 in (math.prod(a.shape[:-2]), math.prod(b.shape[:-2]))


def batch_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Batch axes without leading ones."""
    return tuple(dropwhile(lambda extent: extent == 1, shape[:-2]))


class MatmulKernel(KernelForm):
    def fields(self, call: Arguments, box: Box) -> Fields:
        (a, b), attributes, part = self.layer.inputs[:2], MatmulAttributes.of(self.layer), tile_part(self.layer, box)
        pointers = {"a": call.load("a", a, part.inputs[0]), "b": call.load("b", b, part.inputs[1])}
        *lead, rows, columns = box.size
        batch, depth, y_stride = math.prod(lead), a.spec.shape[-1], columns * call.output.spec.itemsize
        # Four columns of b; and four rows of a, unless they can be used where they are.
        shares = batch * -(-rows // 4) * -(-columns // 4)
        scratch = call.scratch((4 if depth % 4 == 0 else 8) * padded(depth) + 4, shares)
        sizes = {"a": rows * depth, "b": depth * columns}
        apart = {
            f"{name}_batch_stride": size if part.inputs[i].elements > size or batch == 1 else 0
            for i, (name, size) in enumerate(sizes.items())
        }
        return {
            **pointers, **scratch, "batch": batch, "rows": rows, "columns": columns, "depth": depth, "a_stride": depth,
            "b_stride": depth if attributes.transpose_b else columns, "y_stride": y_stride, **apart,
            "y_batch_stride": rows * y_stride, "transpose_b": int(attributes.transpose_b),
            **call.requant(box.span(-1), short=self.rounds_short),
        }  # fmt: skip


def applies_rope(layer: Layer) -> bool:
    """x[1, positions, heads, size] times a matrix per position: rotary embedding."""
    a, b = layer.inputs[0].spec, layer.inputs[1].spec
    shaped = len(a.shape) == 4 and b.shape == (1, a.shape[1], a.shape[3], a.shape[3]) and a.shape[0] == 1
    plain = not any(MatmulAttributes.of(layer)[k] for k in ("transpose_b", "zero_point_a", "zero_point_b"))
    scalar = all(t.spec.elements == 1 for t in layer.inputs[2:])
    return bool(shaped and plain and scalar and a.dtype == b.dtype == "int8" and applies(layer))


class RopeKernel(KernelForm):
    kernel = "rope"
    cut = (TileAxis(1),)

    def fields(self, call: Arguments, box: Box) -> Fields:
        parts = zip(("x", "rotation"), self.layer.inputs, tile_part(self.layer, box).inputs, strict=False)
        fields: Fields = {name: call.load(name, tensor, part) for name, tensor, part in parts}
        _, positions, heads, size = box.size
        return fields | {"positions": positions, "heads": heads, "size": size, **call.requant()}


@work("matmul")
def matmul_work(f: Fields, cores: int) -> Work:
    batch, rows, columns, depth = (f[n] for n in ("batch", "rows", "columns", "depth"))
    row_bias = f["b_type"] == 1 or f["zero_point_b"] != 0
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    tiles = share(batch * column_tiles * row_blocks, cores)
    packed = -(-tiles // row_blocks)
    few = rows % 4 if rows < 4 else 4
    work: Work = {"call": 1, "tile": tiles, "packed_block": packed}
    work["depth"] = tiles * DEPTH_INSTRUCTIONS[few] * words(depth)
    work["packed_row" if f["transpose_b"] else "packed_column"] = packed * words(depth)
    if depth % 4:
        work |= {"staged_row": tiles * few, "staged_word": tiles * few * words(depth)}
    kind = kind_of(f)
    if row_bias:
        work |= {"summed_row": tiles * few, "summed_word": tiles * few * words(depth)}
    prefix = "few_" if few < 4 else "biased_" if row_bias and kind != "scaled" else ""
    work[f"{prefix}output_{kind}"] = tiles * 4 * few
    return work


@work("rope")
def rope_work(f: Fields, cores: int) -> Work:
    positions, heads, size = f["positions"], f["heads"], f["size"]
    if size != 4 or not is_four(f):
        outputs = share(positions * heads, cores) * size
        return {"plain_call": 1, f"plain_output_{kind_of(f)}": outputs, "plain_tap": outputs * size}
    mine = share(positions * heads, cores)
    return {"call": 1, "position": -(-mine // heads) + (1 if positions > 1 else 0), "head": mine}


register("matmul", Schedule(applies_rope, RopeKernel), Schedule(applies, MatmulKernel))
