"""A product with constant weights whose result is wanted transposed, head by head: weights are the left operand."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Recipe
from tvm_pulp.uma.strategy import EXACT, Form, Refusal, TileAxis
from uma_backends.ita.command import panels_of
from uma_backends.ita.geometry import LONGEST_INNER, MOST_TILES, TILE, TILE_BYTES, padded, tiles
from uma_backends.ita.ita_form import ENGINE, Context, PackedWeights, arranged, flattened
from uma_backends.ita.jobs import BIAS_BY_ROW
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.panels import load_panels, store_panels
from uma_backends.ita.timing import product_cycles
from uma_backends.ita.transposed_values import TRANSPOSE


def dense_transposed_pattern() -> Any:
    """Heads of a product, positions last."""
    from tvm.relax.dpl import is_op, wildcard

    made = is_op("tvm_pulp.qnn.dense")(varg_default_wildcard=True)
    return is_op("tvm_pulp.qnn.transpose")(is_op("relax.reshape")(made, wildcard()))


def dense_transposed_strategy(region: Layer, context: Context) -> list[Form] | Refusal:
    """One form, for what dense layers may be; heads first, positions last, one sequence."""
    found = _arithmetic(region)
    return Refusal(ENGINE, found) if isinstance(found, str) else [DenseTransposedForm(region, found, context)]


def _arithmetic(region: Layer) -> LinearArithmetic | str:
    dense, transpose = region.parts[0], region.parts[-1]
    if list(transpose.attributes["axes"]) != TRANSPOSE:
        return "its result is moved, but not transposed head by head"
    _, heads, size, positions = transpose.outputs[0].spec.shape
    if transpose.outputs[0].spec.shape[0] != 1 or dense.outputs[0].spec.shape[-1] != heads * size:
        return "it is not one sequence of heads"
    if dense.outputs[0].spec.elements != heads * size * positions:
        return "it is not one sequence of heads"
    return arithmetic_of(dense)


@dataclass(frozen=True)
class DenseTransposedForm:
    """Heads by parts of the positions."""

    layer: Layer
    arithmetic: LinearArithmetic
    context: Context
    name: str = "linear, transposed"
    engine: str = ENGINE
    packed: PackedWeights = field(init=False)
    rounding = EXACT

    def __post_init__(self) -> None:
        heads, size = self._heads
        a, more = self.arithmetic, padded(size) - size
        weights = np.pad(a.weights.reshape(heads, size, -1), ((0, 0), (0, more), (0, 0)))
        bias = np.pad(a.bias.reshape(heads, size), ((0, 0), (0, more))).reshape(-1)
        packed = PackedWeights(self.layer.name, weights.reshape(heads * padded(size), -1), bias if a.has_bias else None)
        object.__setattr__(self, "packed", packed)

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
        return product_cycles(
            heads * tiles(size), tiles(positions), self.packed.inner, has_bias=self.packed.bias is not None
        )

    def recipe(self, box: Box) -> Recipe:
        heads, size = self._heads
        (_, head, _, first), (_, count, _, positions) = box.start, box.size
        x, y = flattened(self.layer.parts[0].inputs[0]), self.layer.outputs[0]
        depth, p = x.spec.shape[1], tiles(size)
        loads, right = load_panels("x", x, Box((first, 0), (positions, depth)), self.context)
        more, weights, bias = self.packed.load(head * p, count * p)
        rows = Tensor(f"{y.name}_rows", TensorSpec((heads * size, y.spec.shape[3]), "int8"), y.kind, view_of=y)
        part = Box((head * size, first), (count * size, positions))
        result, after = store_panels("y", rows, part, self.context, padded(count * size))
        job = self.context.product(
            (count * p, tiles(positions), self.packed.inner),
            self.arithmetic,
            (panels_of(weights, self.packed.inner, TILE_BYTES), right, result),
            count * size * depth * positions,
            bias,
            BIAS_BY_ROW,
            left_stride=self.packed.inner * TILE_BYTES,
        )
        return Recipe(arranged([*loads, *more, job, *after]))
