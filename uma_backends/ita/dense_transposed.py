"""A product with constant weights whose result is wanted transposed, head by head: weights are the left operand."""

from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import EXACT, Box, Form, Recipe, TileAxis, refuse_if
from uma_backends.ita.command import BIAS_BY_ROW
from uma_backends.ita.geometry import LONGEST_INNER, MOST_TILES, TILE, TILE_BYTES, TRANSPOSE, padded, tiles
from uma_backends.ita.ita_form import ENGINE, Context, PackedWeights, arranged, flattened
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.panels import load_panels, store_panels
from uma_backends.ita.timing import product_cycles


def dense_transposed_strategy(region: Layer, context: Context) -> list[Form]:
    """One form, for what dense layers may be; heads first, positions last, one sequence."""
    dense, transpose = region.parts[0], region.parts[-1]
    moves = list(transpose.attributes["axes"])
    refuse_if(moves != TRANSPOSE, "its result is moved, but not transposed head by head")
    made, (count, heads, size, positions) = dense.outputs[0].spec, transpose.outputs[0].spec.shape
    is_sequence = count == 1 and (made.shape[-1], made.elements) == (heads * size, heads * size * positions)
    refuse_if(not is_sequence, "it is not one sequence of heads")
    return [DenseTransposedForm(region, arithmetic_of(dense), context)]


@dataclass(frozen=True)
class DenseTransposedForm:
    """Heads by parts of the positions."""

    layer: Layer
    arithmetic: LinearArithmetic
    context: Context
    name: str = "linear, transposed"
    engine: str = ENGINE
    rounding = EXACT

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
        has_bias = self.arithmetic.has_bias
        return product_cycles(heads * tiles(size), tiles(positions), self._packed.inner, has_bias=has_bias, gap=0)

    def recipe(self, box: Box) -> Recipe:
        size, inner = self._heads[1], self._packed.inner
        (_, head, _, first), (_, count, _, positions) = box.start, box.size
        x, y = flattened(self.layer.parts[0].inputs[0]), flattened(self.layer.outputs[0])
        depth, p = x.spec.shape[1], tiles(size)
        loads, right = load_panels("x", x, Box((first, 0), (positions, depth)), self.context)
        more, weights, bias = self._packed.load(head * p, count * p)
        part = Box((head * size, first), (count * size, positions))
        result, after = store_panels("y", y, part, self.context, padded(count * size))
        job = self.context.product(
            (count * p, tiles(positions), inner),
            self.arithmetic,
            (weights, right, result),
            count * size * depth * positions,
            bias,
            BIAS_BY_ROW,
            left_stride=inner * TILE_BYTES,
        )
        return Recipe(arranged([*loads, *more, job, *after]))
