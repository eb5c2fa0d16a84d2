"""Products of two activations whose requantization or zero points the engine has not: digit by digit.

    sum of (a - za) * (b - zb)   is   sum of a * b, of -za * b, of a * -zb, and a constant

A panel of the constant -za meets the right operand, the left operand meets a tile of the constant -zb, and the rest is
a bias: all of it is one longer product.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Recipe, Step
from uma_backends.ita.command import Panel
from uma_backends.ita.digit_products import DigitProducts, Operands
from uma_backends.ita.digits import Digits, choose_digits
from uma_backends.ita.geometry import ACCUMULATOR_BITS, LONGEST_INNER, MOST_TILES, TILE, TILE_BYTES, tiles
from uma_backends.ita.ita_form import arranged, flattened
from uma_backends.ita.matmul import MatmulForm, part
from uma_backends.ita.panels import panel_local
from uma_backends.ita.requantization import Rule


def matmul_digits(layer: Layer) -> Digits | str:
    """Digits of a product of two activations, or why its sums cannot leave the engine exactly."""
    a, b = (t.spec for t in layer.inputs[:2])
    if (a.dtype, b.dtype) != ("int8", "int8"):
        return f"it multiplies {a.dtype} by {b.dtype}: the engine multiplies int8 by int8"
    depth = a.shape[-1]
    if depth > LONGEST_INNER:
        return f"its inner length is {depth}: sums of the engine are over {LONGEST_INNER} at most"
    rule = Requant.of(layer.attributes)
    constants = [t.data for t in layer.inputs[2:] if t.data is not None]
    if rule.kind == "none" or len(constants) != rule.operands:
        return "its result has 32 bits, or its requantization is not constant"
    zero_points = (int(layer.attributes["zero_point_a"]), int(layer.attributes["zero_point_b"]))
    return product_digits(rule, constants, depth, zero_points)


def product_digits(
    rule: Requant, constants: Sequence[np.ndarray], depth: int, zero_points: tuple[int, int]
) -> Digits | str:
    """The same for numbers alone."""
    reach = depth * (128 + abs(zero_points[0])) * (128 + abs(zero_points[1]))
    if reach >= 1 << (ACCUMULATOR_BITS - 1):
        return f"its accumulator may exceed {ACCUMULATOR_BITS} bits"
    inner = tiles(depth) * (1 + sum(len(weights_of(-z)) for z in zero_points))
    if inner > MOST_TILES:
        return f"with its zero points it sums over {inner} tiles: the engine's sums are over {MOST_TILES} at most"
    return choose_digits(rule, constants, reach, inner, np.array([depth * zero_points[0] * zero_points[1]]))


def digits_rule(layer: Layer, digits: Digits) -> Rule:
    """The first digit's rule, with what all sums have in common before it."""
    zero_points = (layer.attributes["zero_point_a"], layer.attributes["zero_point_b"])
    return Rule(digits.rule(0), layer.inputs[0].spec.shape[-1] * zero_points[0] * zero_points[1] + digits.offset)


def weights_of(factor: int) -> list[int]:
    """A factor as the sum of numbers of 8 bits, none for zero."""
    if factor == 0:
        return []
    return [factor] if -128 <= factor <= 127 else [factor // 2, factor - factor // 2]


@dataclass(frozen=True)
class MatmulDigitsForm(MatmulForm):
    """As a product, once per digit; the rule adds the constant to sums."""

    digits: Digits = field(kw_only=True)

    @cached_property
    def _products(self) -> DigitProducts:
        return DigitProducts(self.layer, self.digits, self.context, self.derived)

    def bound_cycles(self) -> int:
        *lead, rows, columns = self.layer.outputs[0].spec.shape
        inner = tiles(self.layer.inputs[0].spec.shape[-1]) * (1 + sum(len(f) for f in self._factors))
        return int(np.prod(lead, initial=1)) * self._products.cycles(
            tiles(rows), tiles(columns), inner, bool(self.rule.summand)
        )

    @property
    def _factors(self) -> list[list[int]]:
        """Constants that meet the right operand, and those that meet the left one."""
        return [weights_of(-self.layer.attributes[f"zero_point_{side}"]) for side in "ab"]

    def recipe(self, box: Box) -> Recipe:
        out, lead, depth = self.layer.outputs[0], box.start[:-2], self.layer.inputs[0].spec.shape[-1]
        (row, column), (rows, columns) = box.start[-2:], box.size[-2:]
        loads, left, right = self.operands(box)
        meets_right, meets_left = self._factors
        constants = {f: self._filled(f, rows if f in meets_right else TILE) for f in {*meets_right, *meets_left}}
        long_left = (*left, *(constants[f][1] for f in meets_right for _ in left), *(left * len(meets_left)))
        behind = tuple(constants[f][1] for f in meets_left for _ in left)
        long_right = []
        for number in range(tiles(columns)):
            own = tuple(Panel(p.local, p.offset + number * TILE_BYTES) for p in right)
            long_right.append((*(own * (1 + len(meets_right))), *behind))
        bias_loads, bias = self._bias(tiles(columns))
        operands = Operands(long_left, long_right, bias, depth, columns)
        place = part(out, lead, row, column, rows, columns)
        filled = [load for load, _ in constants.values()]
        steps = self._products.steps(operands, flattened(out), place)
        return Recipe(arranged([*loads, *filled, *bias_loads, *steps]))

    def _filled(self, factor: int, rows: int) -> tuple[Step, Panel]:
        """Rows of a constant."""
        local = panel_local(f"all_{'minus_' if factor < 0 else ''}{abs(factor)}", rows)
        constant = self.derived.constant(
            f"{self.layer.name}_ita_{local.name}_{rows}", np.full((rows, TILE), factor, np.int8)
        )
        return Load(constant, Box.whole((rows, TILE)), local), Panel(local)
