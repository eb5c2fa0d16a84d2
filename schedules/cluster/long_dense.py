"""Products of 16-bit activations whose sums outgrow 32 bits: sums of parts of the depth are added in 64."""

import numpy as np

from schedules.cluster.arithmetic import exact_bias, folded_bias, uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, Layer, schedule
from schedules.cluster.conv2d import UnfoldedConv2d
from schedules.cluster.dense import DEPTH_INSTRUCTIONS, DenseKernel, are_rows, packed_parts, slowest_share
from schedules.kernel_cycles import Work, work
from schedules.kernel_numbers import TYPES_16
from schedules.packed_weights import pack_weights
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.recipe import Pointer

_LIMIT = 1 << 31
# With more parts of the depth than this, adding them up takes as long as their products.
_MOST_PARTS = 16
_BYTES = 2


def part_of_depth(layer: Layer) -> int | None:
    """Values of depth whose products and the bias always fit 32 bits: an even number, or None where there is none."""
    weights = layer.inputs[1].values
    matrix = np.abs(weights.reshape(weights.shape[0], -1).astype(np.int64))
    largest = max(abs(limit) for limit in layer.inputs[0].spec.range)
    room, depth = _LIMIT - int(np.abs(exact_bias(layer)).max(initial=0)), matrix.shape[1]
    for parts in range(1, _MOST_PARTS + 1):
        part = 2 * -(-depth // (2 * parts))
        sums = np.add.reduceat(matrix, range(0, depth, part), axis=1)
        if int(sums.max(initial=0)) * largest < room:
            return part
    return None


def _applies(layer: Layer) -> bool:
    x, weight = layer.inputs[:2]
    if x.spec.dtype not in TYPES_16 or weight.data is None or weight.spec.dtype not in ("int8", "int16"):
        return False
    even = weight.values[0].size % 2 == 0
    return (
        even
        and Requant.of(layer.attributes).kind == "half_up"
        and uniform_requant(layer)
        and bool(part_of_depth(layer))
    )


def applies(layer: Layer) -> bool:
    """16-bit inputs and sums of up to 64 bits: parts of the depth fit 32, results are rounded half up."""
    return are_rows(layer) and _applies(layer)


def applies_unfolded(layer: Layer) -> bool:
    """One group of 16-bit inputs and sums of up to 64 bits."""
    return layer.attributes["groups"] == 1 and _applies(layer)


@schedule("dense", applies)
@schedule("conv2d", applies)
class LongDenseKernel(DenseKernel):
    kernel = "long_dense"

    def product(self, call: Arguments, x: Pointer, depth: int, box: Box) -> Fields:
        layer, weights, part = self.layer, self.layer.inputs[1].values, part_of_depth(self.layer)
        assert part is not None
        made, columns = box.span(-1), box.size[-1]
        stored, _ = packed_parts(layer, weights.reshape(weights.shape[0], -1))
        packed = self.constant(f"packed_{made.start}_{columns}", pack_weights(stored[made]))
        bias = self.constant("folded_bias", folded_bias(layer))
        return {
            "x": x, "weight": call.load_whole("weight", packed),
            "bias": call.load("bias", bias, Box((made.start,), (columns,))),
            "rows": box.elements // columns, "columns": columns, "depth_stride": _BYTES * depth,
            "part": _BYTES * part, "y_stride": columns * call.output.spec.itemsize, **call.requant(made),
        }  # fmt: skip


@schedule("conv2d", applies_unfolded)
class UnfoldedLongConv2d(LongDenseKernel, UnfoldedConv2d):
    label = "im2col + long dense kernel"


@work("long_dense")
def long_dense_work(f: Fields, cores: int) -> Work:
    column_tiles, few = -(-f["columns"] // 4), f["rows"] % 4
    tiles = -(-f["rows"] // 4) * column_tiles
    whole, partial = slowest_share(tiles, column_tiles if few else 0, cores, few)
    words, parts = f["depth_stride"] // 4, -(-f["depth_stride"] // f["part"])
    return {
        "call": 1,
        "tile": whole + partial,
        "part": (whole + partial) * parts,
        "part_output": (16 * whole + 4 * few * partial) * parts,
        "output": (16 * whole + 4 * few * partial) * min(4, f["columns"]) / 4,
        "depth": (whole * DEPTH_INSTRUCTIONS[4] + partial * DEPTH_INSTRUCTIONS.get(few, 0)) * words,
    }
