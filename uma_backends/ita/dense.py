"""Products with constant weights on ITA: by the engine's own requantization where it is exact, else digit by digit."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import EXACT, Box, Derived, Form, Recipe, Step, TileAxis, refuse_if
from uma_backends.ita.activation_unit import unit_for
from uma_backends.ita.command import Panel
from uma_backends.ita.digit_products import DigitProducts, Operands
from uma_backends.ita.digits import constants_of
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
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of, folded
from uma_backends.ita.panels import load_panels, store_panels
from uma_backends.ita.portions import LinearPortion, linear_portions
from uma_backends.ita.reference import Gelu
from uma_backends.ita.timing import product_cycles


def dense_strategy(layer: Layer, context: Context) -> list[Form]:
    """int8 inputs, constant int8 weights, inner length up to 960; one multiplier of up to 8 bits and int8 results.

    Any other requantization, and longer ones, where sums fit the digits that the inner length leaves room for, of one
    product or of several.
    """

    def by_digits() -> Form:
        portions = linear_portions(*folded(layer), *constants_of(layer))
        name = "linear, digit by digit" if len(portions) == 1 else f"linear, {len(portions)} products digit by digit"
        return DenseForm(layer, None, context, name, portions=portions)

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


@dataclass(frozen=True)
class DenseForm:
    """Rows of panels times packed weights; `first` multiplies, `layer` may hold more.

    By the engine's own requantization (`arithmetic`), or once per digit of all `portions`.
    """

    layer: Layer
    arithmetic: LinearArithmetic | None
    context: Context
    name: str = "linear"
    engine: str = ENGINE
    first: Layer | None = None
    portions: tuple[LinearPortion, ...] = ()
    rounding = EXACT

    @cached_property
    def _packed(self) -> list[PackedWeights]:
        """Kept per form: names of packed constants are those of the layer."""
        products: tuple[LinearPortion | LinearArithmetic, ...] = (
            self.portions if self.arithmetic is None else (self.arithmetic,)
        )
        suffixes = ["", *(f"_{number}" for number in range(1, len(products)))]
        return [
            PackedWeights(f"{self.layer.name}{suffix}", p.weights, p.bias if p.bias.any() else None, suffix)
            for p, suffix in zip(products, suffixes, strict=True)
        ]

    @cached_property
    def _products(self) -> DigitProducts:
        return DigitProducts(self.layer, tuple(p.portion for p in self.portions), self.context, Derived())

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
        rows, columns = (tiles(extent) for extent in flattened(self.layer.outputs[0]).spec.shape)
        inner = [(p.inner, p.bias is not None) for p in self._packed]
        if self.arithmetic is not None:
            return sum(product_cycles(rows, columns, length, has_bias=biased, gap=0) for length, biased in inner)
        counted = zip(self.portions, inner, strict=True)
        return sum(p.portion.cycles(rows, columns, n, has_bias=biased, gap=0) for p, (n, biased) in counted)

    def recipe(self, box: Box) -> Recipe:
        x, out = flattened((self.first or self.layer).inputs[0]), self.layer.outputs[0]
        columns = box.size[-1]
        rows, depth = box.elements // columns, x.spec.shape[1]
        row = int(np.ravel_multi_index((0, *box.start[:-1]), (1, *out.spec.shape[:-1])))
        part = Box((row, box.start[-1]), (rows, columns))
        loads, left = load_panels("x", x, Box((row, 0), (rows, depth)), self.context)
        if self.arithmetic is None:
            more, operands = self._operands(left, box.start[-1] // TILE, columns)
            return Recipe(arranged([*loads, *more, *self._products.steps(operands, flattened(out), part)]))
        (packed,) = self._packed
        more, right, bias = packed.load(box.start[-1] // TILE, tiles(columns))
        result, after = store_panels("y", flattened(out), part, self.context)
        jobs = [
            self.context.product(
                (count, tiles(columns), packed.inner),
                self.arithmetic,
                (shifted(left, offset), right, shifted(result, offset)),
                done * depth * columns,
                bias,
                right_stride=packed.inner * TILE_BYTES,
            )
            for offset, count, done in row_runs(rows)
        ]
        return Recipe(arranged([*loads, *more, *jobs, *after]))

    def _operands(self, left: tuple[Panel, ...], first: int, columns: int) -> tuple[list[Step], list[Operands]]:
        """Loads of some of the column tiles of weights, and the operands of each product."""
        steps, operands = list[Step](), list[Operands]()
        for portion, packed in zip(self.portions, self._packed, strict=True):
            loads, right, bias = packed.load(first, tiles(columns))
            per_column = [shifted(right, column * packed.inner * TILE_BYTES) for column in range(tiles(columns))]
            steps += loads
            operands.append(Operands(left[portion.panels], per_column, bias, portion.depth, columns))
        return steps, operands
