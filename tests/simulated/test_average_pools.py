"""Averages over windows on arrays and on cores: the numbers of generated loops, also where halves go to even results.

onnxruntime sums floats, so that its halves go either way.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.real_models.exported_graph import ExportedGraph

CHANNELS = 20
# Kernel, stride, padding of all sides and whether it counts, and size of the image.
WINDOWS = {
    "2x2": (2, 2, 0, False, 12),
    "2x2, odd image": (2, 2, 0, False, 13),
    "3x3, padding counts": (3, 1, 1, True, 12),
    "3x3, padding does not count": (3, 1, 1, False, 9),
    "3x3 at stride 2": (3, 2, 0, False, 13),
    "1x1 at stride 2": (1, 2, 0, False, 12),
    "5x5": (5, 1, 2, True, 12),
}
ON_ARRAY = ("2x2", "2x2, odd image", "3x3, padding counts", "3x3, padding does not count", "3x3 at stride 2")


def graph(window: str, channels: int) -> tuple[ExportedGraph, tuple[int, ...]]:
    """The pool between two convolutions, as exporters write it: quantizers leave a pool its input's scale."""
    kernel, stride, pad, counts, size = WINDOWS[window]
    g = ExportedGraph("pool")
    shape = (1, channels, size, size)
    x = g.node("Conv", g.input("input", list(shape)), g.parameter(g.normal(channels, channels, 1, 1)))
    sides = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "count_include_pad": int(counts)}
    y = g.node("AveragePool", str(x), **sides)
    out = (size + 2 * pad - kernel) // stride + 1
    y = g.node("Conv", str(y), g.parameter(g.normal(8, channels, 1, 1)))
    g.output(str(y), [1, 8, out, out])
    return g, shape


def form_of(window: str, folder: Path, seed: int, channels: int = CHANNELS, **options: Any) -> str:
    """The form of the pool; results of two inferences are the host's, to the last bit."""
    quantizers = pytest.importorskip("tests.real_models.quantizers")
    g, shape = graph(window, channels)
    rng = np.random.default_rng(seed)
    samples = [{"input": rng.normal(size=shape).astype(np.float32)} for _ in range(3)]
    path = folder / "pool.onnx"
    onnx.save(quantizers.int8(g.model(), samples), path)
    result = tvm_pulp.compile(path, **options).run(samples[0])
    for made, expected in zip(
        result.outputs.values(), tvm_pulp.compile(path).run(samples[0]).outputs.values(), strict=True
    ):
        np.testing.assert_array_equal(made, expected)
    return next(layer["form"] for layer in result.report["layers"] if layer["op"] == "avg_pool")


@pytest.mark.parametrize("window", ["2x2", "3x3, padding does not count", "5x5"])
def test_on_neureka(window: str, tmp_path: Path) -> None:
    form = form_of(window, tmp_path, 0, target="uma-neureka", planner="greedy")
    assert ("depthwise" in form) == (window in ON_ARRAY), form


@pytest.mark.parametrize("l1", ["12k", "8k"])
def test_in_little_l1(l1: str, tmp_path: Path) -> None:
    form = form_of("3x3, padding does not count", tmp_path, 1, target="uma-neureka", l1=l1)
    assert ("averaged by the cores" in form) == (l1 == "12k"), form


@pytest.mark.slow
@pytest.mark.parametrize("channels", [3, CHANNELS, 66])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("target", ["uma-neureka", "uma-ne16", "c"])
def test_everywhere(target: str, window: str, channels: int, tmp_path: Path) -> None:
    for seed in range(2):
        form = form_of(window, tmp_path, seed, channels, target=target, soc=None if target != "c" else "siracusa")
        assert target != "uma-neureka" or window not in ON_ARRAY or channels < CHANNELS or "depthwise" in form, form
