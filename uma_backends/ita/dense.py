"""Products with constant weights on ITA: by the engine's own requantization where it is exact, else digit by digit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import EXACT, Box, Derived, Form, Recipe, TileAxis, refuse_if
from uma_backends.ita.activation_unit import unit_for
from uma_backends.ita.command import panels_of
from uma_backends.ita.digit_products import DigitProducts, Operands
from uma_backends.ita.digits import Digits, choose_digits, constants_of
from uma_backends.ita.geometry import LONGEST_INNER, TILE, TILE_BYTES, tiles
from uma_backends.ita.ita_form import (
    ENGINE,
    Context,
    PackedWeights,
    arranged,
    flattened,
    native_or_digits,
    row_runs,
    shifted,
)
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of, check_sums, folded
from uma_backends.ita.panels import load_panels, store_panels
from uma_backends.ita.reference import Gelu
from uma_backends.ita.timing import product_cycles


def dense_strategy(layer: Layer, context: Context) -> list[Form]:
    """int8 inputs, constant int8 weights, inner length up to 960; one multiplier of up to 8 bits and int8 results.

    Any other requantization where sums fit the digits that the inner length leaves room for.
    """

    def by_digits() -> Form:
        arithmetic, digits = linear_digits(*folded(layer), *constants_of(layer))
        return DenseForm(layer, arithmetic, context, "linear, digit by digit", digits=digits)

    return native_or_digits(lambda: DenseForm(layer, arithmetic_of(layer), context), by_digits)


def dense_activation_strategy(region: Layer, context: Context) -> list[Form]:
    """The product's form with another activation: as dense layers alone, the table is the engine's GELU or ReLU."""
    dense, lookup = region.parts
    found, table = arithmetic_of(dense), lookup.inputs[1].data
    is_signed = table is not None and table.dtype == np.int8 and dense.outputs[0].spec.dtype == "int8"
    refuse_if(not is_signed, "the table behind it is not one of int8")
    assert table is not None
    if found.activation is not None:
        table = table[found.activation.apply(np.arange(-128, 128)) + 128]
    unit = unit_for(table)
    refuse_if(unit is None, "the table behind it is no GELU or ReLU of the engine")
    name = "linear with GELU" if isinstance(unit, Gelu) else "linear with ReLU"
    return [DenseForm(region, replace(found, activation=unit), context, name, first=dense)]


def linear_digits(
    weights: np.ndarray, bias: np.ndarray, rule: Requant, constants: Sequence[np.ndarray]
) -> tuple[LinearArithmetic, Digits]:
    """Constants and digits of sums; the input's zero point is inside the biases."""
    check_sums(weights, bias)
    reach = int((np.abs(weights).sum(axis=1) * 128 + np.abs(bias)).max(initial=1))
    found = choose_digits(rule, constants, reach, tiles(weights.shape[1]), bias)
    return LinearArithmetic(weights.astype(np.int8), bias + found.offset, found.rule(0)), found


@dataclass(frozen=True)
class DenseForm:
    """Rows of panels times packed weights, once per digit; `first` multiplies, `layer` may hold more."""

    layer: Layer
    arithmetic: LinearArithmetic
    context: Context
    name: str = "linear"
    engine: str = ENGINE
    first: Layer | None = None
    digits: Digits | None = None
    rounding = EXACT

    @cached_property
    def _packed(self) -> PackedWeights:
        """Kept per form: names of packed constants are those of the layer."""
        a = self.arithmetic
        return PackedWeights(self.layer.name, a.weights, a.bias if a.has_bias else None)

    @cached_property
    def _products(self) -> DigitProducts | None:
        return None if self.digits is None else DigitProducts(self.layer, self.digits, self.context, Derived())

    @cached_property
    def _row_axis(self) -> int:
        """The first axis of rows that is longer than one: parts of it are runs of rows."""
        shape = self.layer.outputs[0].spec.shape[:-1]
        return next((i for i, extent in enumerate(shape) if extent > 1), 0)

    def axes(self) -> tuple[TileAxis, ...]:
        shape = self.layer.outputs[0].spec.shape
        columns = TileAxis(len(shape) - 1, TILE, LONGEST_INNER)
        if len(shape) == 1:
            return (columns,)
        plain = all(extent == 1 for extent in shape[self._row_axis + 1 : -1])
        return (columns, TileAxis(self._row_axis, TILE if plain else 1, least=1))

    def bound_cycles(self) -> int:
        rows, columns = flattened(self.layer.outputs[0]).spec.shape
        cycles = product_cycles if self._products is None else self._products.cycles
        return cycles(tiles(rows), tiles(columns), self._packed.inner, has_bias=self.arithmetic.has_bias, gap=0)

    def recipe(self, box: Box) -> Recipe:
        x, out = flattened((self.first or self.layer).inputs[0]), self.layer.outputs[0]
        columns, inner = box.size[-1], self._packed.inner
        rows, depth = box.elements // columns, x.spec.shape[1]
        row = int(np.ravel_multi_index((0, *box.start[:-1]), (1, *out.spec.shape[:-1])))
        part = Box((row, box.start[-1]), (rows, columns))
        loads, left = load_panels("x", x, Box((row, 0), (rows, depth)), self.context)
        more, weights, bias = self._packed.load(box.start[-1] // TILE, tiles(columns))
        right = panels_of(weights, inner, TILE_BYTES)
        if self._products is not None:
            per_column = [shifted(right, column * inner * TILE_BYTES) for column in range(tiles(columns))]
            operands = Operands(left, per_column, bias, depth, columns)
            return Recipe(arranged([*loads, *more, *self._products.steps(operands, flattened(out), part)]))
        result, after = store_panels("y", flattened(out), part, self.context)
        jobs = [
            self.context.product(
                (count, tiles(columns), inner),
                self.arithmetic,
                (shifted(left, offset), right, shifted(result, offset)),
                done * depth * columns,
                bias,
                right_stride=inner * TILE_BYTES,
            )
            for offset, count, done in row_runs(rows)
        ]
        return Recipe(arranged([*loads, *more, *jobs, *after]))
