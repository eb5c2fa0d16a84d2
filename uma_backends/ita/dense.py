"""Products with constant weights on ITA: the pattern, and what a tile loads, starts and stores."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Recipe
from tvm_pulp.uma.strategy import EXACT, TileAxis
from uma_backends.ita.command import panels_of
from uma_backends.ita.geometry import LONGEST_INNER, TILE, TILE_BYTES, tiles
from uma_backends.ita.ita_form import ENGINE, Context, PackedWeights, arranged, flattened, row_runs, shifted
from uma_backends.ita.linear_arithmetic import LinearArithmetic
from uma_backends.ita.panels import load_panels, store_panels
from uma_backends.ita.timing import product_cycles


def dense_pattern() -> Any:
    """One operator; patterns need TVM, so they are made on demand."""
    from tvm.relax.dpl import is_op

    return is_op("tvm_pulp.qnn.dense")(varg_default_wildcard=True)


@dataclass(frozen=True)
class DenseForm:
    """Rows of panels times packed weights; `first` is the operator that multiplies, `layer` may hold more."""

    layer: Layer
    arithmetic: LinearArithmetic
    context: Context
    name: str = "linear"
    engine: str = ENGINE
    first: Layer | None = None
    rounding = EXACT
    # Kept per form: names of packed constants are those of the layer.
    packed: PackedWeights = field(init=False)

    def __post_init__(self) -> None:
        a = self.arithmetic
        object.__setattr__(self, "packed", PackedWeights(self.layer.name, a.weights, a.bias if a.has_bias else None))

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
        rows, columns = self._matrix()
        return product_cycles(tiles(rows), tiles(columns), self.packed.inner, has_bias=self.arithmetic.has_bias)

    def _matrix(self) -> tuple[int, int]:
        spec = self.layer.outputs[0].spec
        return spec.elements // spec.shape[-1], spec.shape[-1]

    def recipe(self, box: Box) -> Recipe:
        x = flattened((self.first or self.layer).inputs[0])
        y = flattened(self.layer.outputs[0])
        columns = box.size[-1]
        rows, depth = box.elements // columns, x.spec.shape[1]
        row = first_row(box, self.layer.outputs[0].spec.shape)
        before, left = load_panels("x", x, Box((row, 0), (rows, depth)), self.context)
        result, after = store_panels("y", y, Box((row, box.start[-1]), (rows, columns)), self.context)
        weight_loads, weights, bias = self.packed.load(box.start[-1] // TILE, tiles(columns))
        right = panels_of(weights, self.packed.inner, TILE_BYTES)
        jobs = [
            self.context.product(
                (count, tiles(columns), self.packed.inner),
                self.arithmetic,
                (shifted(left, offset), right, shifted(result, offset)),
                done * depth * columns,
                bias,
                right_stride=self.packed.inner * TILE_BYTES,
            )
            for offset, count, done in row_runs(rows)
        ]
        return Recipe(arranged([*before, *weight_loads, *jobs, *after]))


def first_row(box: Box, shape: tuple[int, ...]) -> int:
    row = 0
    for start, extent in zip(box.start[:-1], shape[:-1], strict=True):
        row = row * extent + start
    return row
