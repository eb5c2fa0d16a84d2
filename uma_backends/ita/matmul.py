"""Products of two activations on ITA: the right operand takes the place of the weights.

The engine multiplies rows by rows. A right operand that is not transposed yet is transposed by the cores, tile by tile.
"""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Derived, Load, Local, Recipe, Step
from tvm_pulp.uma.strategy import EXACT, TileAxis
from uma_backends.ita.command import Panel
from uma_backends.ita.geometry import ACCUMULATOR_BITS, BIAS_BYTES, BIAS_OVERREAD, LONGEST_INNER, TILE, tiles
from uma_backends.ita.ita_form import ENGINE, Context, arranged, flattened
from uma_backends.ita.packing import pack_biases
from uma_backends.ita.panels import load_exact_panels, load_transposed, store_panels
from uma_backends.ita.requantization import Rule, rule_of
from uma_backends.ita.timing import product_cycles


def matmul_pattern() -> Any:
    """One operator; patterns need TVM, so they are made on demand."""
    from tvm.relax.dpl import is_op

    return is_op("tvm_pulp.qnn.matmul")(varg_default_wildcard=True)


def matmul_rule(layer: Layer) -> Rule | str:
    """The engine's rule for a product of two activations, or why it has none."""
    a, b = (t.spec for t in layer.inputs[:2])
    if (a.dtype, b.dtype) != ("int8", "int8"):
        return f"it multiplies {a.dtype} by {b.dtype}: the engine multiplies int8 by int8"
    if layer.attributes["zero_point_a"] or layer.attributes["zero_point_b"]:
        return "its operands have zero points, which only constant weights can absorb"
    if a.shape[-1] > LONGEST_INNER:
        return f"its inner length is {a.shape[-1]}: sums of the engine are over {LONGEST_INNER} at most"
    found = rule_of(Requant.of(layer.attributes), layer.inputs[2:4])
    if isinstance(found, str):
        return found
    if found.negated:
        return "its multiplier is negative, which only constant weights can absorb"
    if (a.shape[-1] << 14) + abs(found.summand) >= 1 << (ACCUMULATOR_BITS - 1):
        return f"its accumulator may exceed {ACCUMULATOR_BITS} bits"
    return found


@dataclass(frozen=True)
class MatmulForm:
    """One job per tile; leading indices one at a time."""

    layer: Layer
    rule: Rule
    context: Context
    name: str = "product"
    engine: str = ENGINE
    derived: Derived = field(default_factory=Derived)
    rounding = EXACT

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        lead = (TileAxis(i, limit=1) for i in range(rank - 2))
        return (TileAxis(rank - 1, TILE, LONGEST_INNER), TileAxis(rank - 2, TILE, LONGEST_INNER, least=1), *lead)

    def bound_cycles(self) -> int:
        *lead, rows, columns = self.layer.outputs[0].spec.shape
        inner = tiles(self.layer.inputs[0].spec.shape[-1])
        return prod(lead) * product_cycles(tiles(rows), tiles(columns), inner, has_bias=False)

    def operands(self, box: Box) -> tuple[list[Step], tuple[Panel, ...], tuple[Panel, ...]]:
        """Steps that bring both operands of a tile, and the panels of their rows."""
        (a, b), lead, depth = self.layer.inputs[:2], box.start[:-2], self.layer.inputs[0].spec.shape[-1]
        (row, column), (rows, columns) = box.start[-2:], box.size[-2:]
        before, left = load_exact_panels("a", flattened(a), part(a, lead, row, 0, rows, depth), self.context)
        if self.layer.attributes["transpose_b"]:
            place = part(b, lead, column, 0, columns, depth)
            more, right = load_exact_panels("b", flattened(b), place, self.context)
        else:
            more, right = load_transposed("b", flattened(b), part(b, lead, 0, column, depth, columns), self.context)
        return [*before, *more], left, right

    def recipe(self, box: Box) -> Recipe:
        out, lead, depth = self.layer.outputs[0], box.start[:-2], self.layer.inputs[0].spec.shape[-1]
        (row, column), (rows, columns) = box.start[-2:], box.size[-2:]
        loads, left, right = self.operands(box)
        result, after = store_panels("y", flattened(out), part(out, lead, row, column, rows, columns), self.context)
        sizes = (tiles(rows), tiles(columns), tiles(depth))
        bias_loads, bias = self._bias(sizes[1])
        job = self.context.product(sizes, self.rule, (left, right, result), rows * depth * columns, bias)
        return Recipe(arranged([*loads, *bias_loads, job, *after]))

    def _bias(self, count: int) -> tuple[list[Step], Local | None]:
        """The summand before the multiplier, for as many tiles of columns."""
        if not self.rule.summand:
            return [], None
        name = f"{self.layer.name}_ita_summand{count}"
        data = pack_biases(np.full(count * TILE, self.rule.summand)).reshape(count, BIAS_BYTES)
        constant = self.derived.constant(name, data)
        local = Local("bias", constant.spec, BIAS_OVERREAD)
        return [Load(constant, Box.whole(constant.spec.shape), local)], local


def part(tensor: Tensor, lead: tuple[int, ...], row: int, column: int, rows: int, columns: int) -> Box:
    """Part of the matrix of a leading index, in all rows of a tensor; leading lengths of one are shared."""
    shape = tensor.spec.shape
    number = 0
    for index, extent in zip(lead[len(lead) - (len(shape) - 2) :], shape[:-2], strict=True):
        number = number * extent + (index if extent > 1 else 0)
    return Box((number * shape[-2] + row, column), (rows, columns))
