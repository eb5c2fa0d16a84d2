"""Products with constant weights whose requantization the engine has not: sums leave it digit by digit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Derived, Recipe
from uma_backends.ita.command import Panel
from uma_backends.ita.dense import DenseForm, first_row
from uma_backends.ita.digit_products import DigitProducts, Operands
from uma_backends.ita.digits import Digits, choose_digits
from uma_backends.ita.geometry import TILE, TILE_BYTES, tiles
from uma_backends.ita.ita_form import arranged, flattened
from uma_backends.ita.linear_arithmetic import LinearArithmetic, check_sums, folded
from uma_backends.ita.panels import load_panels


def digits_of(layer: Layer) -> tuple[LinearArithmetic, Digits] | str:
    """Constants and digits of a dense layer, or why its sums cannot leave the engine exactly."""
    made = folded(layer)
    if isinstance(made, str):
        return made
    rule = Requant.of(layer.attributes)
    constants = [t.data for t in layer.inputs[len(layer.inputs) - rule.operands :] if t.data is not None]
    if rule.kind == "none" or len(constants) != rule.operands:
        return "its result has 32 bits, or its requantization is not constant"
    return linear_digits(*made, rule, constants)


def linear_digits(
    weights: np.ndarray, bias: np.ndarray, rule: Requant, constants: Sequence[np.ndarray]
) -> tuple[LinearArithmetic, Digits] | str:
    """The same for numbers alone; the input's zero point is inside the biases."""
    reason = check_sums(weights, bias)
    if reason:
        return reason
    reach = int((np.abs(weights).sum(axis=1) * 128 + np.abs(bias)).max(initial=1))
    found = choose_digits(rule, constants, reach, tiles(weights.shape[1]), bias)
    if isinstance(found, str):
        return found
    return LinearArithmetic(weights.astype(np.int8), bias + found.offset, found.rule(0)), found


@dataclass(frozen=True)
class DenseDigitsForm(DenseForm):
    """As rows of panels times packed weights, once per digit."""

    digits: Digits = field(kw_only=True)

    @cached_property
    def _products(self) -> DigitProducts:
        return DigitProducts(self.layer, self.digits, self.context, Derived())

    def bound_cycles(self) -> int:
        rows, columns = self._matrix()
        has_bias = self.packed.bias is not None
        return self._products.cycles(tiles(rows), tiles(columns), self.packed.inner, has_bias)

    def recipe(self, box: Box) -> Recipe:
        x, y = flattened(self.layer.inputs[0]), flattened(self.layer.outputs[0])
        columns = box.size[-1]
        rows, depth = box.elements // columns, x.spec.shape[1]
        row = first_row(box, self.layer.outputs[0].spec.shape)
        before, left = load_panels("x", x, Box((row, 0), (rows, depth)), self.context)
        more, weights, bias = self.packed.load(box.start[-1] // TILE, tiles(columns))
        inner = self.packed.inner
        right = [
            tuple(Panel(weights, (column * inner + k) * TILE_BYTES) for k in range(inner))
            for column in range(tiles(columns))
        ]
        operands = Operands(left, right, bias, depth, columns)
        steps = self._products.steps(operands, y, Box((row, box.start[-1]), (rows, columns)))
        return Recipe(arranged([*before, *more, *steps]))
