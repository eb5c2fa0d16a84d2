"""ONNX Resize by its own formulas: every result is a weighted sum of a few picked rows and columns.

TVM's operator derives the scale from the sizes; ONNX uses the scale that the file states, which differs where the
product is not an integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import Importer

# Source indices of each output position, and their weights.
Tap = tuple[np.ndarray, np.ndarray]


def resize(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """Nearest, linear and cubic resizing along any axes; crops and antialiasing are refused."""
    given = [*inputs, None, None, None][:4]
    text = {k: v.decode("ascii", "replace") for k, v in attrs.items() if isinstance(v, bytes)}
    mode, place = text.get("mode", "nearest"), text.get("coordinate_transformation_mode", "half_pixel")
    if opset < 11:  # Resize-10 and Upsample: (x, scales), positions without offset
        given, place, text = [given[0], None, given[1], None], "asymmetric", {**text, "nearest_mode": "floor"}
    if mode == "linear" or mode == "bilinear":
        mode = "linear"
    if attrs.get("antialias", 0) or attrs.get("exclude_outside", 0) or mode not in ("nearest", "linear", "cubic"):
        raise UserError(f"Resize: mode '{mode}' with antialiasing or exclude_outside is not supported: export without")
    x = given[0]
    shape = [int(d) for d in x.ty.shape.values]
    axes = [int(a) % len(shape) for a in attrs.get("axes", range(len(shape)))]
    for axis, size, scale in _sizes(given, attrs, text, shape, axes):
        if size == shape[axis] and scale == 1:
            continue
        source = _positions(size, shape[axis], scale, place, is_picked=mode == "nearest")
        if mode == "nearest":
            x = _picked(
                importer, x, _nearest(source, text.get("nearest_mode", "round_prefer_floor"), shape[axis]), axis
            )
            continue
        coefficient = float(attrs.get("cubic_coeff_a", -0.75))
        taps = _linear(source, shape[axis]) if mode == "linear" else _cubic(source, shape[axis], coefficient)
        x = _weighted(importer, x, taps, axis)
    return x


def _sizes(
    given: Sequence[Any], attrs: dict[str, Any], text: dict[str, str], shape: list[int], axes: list[int]
) -> list[tuple[int, int, float]]:
    """(axis, result size, scale) of every axis named."""
    scales, sizes = (constant(g) if g is not None else None for g in given[2:4])
    if scales is None and given[3] is not None and isinstance(given[3], relax.ShapeExpr):
        sizes = np.array([int(v) for v in given[3].values])
    if scales is not None and scales.size:
        if scales.size != len(axes) or not np.isfinite(scales).all() or (scales <= 0).any():
            raise UserError(f"Resize: scales {scales.reshape(-1)[:8].tolist()} do not fit {len(axes)} axes")
        found = [
            (axis, math.floor(np.float32(shape[axis]) * np.float32(s)), float(s))
            for axis, s in zip(axes, scales.reshape(-1), strict=True)
        ]
    elif sizes is not None and sizes.size == len(axes):
        if text.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise UserError("Resize: keep_aspect_ratio_policy is not supported: state the sizes wanted")
        found = [(axis, int(s), int(s) / max(1, shape[axis])) for axis, s in zip(axes, sizes.reshape(-1), strict=True)]
    else:
        raise UserError("Resize: scales or sizes must be constant, one per axis: fold them into the model")
    result = list(shape)
    for axis, size, _ in found:
        result[axis] = size
    check_shape("the result of Resize", result, 4)
    refuse_if(0 in result, f"Resize: the result of shape {result} is empty: check the scales")
    return found


def _positions(size: int, source: int, scale: float, mode: str, *, is_picked: bool = False) -> np.ndarray:
    """Where each output position lies in the input."""
    # Float32, as onnxruntime computes: rounding decides which neighbour is nearest, and ties between weighted sums.
    places, half, step = np.arange(size, dtype=np.float32), np.float32(0.5), np.float32(scale)
    found: np.ndarray
    if mode == "half_pixel":
        found = (places + half) / step - half
    elif mode == "pytorch_half_pixel":
        found = (places + half) / step - half if size > 1 else np.zeros(1, np.float32)
    elif mode == "asymmetric":
        found = places / step
    elif mode == "align_corners":
        found = places * np.float32(source - 1) / np.float32(size - 1) if size > 1 else np.zeros(1, np.float32)
    elif mode == "half_pixel_symmetric":
        offset = source / 2 * (1 - size / (float(step) * source))
        # This one in double precision; what is weighed has its offset rounded, what is picked has not.
        if not is_picked:
            adjustment = np.float32(size) / (step * np.float32(source))
            offset = float(np.float32(source) / np.float32(2) * (np.float32(1) - adjustment))
        found = offset + (places.astype(np.float64) + 0.5) / float(step) - 0.5
    else:
        raise UserError(f"Resize: coordinate_transformation_mode '{mode}' is not supported: use half_pixel")
    return np.asarray(found.astype(np.float32), np.float64)


def _nearest(source: np.ndarray, rounding: str, size: int) -> np.ndarray:
    rules: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "round_prefer_floor": lambda v: np.ceil(v - 0.5),
        "round_prefer_ceil": lambda v: np.floor(v + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    refuse_if(rounding not in rules, f"Resize: nearest_mode '{rounding}' is not supported: use floor")
    return np.clip(rules[rounding](source), 0, size - 1).astype(np.int64)


def _linear(source: np.ndarray, size: int) -> list[Tap]:
    # The same as extending the border: positions outside count as the border.
    limited = np.clip(source, 0, size - 1)
    low = np.floor(limited)
    weight = (limited - low).astype(np.float32)
    high = np.minimum(low + 1, size - 1)
    return [(low.astype(np.int64), np.float32(1) - weight), (high.astype(np.int64), weight)]


def _cubic(source: np.ndarray, size: int, a: float) -> list[Tap]:
    low = np.floor(source)
    t = source - low
    near = [lambda d: ((a + 2) * d - (a + 3)) * d * d + 1, lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a]
    weights = [near[1](t + 1), near[0](t), near[0](1 - t), near[1](2 - t)]
    return [
        (np.clip(low + k - 1, 0, size - 1).astype(np.int64), np.asarray(w, np.float32)) for k, w in enumerate(weights)
    ]


def _picked(importer: Importer, x: Any, indices: np.ndarray, axis: int) -> Any:
    return importer.bb.emit(relax.op.take(x, relax.const(indices), axis=axis))


def _weighted(importer: Importer, x: Any, taps: list[Tap], axis: int) -> Any:
    """Sum of picked rows, each times its weight."""
    rank, total = len(x.ty.shape.values), None
    for indices, weights in taps:
        if not weights.any():
            continue
        part = _picked(importer, x, indices, axis)
        if (weights != 1).any():
            factors = relax.const(weights.reshape([-1 if a == axis else 1 for a in range(rank)]))
            part = importer.bb.emit(relax.op.multiply(part, factors))
        total = part if total is None else importer.bb.emit(relax.op.add(total, part))
    return total
