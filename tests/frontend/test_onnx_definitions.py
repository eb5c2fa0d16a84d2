"""Standard operators by ONNX's own definition, where attributes have defaults or values have no finite answer."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.single_onnx import node_model

RNG = np.random.default_rng(59)
SIMULATED = {"target": "c", "soc": "siracusa"}
INF, NAN = np.float32(np.inf), np.float32(np.nan)
EDGES = np.array([0.0, -0.0, 1, -1, 3.5, -3.5, INF, -INF, NAN, 1e38, -1e-40], np.float32)


def _normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def ran(folder: Path, model: Any, inputs: list[np.ndarray], **target: str) -> list[np.ndarray]:
    onnx.save(model, folder / "model.onnx")
    feeds = {f"x{n}": a for n, a in enumerate(inputs)}
    return list(tvm_pulp.compile(folder / "model.onnx", **target).run(feeds).outputs.values())


def with_infinities() -> np.ndarray:
    """Rows whose sums are infinite, of both signs, or no number."""
    x = _normal(6, 5, 4)
    x[0, 1, 2], x[1, 0, 0], x[3, 0, 0] = INF, -INF, NAN
    x[2, 0, 0], x[2, 1, 0] = INF, -INF
    return x


@pytest.mark.parametrize("axes", [[2], [1], [0, 1, 2]], ids=str)
@pytest.mark.parametrize("target", [{}, SIMULATED], ids=["host", "siracusa"])
def test_mean_of_infinite_sums(tmp_path: Path, axes: list[int], target: dict[str, str]) -> None:
    x = with_infinities()
    (found,) = ran(tmp_path, node_model("ReduceMean", [x], {"axes": np.array(axes)}), [x], **target)
    with np.errstate(invalid="ignore"):
        wanted = x.astype(np.float64).mean(tuple(axes), keepdims=True)
    assert len(axes) == 3 or (np.isposinf(wanted).any() and np.isneginf(wanted).any())
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("target", [{}, SIMULATED], ids=["host", "siracusa"])
def test_remainders_at_zero_infinity_and_what_is_no_number(tmp_path: Path, fmod: int, target: dict[str, str]) -> None:
    a, b = (np.ascontiguousarray(grid) for grid in np.meshgrid(EDGES, EDGES))
    (found,) = ran(tmp_path, node_model("Mod", [a, b], fmod=fmod), [a, b], **target)
    with np.errstate(all="ignore"):
        wanted = np.fmod(a, b) if fmod else np.mod(a, b)
    np.testing.assert_array_equal(found, wanted)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


@pytest.mark.parametrize("opset", [9, 13])
def test_mean_variance_normalization_has_default_axes(tmp_path: Path, opset: int) -> None:
    x = _normal(2, 3, 4, 5)
    (found,) = ran(tmp_path, node_model("MeanVarianceNormalization", [x], opset=opset), [x])
    apart = x - x.mean((0, 2, 3), keepdims=True)
    np.testing.assert_allclose(found, apart / apart.std((0, 2, 3), keepdims=True), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("operator", "wanted"), [("Celu", lambda x: np.where(x > 0, x, np.expm1(x)))])
def test_other_functions_have_their_defaults(tmp_path: Path, operator: str, wanted: Any) -> None:
    x = _normal(3, 4)
    (found,) = ran(tmp_path, node_model(operator, [x]), [x])
    np.testing.assert_allclose(found, wanted(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth(tmp_path: Path, mode: str) -> None:
    x = _normal(2, 3, 4, 6)
    model = node_model("SpaceToDepth", [x], blocksize=2, opset=28, mode=mode)
    (found,) = ran(tmp_path, model, [x])
    apart = x.reshape(2, 3, 2, 2, 3, 2)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    np.testing.assert_array_equal(found, apart.transpose(order).reshape(2, 12, 2, 3))


# Without a ratio, places are counted for every region: 300 KB of C, with which a compiler is busy for six seconds.
ROI_CASES = [
    {"mode": "max", "spatial_scale": 0.5, "sampling_ratio": 2, "coordinate_transformation_mode": "output_half_pixel"},
    {"mode": "avg", "spatial_scale": 0.25, "sampling_ratio": 3},
    pytest.param({"mode": "max", "spatial_scale": 1.0, "sampling_ratio": 2}, marks=pytest.mark.slow),
    pytest.param({"mode": "max", "spatial_scale": 0.5}, marks=pytest.mark.slow),
    pytest.param(
        {"mode": "max", "spatial_scale": 0.5, "coordinate_transformation_mode": "output_half_pixel"},
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize("attributes", ROI_CASES, ids=str)
def test_roi_align(tmp_path: Path, attributes: dict[str, Any]) -> None:
    x = _normal(2, 3, 9, 8)
    rois = np.array([[1, 2, 13, 15], [0, 0, 7, 7], [3, 4, 3, 4], [-2, 5, 40, 50]], np.float32)
    inputs = [x, rois, np.array([0, 1, 1, 0], np.int64)]
    model = node_model("RoiAlign", inputs, output_height=3, output_width=2, **attributes)
    (wanted,) = ReferenceEvaluator(model).run(None, {f"x{n}": a for n, a in enumerate(inputs)})
    (found,) = ran(tmp_path, model, inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_batch_normalization_in_training_mode(tmp_path: Path) -> None:
    inputs = [_normal(3, 4, 5, 2), _normal(4), _normal(4), _normal(4), np.abs(_normal(4))]
    model = node_model("BatchNormalization", inputs, results=3, training_mode=1, epsilon=1e-2, momentum=0.7)
    wanted = ReferenceEvaluator(model).run(None, {f"x{n}": a for n, a in enumerate(inputs)})
    for found, expected in zip(ran(tmp_path, model, inputs), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_has_no_length_stays_zero(tmp_path: Path, p: int, dtype: str) -> None:
    x = _normal(3, 4).astype(dtype)
    x[1] = 0
    (found,) = ran(tmp_path, node_model("LpNormalization", [x], axis=1, p=p), [x])
    lengths = np.linalg.norm(x, ord=p, axis=1, keepdims=True)
    np.testing.assert_allclose(found, np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0), rtol=1e-5)


@pytest.mark.sample(3)
@pytest.mark.parametrize("operator", ["ReduceLogSumExp", "ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions_begin_at_infinity_or_at_the_last_number(tmp_path: Path, operator: str, dtype: str) -> None:
    x = _normal(3, 4).astype(dtype)
    (found,) = ran(tmp_path, node_model(operator, [x], {"axes": np.array([1])}), [x])
    assert found.dtype == np.dtype(dtype)
    plain = {"ReduceMax": np.max, "ReduceMin": np.min}.get(operator, lambda v, **k: np.log(np.exp(v).sum(**k)))
    np.testing.assert_allclose(found, plain(x, axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.sample(2)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300, 0.1], ids=str)
def test_constants_of_two_words_keep_their_bits(tmp_path: Path, value: float) -> None:
    x = np.array([1.0, 2.0])
    (found,) = ran(tmp_path, node_model("Mul", [x], {"c": np.array([value, value])}), [x])
    np.testing.assert_array_equal(found, x * value)


@pytest.mark.parametrize("stated", [None, (1, 2, 5, 6)])
def test_max_unpool(tmp_path: Path, stated: tuple[int, ...] | None) -> None:
    """Pooled and back: every largest value stands where it stood."""
    x = _normal(1, 2, 4, 6)
    windows = x.reshape(1, 2, 2, 2, 3, 2).transpose(0, 1, 2, 4, 3, 5).reshape(1, 2, 2, 3, 4)
    largest, wanted = windows.max(-1), np.zeros(stated or x.shape, np.float32)
    places = np.array([np.flatnonzero(x == v)[0] for v in largest.reshape(-1)]).reshape(largest.shape)
    wanted[:, :, :4, :6] = np.where(np.isin(x, largest), x, 0)
    held = {} if stated is None else {"shape": np.array(stated)}
    model = node_model("MaxUnpool", [largest, places], held, kernel_shape=[2, 2], strides=[2, 2])
    (found,) = ran(tmp_path, model, [largest, places])
    np.testing.assert_array_equal(found, wanted)
