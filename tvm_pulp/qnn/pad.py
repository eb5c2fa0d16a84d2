"""Constant padding of every axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.broadcast import unravel
from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Pad(Operator):
    name = "pad"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        sides = zip(inputs[0].shape, attributes["before"], attributes["after"], strict=True)
        return TensorSpec(tuple(d + b + a for d, b, a in sides), inputs[0].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        sides = list(zip(attributes["before"], attributes["after"], strict=True))
        return np.pad(inputs[0], sides, constant_values=attributes["value"])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, value = Loops(), tirx.const(attributes["value"], output.dtype)
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        before, after = attributes["before"], attributes["after"]
        if len(output.shape) < 2 or math.prod(output.shape[:-1]) == 1:
            with over(loops, output.shape) as indices:
                source, inside = _source(indices, inputs[0].shape, before, after)
                loops.store(y, indices, value)
                with loops.when(tirx.all(*inside) if inside else tirx.const(True, "bool")):
                    loops.store(y, indices, x[tuple(source)])
            return loops.finish("pad")
        size, first, width = inputs[0].shape[-1], before[-1], output.shape[-1]
        with loops.parallel("row", math.prod(output.shape[:-1])) as row:
            lead = [loops.bind("outer", index) for index in unravel(row, output.shape[:-1])]
            source, inside = _source(lead, inputs[0].shape[:-1], before[:-1], after[:-1])

            def fill(start: int, count: int) -> None:
                if count:
                    with loops.loop("i", count) as i:
                        loops.store(y, [*lead, i + start if start else i], value)

            def copy() -> None:
                fill(0, first)
                with loops.loop("i", size) as i:
                    loops.store(y, [*lead, i + first if first else i], x[(*source, i)])
                fill(first + size, width - first - size)

            if inside:
                with loops.when(tirx.all(*inside)):
                    copy()
                with loops.otherwise():
                    fill(0, width)
            else:
                copy()
        return loops.finish("pad")


def _source(
    indices: Sequence[Any], shape: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Where an element comes from, and what must hold for it not to be padding."""
    source, inside = [], []
    for index, size, lead, tail in zip(indices, shape, before, after, strict=True):
        source.append(index - lead if lead else index)
        inside += [index >= lead] if lead else []
        inside += [index < lead + size] if tail else []
    return source, inside
