"""Concatenation along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Concat(Operator):
    name = "concat"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        shape = list(inputs[0].shape)
        shape[attributes["axis"]] = sum(i.shape[attributes["axis"]] for i in inputs)
        return TensorSpec(tuple(shape), inputs[0].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(list(inputs), axis=attributes["axis"])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, axis = Loops(), attributes["axis"]
        sources = [loops.buffer(f"x{i}", spec) for i, spec in enumerate(inputs)]
        y = loops.buffer("y", output)
        first = 0
        for source, spec in zip(sources, inputs, strict=True):
            with over(loops, spec.shape) as indices:
                target = [index + first if a == axis and first else index for a, index in enumerate(indices)]
                loops.store(y, target, source[tuple(indices)])
            first += spec.shape[axis]
        return loops.finish("concat")
