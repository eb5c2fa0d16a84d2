"""Products with constant weights on engines that run whole heads: attention in which every position sees itself alone.

The values of a head are a product of its input with weights. Columns that tell positions apart stand behind the input,
queries and keys are these columns alone, and a position's logit is the largest there is where it meets itself, the
smallest elsewhere: its probability is one number, that of all others zero. Multiplied and rounded, values come out
as they went in, and the projection behind them hands them on.

    codes = six columns of +-64, one combination for each of 64 positions
    logits = clip(codes @ codes.T / 8 - 2560)                127 on the diagonal, -128 beside it
    softmax(logits) = 101 on the diagonal, 0 beside it       127 * 1024 // (1024 + 63 * 4)
    (101 * value * 162 + 2^13) >> 14 = value                 off by 0.17 at most before it is rounded

A round gives every engine other columns of the weights: all of them read the same rows. It costs what a head costs,
most of it for products nobody needs, and is still faster than cores that multiply one by one.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import (
    EXACT,
    Box,
    Derived,
    Form,
    Load,
    Local,
    Pointer,
    Recipe,
    Store,
    TileAxis,
    refuse_if,
)
from uma_backends.ita.geometry import TILE, padded, tiles
from uma_backends.ita.heads import (
    SPLIT,
    HeadContext,
    HeadSizes,
    HeadWeights,
    Round,
    check_rule,
    copy_call,
    positions_call,
    split,
)
from uma_backends.ita.ita_form import ENGINE, flattened
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.reference import ItaRequantization

POSITIONS = TILE
CODE_BITS, CODE = 6, 64  # columns that tell positions apart, and their values but for the sign
_AS_IT_IS = ItaRequantization(1, 0)
_LOGITS = ItaRequantization(1, 3, -2560)
_VALUES = ItaRequantization(162, 14)
_ABOVE = 128  # zero is the smallest value of eight bits that are so far below


def head_linear_strategy(layer: Layer, context: HeadContext) -> list[Form]:
    """int8 inputs and results in columns that are multiples of 16, constant int8 weights, one multiplier of 8 bits."""
    made = arithmetic_of(layer)
    columns, depth = made.weights.shape
    refuse_if(
        columns % SPLIT or depth % SPLIT,
        f"it multiplies {depth} by {columns} columns: both are multiples of {SPLIT} on these engines",
    )
    check_rule(made.rule, made.reach)
    return [HeadLinearForm(layer, made, context)]


def codes() -> np.ndarray:
    """[positions][bits]: any two rows differ, so that their product is smaller than a row's with itself."""
    bits = np.arange(POSITIONS)[:, None] >> np.arange(CODE_BITS) & 1
    return np.where(bits, CODE, -CODE).astype(np.int8)


@dataclass(frozen=True)
class HeadLinearForm:
    """Up to 64 rows per tile, their columns by engines."""

    layer: Layer
    arithmetic: LinearArithmetic
    context: HeadContext
    name: str = "linear, positions that see themselves alone"
    engine: str = ENGINE
    derived: Derived = field(default_factory=Derived)
    rounding = EXACT

    @property
    def _depth(self) -> int:
        return int(self.arithmetic.weights.shape[1])

    @property
    def _width(self) -> int:
        """Columns of the input and of the codes behind it."""
        return padded(self._depth + CODE_BITS)

    @cached_property
    def _row_axis(self) -> int | None:
        """The axis of rows, which are cut where there is one of them only."""
        long = [i for i, extent in enumerate(self.layer.outputs[0].spec.shape[:-1]) if extent > 1]
        return long[0] if len(long) == 1 else None

    def axes(self) -> tuple[TileAxis, ...]:
        shape = self.layer.outputs[0].spec.shape
        columns = TileAxis(len(shape) - 1, TILE, self.context.engines * self._width)
        return (columns,) if self._row_axis is None else (columns, TileAxis(self._row_axis, POSITIONS, POSITIONS))

    def bound_cycles(self) -> int:
        rows, columns = flattened(self.layer.outputs[0]).spec.shape
        products = tiles(rows) * tiles(columns) * HeadSizes(POSITIONS, self._width, TILE).product_cycles
        return -(-products // self.context.engines)

    def recipe(self, box: Box) -> Recipe:
        out, columns = self.layer.outputs[0], box.size[-1]
        rows, first = box.elements // columns, box.start[-1]
        row = int(np.ravel_multi_index((0, *box.start[:-1]), (1, *out.spec.shape[:-1])))
        engines = min(self.context.engines, tiles(columns))
        size = TILE * -(-tiles(columns) // engines)
        engines = -(-columns // size)
        sizes = HeadSizes(POSITIONS, self._width, size)
        x = flattened(self.layer.inputs[0])
        block = Load.of(self._operands(sizes, first, 1), "operands")
        left, cores = Load.of(x, "x", Box((row, 0), (rows, self._depth))), self.context.costs.cores
        put = positions_call(sizes, block.local, None, left.local, cores)
        heads = Local("heads", TensorSpec((engines, POSITIONS, self._width), "int8"))
        others = self._operands(sizes, first + size, engines - 1) if engines > 1 else None
        told = None if others is None else (others, 0)
        command = Round(engines, sizes, self._rules, block.local, told, heads)
        job = command.job(rows * columns * self._depth, self.context.parameters)
        y = Local("y", TensorSpec((rows, columns), "int8"))
        fields: dict[str, int | Pointer] = {
            "heads": Pointer(heads),
            "to": Pointer(y),
            "rows": rows,
            "columns": columns,
            "size": size,
            "positions": POSITIONS,
            "pitch": self._width,
        }
        take = copy_call("take", "columns", fields, (heads,), y, rows * columns, cores)
        return Recipe((block, left, put, job, take, Store(y, flattened(out), Box((row, first), (rows, columns)))))

    @property
    def _rules(self) -> tuple[ItaRequantization, ...]:
        """Of Q, K, logits, V, values, output."""
        values = (
            _VALUES
            if self.arithmetic.activation is None
            else ItaRequantization(_VALUES.multiplier, _VALUES.shift, -_ABOVE)
        )
        return (_AS_IT_IS, _AS_IT_IS, _LOGITS, self.arithmetic.rule, values, _AS_IT_IS)

    def _operands(self, sizes: HeadSizes, first: int, count: int) -> Tensor:
        """Operands of `count` engines for columns from `first` on; rows of the input have room in front of codes."""
        ends = range(first, first + count * sizes.p, sizes.p)
        data = b"".join(self._weights(sizes, start).operands(self._positions()) for start in ends)
        name = f"{self.layer.name}_columns{first}_{count}_{sizes.p}"
        return self.derived.constant(name, np.frombuffer(data, np.int8))

    def _positions(self) -> bytes:
        """q and k: codes behind room for the input."""
        both = np.zeros((POSITIONS, self._width), np.int8)
        both[:, self._depth : self._depth + CODE_BITS] = codes()
        return 2 * split(both).tobytes()

    def _weights(self, sizes: HeadSizes, first: int) -> HeadWeights:
        """Of a head that hands columns of the product on."""
        made, bits = self.arithmetic, np.arange(CODE_BITS)
        mine = slice(first, first + sizes.p)
        select = np.zeros((sizes.p, sizes.e), np.int8)
        select[bits, self._depth + bits] = 1
        values = np.zeros((sizes.p, sizes.e), np.int8)
        values[: len(made.weights[mine]), : self._depth] = made.weights[mine]
        bias = np.zeros(sizes.p, np.int64)
        bias[: len(made.bias[mine])] = made.bias[mine]
        none = np.zeros(sizes.p, np.int64)
        above = np.full(sizes.e, 0 if made.activation is None else _ABOVE)
        biases = {"q": none, "k": none, "v": bias, "o": above}
        return HeadWeights(select, select, values, np.eye(sizes.e, sizes.p, dtype=np.int8), biases)
