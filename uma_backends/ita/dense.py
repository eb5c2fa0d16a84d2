"""Products with constant weights on ITA: by the engine's own requantization where it is exact, else digit by digit."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Box, Form, Recipe, TileAxis, refuse_if
from uma_backends.ita.activation_unit import unit_for
from uma_backends.ita.digits import constants_of
from uma_backends.ita.geometry import LONGEST_INNER, TILE, tiles
from uma_backends.ita.ita_form import ItaContext, Operands, PackedWeights, arranged, flattened, native_or_digits
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of, folded
from uma_backends.ita.panels import load_panels
from uma_backends.ita.portions import LinearPortion, linear_portions
from uma_backends.ita.product_form import ProductForm
from uma_backends.ita.reference import ItaGelu


def dense_strategy(layer: Layer, context: ItaContext) -> list[Form]:
    """int8 inputs, constant int8 weights, inner length up to 960; one multiplier of up to 8 bits and int8 results.

    Any other requantization, and longer ones, where sums fit the digits that the inner length leaves room for, of one
    product or of several.
    """

    def by_digits() -> Form:
        portions = linear_portions(*folded(layer), *constants_of(layer))
        name = "linear, digit by digit" if len(portions) == 1 else f"linear, {len(portions)} products digit by digit"
        return PanelForm(layer, context, name, None, tuple(p.digits for p in portions), products=portions)

    def native() -> Form:
        made = arithmetic_of(layer)
        return PanelForm(layer, context, "linear", made, products=(made,))

    return native_or_digits(native, by_digits)


def dense_activation_strategy(region: Layer, context: ItaContext) -> list[Form]:
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
    name = "linear with GELU" if isinstance(unit, ItaGelu) else "linear with ReLU"
    made = replace(found, activation=unit)
    return [PanelForm(region, context, name, made, products=(made,), first=dense)]


@dataclass(frozen=True)
class PanelForm(ProductForm):
    """Rows of panels times packed weights; `first` multiplies, `layer` may hold more."""

    products: tuple[LinearArithmetic | LinearPortion, ...] = ()
    first: Layer | None = None

    @cached_property
    def _packed(self) -> list[PackedWeights]:
        """Kept per form: names of packed constants are those of the layer."""
        suffixes = ["", *(f"_{number}" for number in range(1, len(self.products)))]
        return [
            PackedWeights(f"{self.layer.name}{suffix}", p.weights, p.bias, suffix)
            for p, suffix in zip(self.products, suffixes, strict=True)
        ]

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
        return self.busy_cycles(rows, columns, [(p.inner, p.has_bias) for p in self._packed])

    def recipe(self, box: Box) -> Recipe:
        x, y = flattened((self.first or self.layer).inputs[0]), flattened(self.layer.outputs[0])
        first, columns = box.start[-1], box.size[-1]
        row = int(np.ravel_multi_index((0, *box.start[:-1]), (1, *self.layer.outputs[0].spec.shape[:-1])))
        rows = box.elements // columns
        steps, left = load_panels("x", x, Box((row, 0), (rows, x.spec.shape[1])), self.context)
        operands: list[Operands] = []
        for product, packed in zip(self.products, self._packed, strict=True):
            loads, made = packed.times(left[product.panels], first // TILE, tiles(columns))
            steps += loads
            operands.append(replace(made, depth=product.depth))
        return Recipe(arranged([*steps, *self.made_of(operands, y, Box((row, first), (rows, columns)))]))
