"""Products of two activations on ITA: the right operand takes the place of the weights.

The engine multiplies rows by rows. A right operand that is not transposed yet is transposed by the cores, tile by tile.
Where the engine has not the requantization or the zero points, sums leave it digit by digit:

    sum of (a - za) * (b - zb)   is   sum of a * b, of -za * b, of a * -zb, and a constant

A panel of the constant -za meets the right operand, the left operand meets a tile of the constant -zb, and the rest is
a bias: all of it is one longer product.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from tvm_pulp.qnn.matmul import MatmulAttributes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Box, Form, Load, Local, Recipe, Step, TileAxis, refuse_if
from uma_backends.ita.command import Panel
from uma_backends.ita.digits import Digits, choose_digits, constants_of
from uma_backends.ita.geometry import BIAS_BYTES, BIAS_OVERREAD, LONGEST_INNER, MOST_TILES, TILE, tiles
from uma_backends.ita.ita_form import Context, Operands, arranged, flattened, native_or_digits
from uma_backends.ita.linear_arithmetic import check_operands, check_reach
from uma_backends.ita.packing import pack_biases
from uma_backends.ita.panels import load_panels, load_transposed, panel_local
from uma_backends.ita.product_form import ProductForm
from uma_backends.ita.requantization import Rule, rule_of


def matmul_strategy(layer: Layer, context: Context) -> list[Form]:
    """int8 by int8, inner length up to 960; no zero points, one multiplier of up to 8 bits and int8 results.

    Others where sums fit the digits that the inner length leaves room for.
    """
    a, b = (t.spec for t in layer.inputs[:2])
    depth, zero_points = a.shape[-1], (MatmulAttributes.of(layer).zero_point_a, MatmulAttributes.of(layer).zero_point_b)
    check_operands(a, b, depth)

    def native() -> Form:
        refuse_if(any(zero_points), "its operands have zero points, which only constant weights can absorb")
        found = rule_of(Requant.of(layer.attributes), layer.inputs[2:4])
        refuse_if(found.negated, "its multiplier is negative, which only constant weights can absorb")
        check_reach((depth << 14) + abs(found.summand))
        return MatmulForm(layer, context, "product", found)

    def by_digits() -> Form:
        digits = product_digits(*constants_of(layer), depth, zero_points)
        rule = Rule(digits.rule(0), depth * prod(zero_points) + digits.offset)
        return MatmulForm(layer, context, "product, digit by digit", rule, (digits,))

    return native_or_digits(native, by_digits)


def product_digits(rule: Requant, constants: Sequence[np.ndarray], depth: int, zero_points: tuple[int, int]) -> Digits:
    """Digits of a product of two activations."""
    reach = depth * (128 + abs(zero_points[0])) * (128 + abs(zero_points[1]))
    check_reach(reach)
    inner = tiles(depth) * (1 + sum(len(_weights_of(-z)) for z in zero_points))
    refuse_if(
        inner > MOST_TILES,
        f"with its zero points it sums over {inner} tiles: the engine's sums are over {MOST_TILES} at most",
    )
    return choose_digits(rule, constants, reach, inner, np.array([depth * prod(zero_points)]))


def _weights_of(factor: int) -> list[int]:
    """A factor as the sum of numbers of 8 bits, none for zero."""
    if factor == 0:
        return []
    return [factor] if -128 <= factor <= 127 else [factor // 2, factor - factor // 2]


@dataclass(frozen=True)
class MatmulForm(ProductForm):
    """One job per tile, or one per digit of it; leading indices one at a time. `arithmetic` adds a constant to sums."""

    @cached_property
    def _factors(self) -> list[list[int]]:
        """Constants that meet the right operand, and those that meet the left one."""
        return [_weights_of(-MatmulAttributes.of(self.layer)[f"zero_point_{side}"]) for side in "ab"]

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        lead = (TileAxis(i, limit=1) for i in range(rank - 2))
        return (TileAxis(rank - 1, TILE, LONGEST_INNER), TileAxis(rank - 2, TILE, LONGEST_INNER, least=1), *lead)

    def bound_cycles(self) -> int:
        *lead, rows, columns = self.layer.outputs[0].spec.shape
        inner = tiles(self.layer.inputs[0].spec.shape[-1]) * (1 + sum(len(factors) for factors in self._factors))
        has_bias = bool(self.digits) and bool(self.arithmetic.summand)
        return prod(lead) * self.busy_cycles(tiles(rows), tiles(columns), [(inner, has_bias)])

    def recipe(self, box: Box) -> Recipe:
        (a, b), out, lead = self.layer.inputs[:2], self.layer.outputs[0], box.start[:-2]
        (row, column), (rows, columns), depth = box.start[-2:], box.size[-2:], a.spec.shape[-1]
        left_loads, left = load_panels("a", flattened(a), _part(a, lead, row, 0, rows, depth), self.context, exact=True)
        if MatmulAttributes.of(self.layer).transpose_b:
            place = _part(b, lead, column, 0, columns, depth)
            right_loads, right = load_panels("b", flattened(b), place, self.context, exact=True)
        else:
            place = _part(b, lead, 0, column, depth, columns)
            right_loads, right = load_transposed("b", flattened(b), place, self.context)
        bias_loads, bias = self._bias(tiles(columns))
        filled, product = self._longer(Operands(left, right, depth, bias), rows)
        steps = self.made_of([product], flattened(out), _part(out, lead, row, column, rows, columns))
        return Recipe(arranged([*left_loads, *right_loads, *filled, *bias_loads, *steps]))

    def _bias(self, count: int) -> tuple[list[Step], Local | None]:
        """The summand before the multiplier, for as many tiles of columns."""
        if not self.arithmetic.summand:
            return [], None
        data = pack_biases(np.full(count * TILE, self.arithmetic.summand)).reshape(count, BIAS_BYTES)
        constant = self.derived.constant(f"{self.layer.name}_ita_summand{count}", data)
        load = Load.of(constant, "bias", slack=BIAS_OVERREAD)
        return [load], load.local

    def _longer(self, product: Operands, rows: int) -> tuple[list[Step], Operands]:
        """The product with what zero points add to it, and the loads of constants for that."""
        (meets_right, meets_left), left = self._factors, product.left
        constants = {f: self._filled(f, rows if f in meets_right else TILE) for f in {*meets_right, *meets_left}}
        long_left = (*left, *(constants[f][1] for f in meets_right for _ in left), *(left * len(meets_left)))
        behind = tuple(constants[f][1] for f in meets_left for _ in left)
        long_right = product.right * (1 + len(meets_right))
        longer = replace(product, left=long_left, right=long_right, shared=behind)
        return [load for load, _ in constants.values()], longer

    def _filled(self, factor: int, rows: int) -> tuple[Step, Panel]:
        local = panel_local(f"all_{'minus_' if factor < 0 else ''}{abs(factor)}", rows)
        data = np.full((rows, TILE), factor, np.int8)
        constant = self.derived.constant(f"{self.layer.name}_ita_{local.name}_{rows}", data)
        return Load(constant, Box.whole((rows, TILE)), local), Panel(local)


def _part(tensor: Tensor, lead: tuple[int, ...], row: int, column: int, rows: int, columns: int) -> Box:
    """Part of the matrix of a leading index, in all rows of a tensor; leading lengths of one are shared."""
    shape = tensor.spec.shape
    own = zip(lead[len(lead) - (len(shape) - 2) :], shape[:-2], strict=True)
    indices = (0, *(index if extent > 1 else 0 for index, extent in own))
    number = int(np.ravel_multi_index(indices, (1, *shape[:-2])))
    return Box((number * shape[-2] + row, column), (rows, columns))
