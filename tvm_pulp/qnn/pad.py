"""Constant padding of every axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

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
        loops = Loops()
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source, inside = [], []
            for index, size, before, after in zip(
                indices, inputs[0].shape, attributes["before"], attributes["after"], strict=True
            ):
                source.append(index - before if before else index)
                inside += [index >= before] if before else []
                inside += [index < before + size] if after else []
            value = tirx.const(attributes["value"], output.dtype)
            loops.store(y, indices, value)
            with loops.when(tirx.all(*inside) if inside else tirx.const(True, "bool")):
                loops.store(y, indices, x[tuple(source)])
        return loops.finish("pad")
