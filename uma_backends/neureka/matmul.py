"""Products of two activations: the array multiplies with the second, which the cores pack matrix by matrix."""

import math

from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.uma import Box, Form, Load, Local, Recipe, Step, Store, TileAxis, refuse_if
from uma_backends.neureka.activation_weights import (
    ActivationWeights,
    Product,
    Rows,
    refuse_other_layouts,
    refuse_without_kernels,
)
from uma_backends.neureka.forms import rows_of
from uma_backends.neureka.neureka_form import ACTIVATION_SLACK, Context


def matmul_strategy(layer: Layer, context: Context) -> list[Form]:
    """Products of two 8-bit activations, requantized as the array does it."""
    (a, b), attributes = (t.spec for t in layer.inputs[:2]), layer.attributes
    refuse_other_layouts(context)
    refuse_if(not {a.dtype, b.dtype} <= set(BYTES), "an operand is not 8-bit")
    refuse_if(attributes["zero_point_a"] or attributes["zero_point_b"], "an operand has a zero point")
    alike = a.shape[:-2] == b.shape[:-2]
    refuse_if(not alike, "its matrices are not as many on both sides")
    fours = a.shape[-1] if attributes["transpose_b"] else b.shape[-1]
    refuse_if(fours % 4, f"rows of {fours} weights are no whole words")
    rule = Requant.of(attributes)
    refuse_if(rule.kind != "pulp", f"{rule.kind} requantization rounds in a way the array cannot")
    reach = a.shape[-1] * math.prod(max(-least, most) for least, most in (a.range, b.range))
    mul, add = rule.tensors(layer.inputs)
    product = Product.of(rule, mul, add, reach)
    form = MatmulForm(layer, context, (product,), "1x1 with packed activations as weights")
    refuse_without_kernels(form)
    return [form]


class MatmulForm(ActivationWeights):
    """One job for every matrix, while the cores pack the next."""

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        channels = TileAxis(rank - 1, self.context.timing.geometry.output_channels, least=4)
        return (*(TileAxis(axis) for axis in range(rank - 2)), TileAxis(rank - 2), channels)

    def recipe(self, box: Box) -> Recipe:
        a, b = self.layer.inputs[:2]
        parts, turned = tile_part(self.layer, box).inputs, not self.layer.attributes["transpose_b"]
        output = self.layer.outputs[0]
        *lead, count, columns = box.size
        depth, geometry = a.spec.shape[-1], self.context.timing.geometry
        shape = rows_of(geometry, count, box, output.spec.shape)
        extra = shape[0] * shape[1] - count
        slack = [ACTIVATION_SLACK + extra * n for n in (depth, 0, columns)]
        x, w = (
            Local(n, TensorSpec(p.size, t.spec.dtype), s)
            for n, t, p, s in zip("ab", (a, b), parts, slack, strict=False)
        )
        y = Local("y", TensorSpec(box.size, output.spec.dtype), slack[2])
        loads: list[Step] = [Load(a, parts[0], x), Load(b, parts[1], w)]
        signs = [t.spec.dtype == "int8" for t in (a, b)]
        rows = Rows(x, count * depth, depth, signs[0])
        second = Rows(w, columns * depth, columns if turned else depth, signs[1])
        vectors = self.vectors(0, columns, loads)
        steps: list[Step] = []
        for matrix in range(math.prod(lead)):
            weights, pack = self.pack("b", second.at(matrix), 1, columns, depth, turned=turned)
            made = Rows(y, count * columns, columns).at(matrix)
            steps += [pack, self.job(0, shape, depth, columns, rows.at(matrix), weights, made, vectors)]
        return Recipe((*loads, *steps, Store(y, output, box)), together=math.prod(lead) > 1)
