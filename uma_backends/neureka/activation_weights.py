"""Products of two activations on the array: one of them becomes its weights.

The cores bring it into planes of bits in L1, where the array takes weights from as well; it requantizes sums itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import (
    EXACT,
    Box,
    Call,
    Job,
    Kernel,
    Load,
    Local,
    Pointer,
    Step,
    Store,
    refuse_if,
    step_call,
)
from uma_backends.conv_array import JobForm, rows_of
from uma_backends.conv_array.arithmetic.exact_rounding import ARRAY_SHIFT, ExactFold
from uma_backends.conv_array.arithmetic.requantization import Requantization
from uma_backends.neureka.geometry import Mode, subtiles
from uma_backends.neureka.job import NeurekaJob
from uma_backends.neureka.neureka_form import ACTIVATION_SLACK, NeurekaContext

_INT32 = 1 << 31
# From int8 to uint8, in all bytes of a word.
_FLIP = 0x80808080


def refuse_other_layouts(context: NeurekaContext) -> None:
    """The kernel of the cores knows one layout of weights and what the signs of activations need."""
    geometry = context.timing.geometry
    refuse_if(context.unsigned_only, "its activations have a sign")
    refuse_if(geometry.channels_1x1 != geometry.weight_beat_bytes, "its weights are laid out in another way")


def refuse_other_heads(context: NeurekaContext, size: int, of: dict[str, Tensor]) -> None:
    """Attention is taken of heads of whole words, whose keys and values come to L1."""
    refuse_other_layouts(context)
    refuse_if(size % 4, f"heads of {size} elements are no whole words", "use heads of a multiple of 4 elements")
    refuse_if(any(of[n].storage.level == "l1" for n in "kv"), "its cache lies in L1")


def refuse_without_kernels(form: "ActivationWeights") -> None:
    """Generated C would be slow here."""
    steps = form.recipe(Box.whole(form.layer.outputs[0].spec.shape)).steps
    refuse_if(any(isinstance(s, Kernel) for s in steps), "the cores have no kernel that lays out its weights")


@dataclass(frozen=True)
class ProductRequantization:
    """Requantization of one of the products, in the array's terms; without `how` there is none."""

    how: Requantization | None
    mul: int = 1
    # None: there is no bias, or one that the cores make.
    add: int | None = None
    output_bits: int = 8

    @staticmethod
    def of(rule: Requant, mul: Tensor, add: Tensor, reach: int, added: int = 0) -> "ProductRequantization":
        """`reach`: largest magnitude of a sum of products; `added`: to the result, which then has no sign."""
        refuse_if(rule.kind != "pulp" or rule.wide, f"{rule.kind} requantization rounds in a way the array cannot")
        refuse_if((rule.low, rule.high) != (-128, 127), f"it clips to {rule.low}..{rule.high}")
        refuse_if(mul.spec.elements > 1 or add.spec.elements > 1, "channels are requantized differently")
        factor, summand = int(mul.values.reshape(-1)[0]), int(add.values.reshape(-1)[0]) + (added << rule.shift)
        refuse_if(factor < 0, "a multiplier is negative")
        refuse_if(rule.shift > 31 or reach * factor + abs(summand) >= _INT32, "the product may exceed 32 bits")
        return ProductRequantization(
            Requantization(8 if factor < 256 else 32, rule.shift, relu=bool(added)), factor, summand
        )

    @staticmethod
    def scaled(fold: ExactFold) -> "ProductRequantization":
        """Sums times a scale, for the cores to add and shift."""
        how = Requantization(scale_bits=32, shift=ARRAY_SHIFT, bias=False, relu=False)
        return ProductRequantization(how, int(fold.scale[0]), output_bits=32)


# Sums as they are, and with a bias that the cores make.
RAW = ProductRequantization(None, output_bits=32)
CORRECTED = ProductRequantization(Requantization(scale_bits=8, shift=0, bias=True, relu=False), output_bits=32)


@dataclass(frozen=True)
class Rows:
    """A matrix in L1, or several: where the first begins, bytes between them and between their rows."""

    local: Local
    matrix_stride: int
    stride: int
    is_signed: bool = False
    start: int = 0
    zero_point: int = 0

    @staticmethod
    def new(name: str, spec: TensorSpec, strides: tuple[int, int], extra: int = 0, *, fill: bool = True) -> "Rows":
        """A buffer, `strides` in elements, with room for `extra` rows, which are computed with where they `fill` up."""
        matrix_stride, stride = (spec.itemsize * n for n in strides)
        local = Local(name, spec, ACTIVATION_SLACK + extra * stride, fill=extra * stride if fill else 0)
        return Rows(local, matrix_stride, stride, spec.dtype == "int8")

    def at(self, matrix: int) -> "Rows":
        return replace(self, start=self.start + matrix * self.matrix_stride)


@dataclass(frozen=True)
class Weights:
    """Packed matrices: their bytes each, and what the array adds to unsigned weights."""

    local: Local
    each: int
    offset: int
    start: int = 0

    def at(self, matrix: int) -> "Weights":
        return replace(self, start=self.start + matrix * self.each)


@dataclass(frozen=True)
class Rest:
    """The rule by which the cores round 32-bit results of up to `reach`, and its constants."""

    rule: Requant
    constants: tuple[int, int]
    reach: int = _INT32

    @staticmethod
    def of(rule: Requant, fold: ExactFold) -> "Rest":
        shift = Requant("shift", 0, 0, rule.low, rule.high, dtype=rule.out_dtype)
        return Rest(shift, (int(fold.shift[0]), int(fold.add[0])))


@dataclass(frozen=True)
class Vectors:
    """Scale and bias of all channels of a product, where it has them; the bias from some byte on."""

    scale: Local | None = None
    bias: Local | None = None
    bias_bytes: int = 0

    def of_matrix(self, matrix: int) -> "Vectors":
        """The bias of one of the matrices that the cores made one for."""
        is_made = self.bias is not None and len(self.bias.spec.shape) == 2
        return replace(self, bias_bytes=4 * self.bias.spec.shape[1] * matrix) if self.bias and is_made else self


@dataclass(frozen=True)
class ActivationWeights(JobForm):
    """Steps that forms with activations as weights consist of."""

    context: NeurekaContext
    products: tuple[ProductRequantization, ...]
    rounding = EXACT

    def picture(self, count: int, box: Box) -> tuple[tuple[int, int], int]:
        """Rows of a tile as a picture for the array, and how many more than there are it takes."""
        rows, columns = self.context.rows, self.context.columns
        shape = rows_of(rows, columns, count, box, self.layer.outputs[0].spec.shape)
        return shape, shape[0] * shape[1] - count

    def constant(self, name: str, values: np.ndarray, loads: list[Step], slack: int = 0) -> Local:
        loads.append(load := Load.of(self.derived.constant(f"{self.layer.name}_{name}", values), name, slack=slack))
        return load.local

    def vectors(self, number: int, channels: int, loads: list[Step]) -> Vectors:
        """Constant scale and bias of all channels of a product."""
        product, slack = self.products[number], self.parameter_slack
        if product.how is None:
            return Vectors()
        dtype = np.uint8 if product.how.scale_bits == 8 else np.uint32
        scale = self.constant(f"scale{number}_{channels}", np.full(channels, product.mul, dtype), loads, slack)
        if product.add is None:
            return Vectors(scale)
        add = np.full(channels, product.add, np.int32)
        return Vectors(scale, self.constant(f"bias{number}_{channels}", add, loads, slack))

    def pack(self, name: str, x: Rows, matrices: int, rows: int, depth: int, *, turned: bool) -> tuple[Weights, Step]:
        """Weights of some matrices, and the step that makes them."""
        geometry = self.context.timing.geometry
        beats = subtiles(depth, geometry.channels_1x1) * geometry.weight_beat_bytes
        packed = Local(f"packed_{name}", TensorSpec((matrices * rows * beats,), "uint8"), ACTIVATION_SLACK)
        attributes = {
            "x_offset": x.start, "matrices": matrices, "x_matrix_stride": x.matrix_stride, "rows": rows,
            "depth": depth, "x_stride": x.stride, "y_stride": beats, "turned": int(turned),
            "flip": _FLIP if x.is_signed else 0,
        }  # fmt: skip
        weights = Weights(packed, rows * beats, -x.zero_point - (128 if x.is_signed else 0))
        return weights, self.on_cores(Kernel("bit_planes", attributes, (x.local,), (packed,)))

    def job(
        self, number: int, shape: tuple[int, int], depth: int, channels: int, x: Rows, weights: Weights, y: Rows,
        vectors: Vectors,
    ) -> Job:  # fmt: skip
        """One product."""
        product = self.products[number]
        job = NeurekaJob(
            Mode.POINTWISE, depth, channels, *shape, weight_offset=weights.offset, output_bits=product.output_bits,
            input_signed=x.is_signed, requantization=product.how,
            input_pixel_stride=x.stride, input_row_stride=shape[1] * x.stride, output_pixel_stride=y.stride,
            output_row_stride=shape[1] * y.stride,
        )  # fmt: skip
        scale = Pointer(vectors.scale) if vectors.scale else None
        bias = Pointer(vectors.bias, vectors.bias_bytes) if vectors.bias else None
        moved = (Pointer(weights.local, weights.start), Pointer(x.local, x.start), Pointer(y.local, y.start))
        return self.context.step(self.context.describe(job, *moved, scale, None, bias))

    def corrected(
        self, vectors: Vectors, x: Rows, sizes: tuple[int, int, int], zero_point: int
    ) -> tuple[Vectors, Step]:
        """Vectors with a bias for every row of some matrices: its elements' sum times the other operand's zero point.

        `sizes`: matrices, rows, depth.
        """
        matrices, rows, depth = sizes
        sums = Local("corrections", TensorSpec((matrices, rows), "int32"), self.parameter_slack)
        attributes = {
            "x_offset": x.start, "matrices": matrices, "x_matrix_stride": x.matrix_stride, "rows": rows,
            "x_stride": x.stride, "depth": depth, "y_stride": rows, "x_type": "int8" if x.is_signed else "uint8",
            "factor": -zero_point, "add": -depth * x.zero_point,
        }  # fmt: skip
        return replace(vectors, bias=sums), self.on_cores(Kernel("row_sums", attributes, (x.local,), (sums,)))

    def finish(self, rest: Rest, raw: Local, box: Box, loads: list[Step]) -> list[Step]:
        """Round, add the zero point and clip what the array made."""
        output = self.layer.outputs[0]
        vectors = [
            self.constant(f"rest{number}_{box.size[-1]}", np.full(box.size[-1], value, np.int32), loads)
            for number, value in enumerate(rest.constants)
        ]
        y = Local("y", TensorSpec(box.size, output.spec.dtype))
        attributes = {**rest.rule.attributes(), "zero_point": 0, "axis": len(box.size) - 1, "reach": rest.reach}
        return [self.on_cores(Kernel("requantize", attributes, (raw, *vectors), (y,))), Store(y, output, box)]

    def on_cores(self, kernel: Kernel) -> Kernel | Call:
        return step_call(kernel, self.context.costs)

    def attention(
        self, sizes: tuple[int, int, int], shape: tuple[int, int], operands: tuple[Rows, Rows, Rows, Rows],
        vectors: Sequence[Vectors], weigh: Callable[[range], tuple[Rows, Step, Rows]], together: int, shared: int = 1,
    ) -> list[Step]:  # fmt: skip
        """From q, k and v to results; the logits of heads are made while the cores are at the weights of those before.

        `sizes`: heads, of which `shared` have the same keys and values, keys, elements of a head. `weigh` tells where
        logits of `together` heads go, the step that makes weights of them, and where these are.
        """
        (heads, keys, size), (q, k, v, y) = sizes, operands
        packed_k, pack_k = self.pack("keys", k, heads // shared, keys, size, turned=False)
        packed_v, pack_v = self.pack("values", v, heads // shared, size, keys, turned=True)
        groups: list[tuple[list[Step], list[Step]]] = []
        for first in range(0, heads, together):
            chosen = [(h, h - first, h // shared) for h in range(first, min(first + together, heads))]
            logits, make_weights, weights = weigh(range(first, first + len(chosen)))
            multiply: list[Step] = [
                self.job(0, shape, size, keys, q.at(h), packed_k.at(m), logits.at(n), vectors[0].of_matrix(m))
                for h, n, m in chosen
            ]
            mix = [
                self.job(1, shape, keys, size, weights.at(n), packed_v.at(m), y.at(h), vectors[1]) for h, n, m in chosen
            ]
            groups.append((multiply, [make_weights, *mix]))
        steps = [pack_k, *groups[0][0], pack_v]
        for (_, rest), (following, _) in zip(groups, [*groups[1:], ([], [])], strict=True):
            steps += [*following, *rest]
        return steps
