"""Costs of quantization, together and by layer: noise of the outputs, arg-max agreement, whatever the user measures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.frontend.quantize.calibration_data import Feeds, run_model
from tvm_pulp.frontend.quantize.onnxruntime_quantizer import Quantizer

Metric = Callable[[Any], float]


@dataclass(frozen=True)
class Accuracy:
    """Of a quantized model beside the float one, over the same samples."""

    # Signal to quantization noise of all outputs together, in dB; infinite where they are equal.
    sqnr_db: float
    # Part of the rows of the first output whose largest value is at the same place.
    arg_max_agreement: float
    rows: int
    # What the user's metric says of the float and of the quantized model.
    metric: tuple[float, float] | None = None

    @property
    def loss(self) -> float:
        """The figure that a limit applies to: of the user's metric, relative to float's; else of the arg-max."""
        if self.metric is None:
            return 1 - self.arg_max_agreement
        before, after = self.metric
        return (before - after) / abs(before) if before else before - after


def compare(expected: Sequence[Sequence[np.ndarray]], found: Sequence[Sequence[np.ndarray]]) -> Accuracy:
    """Outputs by sample, then by output."""
    signal = noise = 0.0
    same = rows = 0
    for wanted, given in zip(expected, found, strict=True):
        for place, (a, b) in enumerate(zip(wanted, given, strict=True)):
            real, quantized = a.astype(np.float64), b.astype(np.float64)
            signal += float((real**2).sum())
            noise += float(((real - quantized) ** 2).sum())
            if place == 0 and real.ndim:
                flat = real.reshape(-1, real.shape[-1])
                # Equal values share the first place.
                chosen = quantized.reshape(flat.shape).argmax(-1)
                same += int((np.take_along_axis(flat, chosen[:, None], -1)[:, 0] >= flat.max(-1)).sum())
                rows += flat.shape[0]
    ratio = float("inf") if not noise else 10 * np.log10(max(signal, 1e-300) / noise)
    return Accuracy(float(ratio), same / max(1, rows), rows)


def measure(float_model: Any, quantized: Any, samples: Sequence[Feeds], metric: Metric | None = None) -> Accuracy:
    """Run both."""
    made = compare(run_model(float_model, samples), run_model(quantized, samples))
    return made if metric is None else replace(made, metric=(metric(float_model), metric(quantized)))


@dataclass(frozen=True)
class LayerSensitivity:
    """The network with this layer alone quantized."""

    name: str
    operator: str
    sqnr_db: float
    arg_max_agreement: float


def sensitivity(
    quantizer: Quantizer, samples: Sequence[Feeds], expected: Sequence[Sequence[np.ndarray]]
) -> list[LayerSensitivity]:
    """A row per layer with weights, in the order of the network; `expected` are the outputs of the float model."""
    operators = {node.name: node.op_type for node in quantizer.model.graph.node}
    operators |= {name: gate.operator for name, gate in quantizer.gates.items()}
    rows = []
    for name in quantizer.layers():
        made = compare(expected, run_model(quantizer.quantized(only=name), samples))
        rows.append(LayerSensitivity(name, operators[name], made.sqnr_db, made.arg_max_agreement))
    return rows
