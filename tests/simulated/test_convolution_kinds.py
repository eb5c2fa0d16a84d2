"""Convolutions along one and three axes, in groups and transposed, on eight cores: right and as fast as stated."""

from pathlib import Path

import pytest

from tests.simulated.single_convolution import Convolution

pytest.importorskip("onnxruntime")

TRANSPOSED = "ConvTranspose"
# Three of them are below two MAC per cycle: of little work per output, so that requantization and padding count.
LAYERS = [
    # Several pictures.
    Convolution((3, 3), (8, 8), 24, 2, 16, batch=2, quick=True),
    # Along one axis.
    Convolution((9,), (128,), 32, 2, 32),
    Convolution((3,), (250,), 24, 2, 40, dilation=4),
    Convolution((80,), (2000,), 1, 2, 16, stride=4),
    # In groups as ResNeXt, ShuffleNet and RegNet have them.
    Convolution((3, 3), (8, 8), 128, 2, 128, groups=32, quick=True),
    Convolution((1, 1), (16, 16), 96, 2, 48, groups=3),
    Convolution((3, 3), (12, 12), 48, 2, 96, groups=2, stride=2),
    Convolution((5, 3), (9, 11), 30, 1.4, 20, groups=10),
    Convolution((9,), (128,), 64, 2, 64, groups=8),
    # Transposed.
    Convolution((2, 2), (16, 16), 32, 2, 16, stride=2, op=TRANSPOSED),
    Convolution((4, 4), (8, 8), 32, 2, 16, stride=2, op=TRANSPOSED),
    Convolution((3, 3), (8, 8), 32, 2, 16, stride=3, op=TRANSPOSED),
    Convolution((3, 3), (16, 16), 16, 2, 24, op=TRANSPOSED),
    Convolution((16,), (64,), 32, 2, 16, stride=8, op=TRANSPOSED),
    Convolution((4, 4), (8, 8), 64, 0.5, 64, groups=64, stride=2, op=TRANSPOSED),
    # Along three axes.
    Convolution((3, 3, 3), (8, 8, 8), 8, 2, 16),
    Convolution((3, 1, 1), (4, 8, 8), 32, 2, 32),
    Convolution((1, 3, 3), (4, 8, 8), 32, 2, 64, stride=2),
    Convolution((3, 3, 3), (4, 8, 8), 32, 2, 32, groups=4, dilation=2),
    Convolution((3, 3, 3), (4, 8, 8), 32, 1.3, 32, groups=32),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "layer",
    [pytest.param(entry, marks=[] if entry.quick else pytest.mark.slow, id=str(i)) for i, entry in enumerate(LAYERS)],
)
def test_convolution(layer: Convolution, tmp_path: Path) -> None:
    assert layer.macs >= 50_000
    assert layer.macs / layer.run(tmp_path)["cycles"] >= layer.macs_per_cycle
