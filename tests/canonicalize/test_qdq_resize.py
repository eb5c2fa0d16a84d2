"""Resizing between quantized values is one integer operator, and rounds as onnxruntime does."""

import platform

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tests.frontend import quantized_onnx
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")
PLACES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
SCALES = ((2, 2), (4, 4), (3, 2), (1, 2), (0.5, 0.5), (1.3, 0.7))


# onnxruntime's build for Arm adds products without rounding them: it decides ties by what others round away.
FUSES = platform.machine() in ("aarch64", "arm64")
TIE = 1e-4  # of a step


def _difference(g: Builder, place: str, scales: tuple[float, float], mode: str, same_scale: bool) -> np.ndarray:
    """How far results lie from onnxruntime's; where that fuses, nothing but ties may differ, and they do not count."""
    integers = g.integers([1, 6, 20, 24])
    x = g.node("DequantizeLinear", integers)
    factors = g.constant(np.array([1, 1, *scales], np.float32))
    y = g.node("Resize", [x, "", factors], mode=mode, coordinate_transformation_mode=place)
    result = g.node("QuantizeLinear", [y, *integers[1:]]) if same_scale else g.quantized(y)
    model = g.typed_model([result])
    module = canonical(model)
    assert operators(module) <= {"resize", "transpose", "gather", "lookup", "requantize"}
    (expected, real), (found,) = onnxruntime_run(g.typed_model([result, y]), g.feeds), dialect_run(module, g.feeds)
    difference = np.abs(found.astype(int) - expected.astype(int))
    if FUSES:
        (scale,) = (c for c in g.initializers if c.name == g.nodes[-1].input[1])
        steps = real.astype(np.float64) / numpy_helper.to_array(scale)
        difference[(difference == 1) & (np.abs(steps - np.floor(steps) - 0.5) < TIE)] = 0
    return difference


@pytest.mark.parametrize("same_scale", [True, False], ids=["one scale", "two scales"])
@pytest.mark.parametrize("place", PLACES)
def test_linear_agrees_with_onnxruntime(place: str, same_scale: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quantizers keep one scale around a resize: then halves are frequent, and floats decide them."""
    monkeypatch.setattr(quantized_onnx, "OPSETS", [helper.make_opsetid("", 19)])
    for seed, scales in enumerate(SCALES):
        difference = _difference(Builder(np.random.default_rng(seed)), place, scales, "linear", same_scale)
        assert difference.max() <= 1
        assert (difference == 0).mean() >= 0.995, scales


def test_doubling_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one tie is decided differently: a tenth of all values would be, by a fixed rule."""
    monkeypatch.setattr(quantized_onnx, "OPSETS", [helper.make_opsetid("", 19)])
    for seed in range(4):
        assert not _difference(Builder(np.random.default_rng(seed)), "half_pixel", (2, 2), "linear", True).any()


def test_cubic_doubling_agrees_with_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantized_onnx, "OPSETS", [helper.make_opsetid("", 19)])
    difference = _difference(Builder(np.random.default_rng(0)), "half_pixel", (2, 2), "cubic", True)
    assert difference.max() <= 1 and (difference == 0).mean() >= 0.995


def test_a_sum_of_rows_is_not_a_resize() -> None:
    """Weights that do not add up to one stay what they are."""
    g = Builder(np.random.default_rng(0))
    x = g.activation([1, 2, 6, 5])
    rows = [g.node("Gather", [x, g.constant(np.array(i))], axis=2) for i in ([0, 2, 4], [1, 3, 5])]
    halves = [g.node("Mul", [r, g.constant(np.full((1, 1, 3, 1), 0.7, np.float32))]) for r in rows]
    model = g.typed_model([g.quantized(g.node("Add", halves))])
    module = canonical(model)
    assert "resize" not in operators(module)
    (expected,), (found,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    assert np.abs(found.astype(int) - expected.astype(int)).max() <= 1
