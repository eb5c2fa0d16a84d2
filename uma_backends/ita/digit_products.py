"""Products whose sums leave the engine digit by digit: the commands, and the step of the cores that joins digits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Derived, Kernel, Load, Local, Step, Store
from uma_backends.ita.command import Panel
from uma_backends.ita.digits import UNIT, Digits
from uma_backends.ita.geometry import BIAS_BYTES, TILE, tiles
from uma_backends.ita.ita_form import Context, row_runs, shifted
from uma_backends.ita.panels import panel_local
from uma_backends.ita.requantization import Rule
from uma_backends.ita.timing import QUEUE_GAP, product_cycles


@dataclass(frozen=True)
class Operands:
    """A product of tiles: panels of the left side, those of the right side per tile of columns, biases."""

    left: tuple[Panel, ...]
    right: Sequence[tuple[Panel, ...]]
    bias: Local | None
    depth: int
    columns: int


@dataclass(frozen=True)
class Portion:
    """Digits of a product whose sums count `factor` times in the sums of a layer."""

    digits: Digits
    factor: int = 1

    def cycles(self, rows: int, columns: int, inner: int, *, has_bias: bool, gap: int = QUEUE_GAP) -> int:
        """Of all passes; sizes in tiles."""
        lengths = [inner + len(self.digits.units(number)) for number in range(len(self.digits.steps))]
        return sum(columns * product_cycles(rows, 1, length, has_bias=has_bias, gap=gap) for length in lengths)


@dataclass(frozen=True)
class DigitProducts:
    """The parts that a layer's tiles have in common; its sums are those of one product or of several."""

    layer: Layer
    portions: tuple[Portion, ...]
    context: Context
    derived: Derived

    def steps(self, operands: Sequence[Operands], y: Tensor, part: Box) -> list[Step]:
        """Loads of constants, jobs, joining and stores for a part of the result, which is a matrix."""
        (_, first), (rows, columns) = part.start, part.size
        unit, loads = self._unit()
        vectors, more = self._constants(first, columns)
        jobs: list[Step] = []
        joined: list[Step] = []
        for column in range(tiles(columns)):
            digits: list[Panel] = []
            for which, (portion, product) in enumerate(zip(self.portions, operands, strict=True)):
                names = [f"digit{which}_{i}_{column}" for i in range(len(portion.digits.steps))]
                made = [Panel(panel_local(name, rows)) for name in names]
                for number in range(len(made)):
                    jobs += self._jobs(portion.digits, product, column, number, made, unit, rows)
                digits += made
            joined += self._joined(digits, vectors, y, part, column)
        return [*loads, *more, *jobs, *joined]

    def _unit(self) -> tuple[Panel, list[Step]]:
        """The diagonal that takes digits away."""
        data = (-UNIT * np.eye(TILE, dtype=np.int64)).astype(np.int8)
        local = Local("unit", TensorSpec((TILE, TILE), "int8"))
        tensor = self.derived.constant(f"{self.layer.name}_ita_unit", data)
        return Panel(local), [Load(tensor, Box.whole((TILE, TILE)), local)]

    def _constants(self, first: int, columns: int) -> tuple[list[list[Local]], list[Step]]:
        """Tensors of the requantization in L1: one part for all columns, or one per tile of them."""
        found: list[list[Local]] = []
        loads: list[Step] = []
        for index, tensor in enumerate(self.layer.inputs[-2:]):
            one = tensor.spec.elements == 1
            found.append([])
            for start in range(0, 1 if one else columns, TILE):
                box = Box((0 if one else first + start,), (1 if one else min(TILE, columns - start),))
                local = Local(f"requant{index}_{start}", TensorSpec(box.size, tensor.spec.dtype))
                loads.append(Load(tensor, box, local))
                found[-1].append(local)
        return found, loads

    def _jobs(
        self,
        digits: Digits,
        operands: Operands,
        column: int,
        number: int,
        made: Sequence[Panel],
        unit: Panel,
        rows: int,
    ) -> list[Step]:
        units = digits.units(number)
        left = (*operands.left, *(made[digit] for digit in units))
        right = (*operands.right[column], *(unit for _ in units))
        # The first digit's job counts as the product.
        per_row = 0 if number else operands.depth * min(TILE, operands.columns - column * TILE)
        return [
            self.context.product(
                (count, 1, len(left)),
                Rule(digits.rule(number)),
                (shifted(left, offset), right, shifted((made[number],), offset)),
                done * per_row,
                operands.bias,
                bias_offset=BIAS_BYTES * column,
            )
            for offset, count, done in row_runs(rows)
        ]

    def _joined(
        self, made: Sequence[Panel], vectors: Sequence[Sequence[Local]], y: Tensor, part: Box, column: int
    ) -> list[Step]:
        (row, first), (rows, columns) = part.start, part.size
        width = min(TILE, columns - column * TILE)
        rule = {k: v for k, v in self.layer.attributes.items() if k.startswith("requant")}
        steps = [p.factor * step for p in self.portions for step in p.digits.steps]
        offset = sum(p.factor * p.digits.offset for p in self.portions)
        attributes: dict[str, Any] = {"steps": steps, "offset": offset, "columns": width}
        tensors = [parts[min(column, len(parts) - 1)] for parts in vectors]
        result = Local(f"joined{column}", TensorSpec((rows, width), y.spec.dtype))
        kernel = Kernel("join_digits", {**attributes, **rule}, (*(p.local for p in made), *tensors), (result,))
        return [
            self.context.on_cores(kernel),
            Store(result, y, Box((row, first + column * TILE), (rows, width))),
        ]
