"""Dense layers and 1x1 convolutions without padding: rows times packed weights."""

import numpy as np

from schedules.cluster.arithmetic import accumulator_reach, are_bytes, folded_bias, uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.kernel_cycles import Work, family_of, kind_of, words, work
from schedules.kernel_numbers import INT32, STORED, TYPES_16
from schedules.packed_weights import offset_weights, pack_weights, padded
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma.recipe import Pointer

# Instructions of the depth loop per word of depth: register tiles of 4, 3 (as 2 + 1), 2 and 1 rows.
DEPTH_INSTRUCTIONS = {4: 24, 3: 23, 2: 14, 1: 9}


def applies(layer: Layer) -> bool:
    """8-bit inputs and constant weights of eight bits; a convolution must be 1x1 with stride 1."""
    if layer.inputs[0].spec.dtype not in BYTES or not are_bytes(layer.inputs[1]):
        return False
    return are_rows(layer) and uniform_requant(layer, accumulator_reach(layer))


def are_rows(layer: Layer) -> bool:
    """Tell whether the input's pixels are the rows of the product."""
    if layer.operator != "conv2d":
        return True
    a = layer.attributes
    plain = list(a["strides"]) == [1, 1] and not any(a["pads"]) and a["groups"] == 1
    return bool(plain and layer.inputs[1].spec.shape[1:3] == (1, 1))


def applies_int16(layer: Layer) -> bool:
    """16-bit inputs, constant weights of at most 16 bits, accumulators that stay inside 32."""
    return are_rows(layer) and multiplies_int16(layer)


def multiplies_int16(layer: Layer) -> bool:
    """Tell whether the kernel's product of 16-bit values can compute a layer."""
    weight, reach = layer.inputs[1], accumulator_reach(layer)
    plain = (
        layer.inputs[0].spec.dtype in TYPES_16 and weight.data is not None and weight.spec.dtype in ("int8", "int16")
    )
    return plain and reach is not None and reach < 1 << 31 and uniform_requant(layer, reach)


def _may_omit_bias(layer: Layer, rows: int, columns: int) -> bool:
    """Tell whether the kernel takes no bias for zeros: one row in whole tiles, narrow requantization to bytes."""
    rule = Requant.of(layer.attributes)
    return rows == 1 and columns % 4 == 0 and rule.kind == "pulp" and not rule.wide and rule.out_dtype != "int32"


def packed_parts(layer: Layer, matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Weights as the kernel multiplies them, as bytes, and what it adds to each."""
    if layer.inputs[0].spec.dtype in TYPES_16:
        return np.ascontiguousarray(matrix.astype("<i2")).view(np.int8), 0
    stored = offset_weights(matrix)
    assert stored is not None
    return stored


class DenseKernel(KernelForm):
    kernel = "dense"

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        return (*(TileAxis(a) for a in range(rank - 1)), TileAxis(rank - 1, 4))

    def fields(self, call: Arguments, box: Box) -> Fields:
        x = self.layer.inputs[0]
        depth = x.spec.shape[-1]
        return self.product(call, call.load("x", x, Box((*box.start[:-1], 0), (*box.size[:-1], depth))), depth, box)

    def product(self, call: Arguments, x: Pointer, depth: int, box: Box) -> Fields:
        """Rows of `depth` values at x times the weights of the box's channels."""
        layer, weights = self.layer, self.layer.inputs[1].values
        made, columns = box.span(-1), box.size[-1]
        rows, matrix = box.elements // columns, weights.reshape(weights.shape[0], -1)
        stored, offset = packed_parts(layer, matrix)
        row_bytes = depth * layer.inputs[0].spec.itemsize
        weight = call.load_whole("weight", self.constant(f"packed_{made.start}_{columns}", pack_weights(stored[made])))
        folded = folded_bias(layer)
        bias: Pointer | int = 0
        if folded.any() or not _may_omit_bias(layer, rows, columns):
            bias = call.load("bias", self.constant("folded_bias", folded), Box((made.start,), (columns,)))
        copies = (row_bytes % 4 != 0 and rows > 1) or family_of(self.costs.soc.software.kernels).lays_out_rows
        return {
            "x": x, "weight": weight, "bias": bias, **call.scratch(4 * padded(row_bytes) + 4 if copies else 4),
            "rows": rows, "columns": columns, "depth": depth, "x_stride": row_bytes, "depth_stride": padded(row_bytes),
            "y_stride": columns * call.output.spec.itemsize, "weight_offset": offset,
            **call.requant(made, short=self.rounds_short),
        }  # fmt: skip


def slowest_share(tiles: int, partial: int, cores: int, few: int) -> tuple[int, int]:
    """Whole tiles and tiles of `few` rows of the core with most to do; the `partial` ones come last."""
    each, rest = divmod(tiles, cores)
    shares, begin = [], 0
    for core in range(cores):
        end = begin + each + (core < rest)
        at_end = max(0, end - max(begin, tiles - partial))
        shares.append((end - begin - at_end, at_end))
        begin = end
    return max(shares, key=lambda s: 24 * s[0] + DEPTH_INSTRUCTIONS.get(few, 0) * s[1])


def tile_work(rows: int, columns: int, depth: int, kind: str, cores: int, *, staged: bool) -> Work:
    """Register tiles of the slowest core; `staged` counts row blocks that are copied to the scratch area first."""
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    few = rows % 4
    whole, partial = slowest_share(row_blocks * column_tiles, column_tiles if few else 0, cores, few)
    blocks = -(-(whole + partial) // column_tiles)
    work: Work = {"call": 1, "block": blocks}
    if columns < 4:
        outputs = columns * (4 * whole + few * partial)
        return work | {f"narrow_output_{kind}": outputs, "narrow_word": outputs * words(depth)}
    if whole:
        work |= {"tile": whole, f"output_{kind}": 16 * whole, "depth": whole * DEPTH_INSTRUCTIONS[4] * words(depth)}
    if partial:
        # Fewer than four rows are requantized one by one.
        work |= {"few_tile": partial, f"few_output_{kind}": 4 * few * partial}
        work["depth"] = work.get("depth", 0) + partial * DEPTH_INSTRUCTIONS[few] * words(depth)
    if staged:
        work |= {"staged_row": min(4, rows) * blocks, "staged_word": min(4, rows) * blocks * words(depth)}
    return work


@work("dense")
def dense_work(f: Fields, cores: int) -> Work:
    halves = f["x_type"] > INT32
    depth = f["depth"] * (2 if halves else 1)
    staged = f["rows"] > 1 and depth % 4 != 0
    kind = f"{kind_of(f)}_to_halves" if f["requant.wide_result"] == STORED["int16"] else kind_of(f)
    work = tile_work(f["rows"], f["columns"], depth, kind, cores, staged=staged)
    if halves:
        return {f"halves_{name}": count for name, count in work.items()}
    if f["weight_offset"]:
        return summed(work, min(4, f["rows"]), f["depth"])
    # One row of whole tiles has code of its own.
    own = f["rows"] == 1 and f["columns"] % 4 == 0 and f["requant.kind"] == 1 and not f["requant.wide_result"]
    return {f"single_{name}": count for name, count in work.items()} if own else work


def summed(work: Work, rows: int, depth: int) -> Work:
    """Work with a sum of every row, which is added to what its tiles start with: in registers, or in memory."""
    sums = work["block"] * rows
    renamed = {
        f"biased_{name}" if name.startswith("output_") and name != "output_scaled" else name: count
        for name, count in work.items()
    }
    return renamed | {"summed_row": sums, "summed_word": sums * words(depth)}


register("dense", Schedule(applies, DenseKernel), Schedule(applies_int16, DenseKernel))
