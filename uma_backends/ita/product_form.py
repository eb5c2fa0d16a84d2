"""Products of tiles: the engine requantizes their sums, or they leave it digit by digit and the cores join them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import EXACT, Box, Derived, Job, Kernel, Load, Local, Step, Store
from uma_backends.ita.command import Panel
from uma_backends.ita.digits import UNIT, Digits
from uma_backends.ita.geometry import BIAS_BYTES, TILE, tiles
from uma_backends.ita.ita_form import ENGINE, ItaContext, Operands, row_runs, shifted
from uma_backends.ita.panels import panel_local, store_panels
from uma_backends.ita.requantization import Rule
from uma_backends.ita.timing import product_cycles


@dataclass(frozen=True)
class ProductForm:
    """A layer whose results are a matrix of products, requantized by the engine or joined by the cores.

    Without `digits` it has the rule and activation of `arithmetic`, else sums are those of a product for each of them.
    """

    layer: Layer
    context: ItaContext
    name: str
    arithmetic: Any
    digits: tuple[Digits, ...] = ()
    engine: str = ENGINE
    derived: Derived = field(default_factory=Derived)
    rounding = EXACT

    def busy_cycles(self, rows: int, columns: int, products: Sequence[tuple[int, bool]]) -> int:
        """Of tiles of the result; of every product the tiles of its inner length, and whether it has biases."""
        if not self.digits:
            ((inner, has_bias),) = products
            return product_cycles(rows, columns, inner, has_bias=has_bias, gap=0)
        return columns * sum(
            product_cycles(rows, 1, inner + len(digits.units(number)), has_bias=has_bias, gap=0)
            for digits, (inner, has_bias) in zip(self.digits, products, strict=True)
            for number in range(len(digits.steps))
        )

    def made_of(self, operands: Sequence[Operands], y: Tensor, part: Box) -> list[Step]:
        """Steps that make a part of the result, which is a matrix, of operands in L1, and store it."""
        if self.digits:
            return self._by_digits(operands, y, part)
        ((rows, columns), (product,)) = part.size, operands
        result, after = store_panels("y", y, part, self.context)
        return [*self._jobs((rows, tiles(columns)), self.arithmetic, product, result, columns), *after]

    def _jobs(
        self,
        sizes: tuple[int, int],
        arithmetic: Any,
        product: Operands,
        result: Sequence[Panel],
        of_row: int,
        bias_offset: int = 0,
    ) -> list[Job]:
        """Jobs of all rows by tiles of columns, as many rows each as the engine takes at once."""
        rows, columns = sizes
        return [
            self.context.product(
                (count, columns),
                arithmetic,
                replace(product, left=shifted(product.left, offset)),
                shifted(result, offset),
                done * of_row,
                bias_offset,
            )
            for offset, count, done in row_runs(rows)
        ]

    def _by_digits(self, operands: Sequence[Operands], y: Tensor, part: Box) -> list[Step]:
        (_, first), (rows, columns) = part.start, part.size
        unit, loads = self._unit()
        vectors, more = self._constants(first, columns)
        jobs: list[Step] = []
        joined: list[Step] = []
        for column in range(tiles(columns)):
            every: list[Panel] = []
            for which, (digits, product) in enumerate(zip(self.digits, operands, strict=True)):
                names = [f"digit{which}_{i}_{column}" for i in range(len(digits.steps))]
                made = [Panel(panel_local(name, rows)) for name in names]
                for number, digit in enumerate(made):
                    units = digits.units(number)
                    left = (*product.left, *(made[before] for before in units))
                    right = (*product.of_column(column), *(unit for _ in units))
                    # The first digit's job counts as the product.
                    of_row = 0 if number else min(TILE, columns - column * TILE)
                    passed = Operands(left, right, product.depth, product.bias)
                    rule = Rule(digits.rule(number))
                    jobs += self._jobs((rows, 1), rule, passed, (digit,), of_row, BIAS_BYTES * column)
                every += made
            joined += self._joined(every, vectors, y, part, column)
        return [*loads, *more, *jobs, *joined]

    def _unit(self) -> tuple[Panel, list[Step]]:
        """The diagonal that takes digits away."""
        data = (-UNIT * np.eye(TILE, dtype=np.int64)).astype(np.int8)
        load = Load.of(self.derived.constant(f"{self.layer.name}_ita_unit", data), "unit")
        return Panel(load.local), [load]

    def _constants(self, first: int, columns: int) -> tuple[list[list[Local]], list[Step]]:
        """Tensors of the requantization in L1: one part for all columns, or one per tile of them."""
        found: list[list[Local]] = []
        loads: list[Step] = []
        for index, tensor in enumerate(self.layer.inputs[-2:]):
            one = tensor.spec.elements == 1
            found.append([])
            for start in range(0, 1 if one else columns, TILE):
                box = Box((0 if one else first + start,), (1 if one else min(TILE, columns - start),))
                loads.append(load := Load.of(tensor, f"requant{index}_{start}", box))
                found[-1].append(load.local)
        return found, loads

    def _joined(
        self, made: Sequence[Panel], vectors: Sequence[Sequence[Local]], y: Tensor, part: Box, column: int
    ) -> list[Step]:
        (row, first), (rows, columns) = part.start, part.size
        width = min(TILE, columns - column * TILE)
        rule = {k: v for k, v in self.layer.attributes.items() if k.startswith("requant")}
        steps = [digits.factor * step for digits in self.digits for step in digits.steps]
        offset = sum(digits.factor * digits.offset for digits in self.digits)
        attributes: dict[str, Any] = {"steps": steps, "offset": offset, "columns": width}
        tensors = [parts[min(column, len(parts) - 1)] for parts in vectors]
        result = Local(f"joined{column}", TensorSpec((rows, width), y.spec.dtype))
        kernel = Kernel("join_digits", {**attributes, **rule}, (*(p.local for p in made), *tensors), (result,))
        return [
            self.context.on_cores(kernel),
            Store(result, y, Box((row, first + column * TILE), (rows, width))),
        ]
