"""Closeness of a plan's estimate to the measurement."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Accuracy:
    """Relative errors of a report's estimates."""

    cycles: int
    estimated_cycles: int
    network_error: float  # of the total, with its sign
    layer_error: float  # mean over layers of the absolute error
    weighted_layer_error: float  # the same, every layer counting by its cycles


def accuracy_of(report: dict[str, Any]) -> Accuracy:
    """Compare the estimates of a simulated run's report with what was measured."""
    layers = [(layer["estimated_cycles"], layer["cycles"]) for layer in report["layers"]]
    cycles, estimated = report["cycles"], report["estimated_cycles"]
    plain = sum(abs(e - m) / max(1, m) for e, m in layers) / max(1, len(layers))
    weighted = sum(abs(e - m) for e, m in layers) / cycles
    return Accuracy(cycles, estimated, estimated / cycles - 1, plain, weighted)
