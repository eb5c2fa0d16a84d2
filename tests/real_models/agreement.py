"""How outputs compare with onnxruntime's, in steps of the output's quantization."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import numpy_helper

# Largest difference of an output of a float network, relative to its largest value.
FLOAT_TOLERANCE = 1e-4
_QUANTIZERS = ("QuantizeLinear", "DynamicQuantizeLinear")


@dataclass(frozen=True)
class Agreement:
    """Of all outputs together."""

    # In steps of the output.
    furthest: float
    within_two: float
    equal: float
    same_arg_max: bool
    # About what it was compared with.
    remark: str = ""

    @property
    def is_equal(self) -> bool:
        return self.furthest < 0.01

    @property
    def holds(self) -> bool:
        """At least 99 % of the values within two steps, the same arg-max."""
        return self.within_two >= 0.99 and self.same_arg_max

    def __str__(self) -> str:
        if self.is_equal:
            return f"equal, {self.remark}" if self.remark else "equal"
        largest = "same arg-max" if self.same_arg_max else "OTHER arg-max"
        return f"{self.equal:.1%} equal, {self.within_two:.1%} ≤ 2, at most {self.furthest:.0f} LSB, {largest}"


def output_steps(model: Any) -> dict[str, float | None]:
    """Scale of every output; None where it is not quantized by one scale."""
    constants = {i.name: i for i in model.graph.initializer}
    makers = {output: node for node in model.graph.node for output in node.output}
    steps: dict[str, float | None] = {}
    for output in model.graph.output:
        last = makers.get(output.name)
        steps[output.name] = None
        if last is not None and last.op_type == "DequantizeLinear" and last.input[1] in constants:
            steps[output.name] = float(numpy_helper.to_array(constants[last.input[1]]).max())
    return steps


def _step_of_float(expected: np.ndarray, quantized: bool) -> float:
    """What counts as one step of a float output; a network that is quantized inside knows its range to eight bits."""
    if quantized:
        return max(float(np.ptp(expected)) / 255, 1e-30)
    return FLOAT_TOLERANCE * max(float(np.abs(expected).max(initial=0)), 1e-30)


def compare(model: Any, found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> Agreement:
    """Outputs by name against onnxruntime's; the arg-max is that of the first output along its last axis."""
    steps = output_steps(model)
    quantized = any(node.op_type in _QUANTIZERS for node in model.graph.node)
    distances, same = [], True
    for position, (name, expected) in enumerate(wanted.items()):
        result = found[name].reshape(expected.shape).astype(np.float64)
        step = steps[name] or _step_of_float(expected, quantized)
        distances.append(np.abs(result - expected).reshape(-1) / step)
        if position == 0 and expected.ndim <= 3:
            # Equal outputs share the first place.
            best = np.take_along_axis(result, expected.argmax(-1)[..., None], -1)[..., 0]
            same = bool((best >= result.max(-1) - 1e-6 * np.abs(result).max()).all())
    every = np.concatenate(distances)
    return Agreement(float(every.max()), float((every <= 2.01).mean()), float((every < 0.5).mean()), same)
