"""A product with constant weights whose result is wanted transposed, head by head: weights are the left operand."""

from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.qnn.indexing import TransposeAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Box, Form, Recipe, TileAxis, refuse_if
from uma_backends.ita.geometry import LONGEST_INNER, MOST_TILES, TILE, TRANSPOSE, tiles
from uma_backends.ita.ita_form import Context, PackedWeights, arranged, flattened
from uma_backends.ita.linear_arithmetic import arithmetic_of
from uma_backends.ita.panels import load_panels
from uma_backends.ita.product_form import ProductForm


def dense_transposed_strategy(region: Layer, context: Context) -> list[Form]:
    """One form, for what dense layers may be; heads first, positions last, one sequence."""
    dense, transpose = region.parts[0], region.parts[-1]
    moves = list(TransposeAttributes.of(transpose).axes)
    refuse_if(moves != TRANSPOSE, "its result is moved, but not transposed head by head")
    made, (count, heads, size, positions) = dense.outputs[0].spec, transpose.outputs[0].spec.shape
    is_sequence = count == 1 and (made.shape[-1], made.elements) == (heads * size, heads * size * positions)
    refuse_if(not is_sequence, "it is not one sequence of heads")
    return [DenseTransposedForm(region, context, "linear, transposed", arithmetic_of(dense))]


@dataclass(frozen=True)
class DenseTransposedForm(ProductForm):
    """Heads by parts of the positions."""

    @cached_property
    def _packed(self) -> PackedWeights:
        return PackedWeights.of_heads(self.layer.name, self.arithmetic, self._heads[0])

    @property
    def _heads(self) -> tuple[int, int]:
        _, heads, size, _ = self.layer.outputs[0].spec.shape
        return heads, size

    def axes(self) -> tuple[TileAxis, ...]:
        size = self._heads[1]
        # Rows of several heads follow each other where heads are whole tiles.
        together = max(1, MOST_TILES // tiles(size)) if size % TILE == 0 else 1
        return (TileAxis(3, TILE, LONGEST_INNER), TileAxis(1, limit=together))

    def bound_cycles(self) -> int:
        (heads, size), positions = self._heads, self.layer.outputs[0].spec.shape[3]
        product = (self._packed.inner, self._packed.has_bias)
        return self.busy_cycles(heads * tiles(size), tiles(positions), [product])

    def recipe(self, box: Box) -> Recipe:
        size = self._heads[1]
        (_, head, _, first), (_, count, _, positions) = box.start, box.size
        x, y = flattened(self.layer.parts[0].inputs[0]), flattened(self.layer.outputs[0])
        loads, right = load_panels("x", x, Box((first, 0), (positions, x.spec.shape[1])), self.context)
        more, product = self._packed.times(right, head * tiles(size), count * tiles(size), are_left=True)
        part = Box((head * size, first), (count * size, positions))
        return Recipe(arranged([*loads, *more, *self.made_of([product], y, part)]))
