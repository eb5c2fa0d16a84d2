"""Products of two activations: the array multiplies with the second, which the cores pack matrix by matrix."""

import math
from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.matmul import MatmulAttributes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.uma import Box, Form, Load, Recipe, Step, Store, TileAxis, refuse_if
from uma_backends.conv_array.arithmetic.exact_rounding import fold_exactly
from uma_backends.conv_array.arithmetic.folded_rounding import ROUNDING_RULES, Reach
from uma_backends.neureka.activation_weights import (
    CORRECTED,
    RAW,
    ActivationWeights,
    Product,
    Rest,
    Rows,
    refuse_other_layouts,
    refuse_without_kernels,
)
from uma_backends.neureka.neureka_form import Context


def matmul_strategy(layer: Layer, context: Context) -> list[Form]:
    """Products of two 8-bit activations; the cores round results where frameworks do it otherwise than the array."""
    (a, b), attributes = (t.spec for t in layer.inputs[:2]), MatmulAttributes.of(layer)
    refuse_other_layouts(context)
    refuse_if(not {a.dtype, b.dtype} <= set(BYTES), "an operand is not 8-bit")
    alike = a.shape[:-2] == b.shape[:-2]
    refuse_if(not alike, "its matrices are not as many on both sides")
    fours = a.shape[-1] if attributes.transpose_b else b.shape[-1]
    refuse_if(fours % 4, f"rows of {fours} weights are no whole words")
    rule, rest, name = Requant.of(attributes), None, "1x1 with packed activations as weights"
    ends = [np.array(t.range) - attributes[f"zero_point_{n}"] for n, t in (("a", a), ("b", b))]
    reach = a.shape[-1] * int(np.abs(np.outer(*ends)).max())
    constants = rule.tensors(layer.inputs)
    if rule.kind in ROUNDING_RULES:
        product, rest = _rounded(layer, rule, constants, reach)
    else:
        refuse_if(attributes.zero_point_a != 0, "its first operand has a zero point")
        refuse_if(rule.kind != "pulp", "it delivers 32-bit accumulators")
        mul, add = constants
        product = Product.of(rule, mul, add, reach)
    form = MatmulForm(layer, context, name, (product,), rest)
    refuse_without_kernels(form)
    return [form]


def _rounded(layer: Layer, rule: Requant, constants: list[Tensor], reach: int) -> tuple[Product, Rest]:
    """The part of the array and the rest, which the cores round as the framework does."""
    refuse_if(any(t.spec.elements > 1 for t in constants), "channels are requantized differently")
    refuse_if(reach >= 1 << 31, "its accumulator may exceed 32 bits")
    refuse_if(rule.out_dtype == "int32", "it requantizes to 32 bits")
    first, second = (t.values.reshape(-1) for t in constants)
    exact = Rest(rule, (int(first[0]), int(second[0])), reach)
    if MatmulAttributes.of(layer).zero_point_a:
        why = "its first operand has a zero point, and the second one's columns are no rows"
        refuse_if(not MatmulAttributes.of(layer).transpose_b, why)
        return CORRECTED, exact
    is_fast = layer.outputs[0].spec.shape[-1] % 4 == 0 and rule.out_dtype in BYTES
    sides = Reach(np.array([-reach]), np.array([reach]))
    fold = fold_exactly(rule, first, second, sides, np.zeros(1, np.int64)) if is_fast else None
    return (RAW, exact) if fold is None else (Product.scaled(fold), Rest.of(rule, fold))


@dataclass(frozen=True)
class MatmulForm(ActivationWeights):
    """One job for every matrix, while the cores pack the next; they round the results where the array cannot."""

    rest: Rest | None = None

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        channels = TileAxis(rank - 1, self.context.timing.geometry.output_channels, least=4)
        return (*(TileAxis(axis) for axis in range(rank - 2)), TileAxis(rank - 2), channels)

    def recipe(self, box: Box) -> Recipe:
        a, b = self.layer.inputs[:2]
        parts, turned = tile_part(self.layer, box).inputs, not MatmulAttributes.of(self.layer).transpose_b
        output = self.layer.outputs[0]
        *lead, count, columns = box.size
        depth = a.spec.shape[-1]
        shape, extra = self.picture(count, box)
        zero_points = [MatmulAttributes.of(self.layer)[f"zero_point_{n}"] for n in "ab"]
        x = Rows.new("a", TensorSpec(parts[0].size, a.spec.dtype), (count * depth, depth), extra)
        apart = (columns * depth, columns if turned else depth)
        w = replace(Rows.new("b", TensorSpec(parts[1].size, b.spec.dtype), apart), zero_point=zero_points[1])
        made = TensorSpec(box.size, "int32" if self.rest else output.spec.dtype)
        y = Rows.new("raw" if self.rest else "y", made, (count * columns, columns), extra, fill=False)
        loads: list[Step] = [Load(a, parts[0], x.local), Load(b, parts[1], w.local)]
        vectors = self.vectors(0, columns, loads)
        steps: list[Step] = []
        if zero_points[0]:
            vectors, add_up = self.corrected(vectors, w, (math.prod(lead), columns, depth), zero_points[0])
            steps.append(add_up)
        for matrix in range(math.prod(lead)):
            weights, pack = self.pack("b", w.at(matrix), 1, columns, depth, turned=turned)
            of_matrix = vectors.of_matrix(matrix)
            steps += [pack, self.job(0, shape, depth, columns, x.at(matrix), weights, y.at(matrix), of_matrix)]
        steps += self.finish(self.rest, y.local, box, loads) if self.rest else [Store(y.local, output, box)]
        return Recipe((*loads, *steps), together=math.prod(lead) > 1)
