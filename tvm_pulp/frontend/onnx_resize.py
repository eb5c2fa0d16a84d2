"""ONNX Resize by its own formulas: every result is a weighted sum of a few picked rows and columns.

TVM's operator derives the scale from the sizes; ONNX uses the scale that the file states, which differs where the
product is not an integer.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import constant

# Source indices of each output position, and their weights.
Tap = tuple[np.ndarray, np.ndarray]


def resize(c: Conversion) -> Any:
    """Nearest, linear and cubic resizing along any axes; crops and antialiasing are refused."""
    x, _, scales, sizes = c.operands(4)
    mode, place = c.text("mode", "nearest"), c.text("coordinate_transformation_mode", "half_pixel")
    rounding = c.text("nearest_mode", "round_prefer_floor")
    if c.opset < 11:  # Resize-10 and Upsample: (x, scales), positions without offset
        scales, sizes, place, rounding = c.operands(2)[1], None, "asymmetric", "floor"
    mode = "linear" if mode == "bilinear" else mode
    refused = c.attributes.get("antialias", 0) or c.attributes.get("exclude_outside", 0)
    if refused or mode not in ("nearest", "linear", "cubic"):
        raise UserError(f"Resize: mode '{mode}' with antialiasing or exclude_outside is not supported: export without")
    shape = c.shape()
    for axis, size, scale in _sizes(c, scales, sizes):
        if size == shape[axis] and scale == 1:
            continue
        source = _positions(size, shape[axis], scale, place, is_picked=mode == "nearest")
        if mode == "nearest":
            x = c.take(x, _nearest(source, rounding, shape[axis]), axis)
        elif mode == "linear":
            x = _weighted(c, x, _linear(source, shape[axis]), axis)
        else:
            coefficient = float(c.attributes.get("cubic_coeff_a", -0.75))
            x = _weighted(c, x, _cubic(source, shape[axis], coefficient), axis)
    return x


def upsample(c: Conversion) -> Any:
    """The older form of Resize: scales are an attribute or the second operand."""
    x, scales = c.operands(2)
    given = relax.const(np.array(c.attributes.get("scales", ()), np.float32)) if scales is None else scales
    form = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return resize(replace(c, inputs=[x, None, given], attributes={**c.attributes, **form}, opset=11))


def _sizes(c: Conversion, given_scales: Any, given_sizes: Any) -> list[tuple[int, int, float]]:
    """(axis, result size, scale) of every axis named."""
    shape, scales, sizes = c.shape(), constant(given_scales), constant(given_sizes)
    axes = [a % len(shape) for a in c.numbers("axes", range(len(shape)))]
    if scales is None and isinstance(given_sizes, relax.ShapeExpr):
        sizes = np.array([int(v) for v in given_sizes.values])
    if scales is not None and scales.size:
        if scales.size != len(axes) or not np.isfinite(scales).all() or (scales <= 0).any():
            raise UserError(f"Resize: scales {scales.reshape(-1)[:8].tolist()} do not fit {len(axes)} axes")
        found = [
            (axis, math.floor(np.float32(shape[axis]) * np.float32(s)), float(s))
            for axis, s in zip(axes, scales.reshape(-1), strict=True)
        ]
    elif sizes is not None and sizes.size == len(axes):
        if c.text("keep_aspect_ratio_policy", "stretch") != "stretch":
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
    """The place of each output position in the input."""
    # Float32, as onnxruntime computes: rounding decides which neighbour is nearest, and ties between weighted sums.
    places, half, step = np.arange(size, dtype=np.float32), np.float32(0.5), np.float32(scale)
    found: np.ndarray
    if mode in ("pytorch_half_pixel", "align_corners") and size <= 1:
        found = np.zeros(1, np.float32)
    elif mode in ("half_pixel", "pytorch_half_pixel"):
        found = (places + half) / step - half
    elif mode == "asymmetric":
        found = places / step
    elif mode == "align_corners":
        found = places * np.float32(source - 1) / np.float32(size - 1)
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


def _weighted(c: Conversion, x: Any, taps: list[Tap], axis: int) -> Any:
    """Sum of picked rows, each times its weight."""
    shape, total = [-1 if a == axis else 1 for a in range(len(x.ty.shape.values))], None
    for indices, weights in taps:
        if weights.any():
            part = c.take(x, indices, axis)
            if (weights != 1).any():
                part = c.emit(relax.op.multiply(part, relax.const(weights.reshape(shape))))
            total = part if total is None else c.emit(relax.op.add(total, part))
    return total
