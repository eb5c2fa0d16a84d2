"""One row times weights of four bits: two columns in a byte, so that half as many bytes come to L1."""

from schedules.cluster.arithmetic import folded_bias, uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, Layer, schedule
from schedules.cluster.dense import DenseKernel
from schedules.kernel_cycles import Work, kind_of, share, words, work
from schedules.packed_weights import has_four_bits, pack_nibbles
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma.recipe import Pointer

# Inputs whose products with bytes of two weights always add up to less than 32 bits.
_DEEPEST = (1 << 31) // (255 * 128)
# Instructions of the loop for a word of the row and four columns, and what they multiply.
_INSTRUCTIONS, _PRODUCTS = 10, 16


def applies(layer: Layer) -> bool:
    """One row of bytes and constant weights of four bits, rounded in 32 bits: two columns in a byte of weights."""
    (x, weight), rule = layer.inputs[:2], Requant.of(layer.attributes)
    if x.spec.dtype not in BYTES or x.spec.elements != x.spec.shape[-1] or weight.data is None:
        return False
    columns, depth = weight.spec.shape
    if columns % 4 or depth % 4 or depth > _DEEPEST or rule.kind != "pulp" or rule.wide or rule.out_dtype not in BYTES:
        return False
    return uniform_requant(layer) and has_four_bits(weight.values)


@schedule("dense", applies, first=True)
class NibbleDenseKernel(DenseKernel):
    kernel = "nibble_dense"

    @property
    def is_offered(self) -> bool:
        """Tell whether these cores wait for weights of eight bits: few multiply those in fewer instructions."""
        columns, depth = self.layer.inputs[1].spec.shape
        products = columns * depth
        work = _INSTRUCTIONS * products // (_PRODUCTS * self.cores)
        return work < self.costs.transfer_cycles(products, products, outward=False)

    def product(self, call: Arguments, x: Pointer, depth: int, box: Box) -> Fields:
        layer, made = self.layer, box.span(-1)
        packed, folded = pack_nibbles(layer.inputs[1].values[made]), folded_bias(layer)
        weight = call.load_whole("weight", self.constant(f"nibbles_{made.start}_{box.size[-1]}", packed))
        fields: Fields = {"x": x, "weight": weight, "bias": 0, "columns": box.size[-1], "depth": depth}
        if folded.any():
            mine = Box((made.start,), (box.size[-1],))
            fields["bias"] = call.load("bias", self.constant("folded_bias", folded), mine)
        return fields | call.requant(made)


@work("nibble_dense")
def nibble_dense_work(f: Fields, cores: int) -> Work:
    tiles = share(f["columns"] // 4, cores)
    depth = tiles * _INSTRUCTIONS * words(f["depth"])
    return {"call": 1, "tile": tiles, f"output_{kind_of(f)}": 4 * tiles, "depth": depth}
