"""Depthwise convolutions of all sizes on eight cores: right, as fast as stated, and as the compiler expected."""

from pathlib import Path
from typing import Any

import pytest

from tests.simulated.single_convolution import Convolution

pytest.importorskip("onnxruntime")


def depthwise(
    kernel: tuple[int, ...],
    size: tuple[int, ...],
    channels: int,
    macs_per_cycle: float,
    multiplier: int = 1,
    **other: Any,
) -> Convolution:
    return Convolution(kernel, size, channels, macs_per_cycle, channels * multiplier, channels, **other)


LAYERS = [
    depthwise((5, 5), (16, 16), 64, 5.0),
    depthwise((5, 5), (8, 8), 96, 4.8, quick=True),
    depthwise((7, 7), (16, 16), 48, 7.0),
    depthwise((7, 7), (8, 8), 96, 7.0),
    depthwise((5, 5), (16, 16), 96, 4.2, stride=2),
    depthwise((7, 7), (16, 16), 64, 6.2, stride=2),
    depthwise((5, 5), (4, 4), 240, 5.3, quick=True),
    depthwise((5, 5), (2, 2), 576, 3.5),
    depthwise((3, 3), (16, 16), 64, 2.1, dilation=2),
    depthwise((5, 5), (16, 16), 32, 5.2, multiplier=2),
    depthwise((1, 9), (16, 16), 64, 1.7),
    depthwise((9, 1), (16, 16), 64, 1.3),
    depthwise((31,), (128,), 64, 3.5),
    depthwise((5, 3), (12, 18), 40, 2.1),
]


@pytest.mark.parametrize(
    "layer",
    [pytest.param(entry, marks=[] if entry.quick else pytest.mark.slow, id=str(i)) for i, entry in enumerate(LAYERS)],
)
def test_depthwise(layer: Convolution, tmp_path: Path) -> None:
    report = layer.run(tmp_path)
    (entry,) = (entry for entry in report["layers"] if entry["op"] == "conv2d")
    assert "depthwise" in entry["form"]
    assert entry["macs"] / entry["busy_cycles"] >= layer.macs_per_cycle
    assert abs(entry["estimated_cycles"] / entry["cycles"] - 1) <= 0.3
