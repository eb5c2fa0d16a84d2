"""Operators on images whose attributes TVM's converter ignores or reads otherwise than ONNX does."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from tvm_pulp import qnn
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import dtype_of
from tvm_pulp.window import Window

# No value is smaller, but for infinity.
_LOWEST = float(np.finfo(np.float32).min)


def batch_norm(c: Conversion) -> Any:
    """In training mode the batch is normalized by its own mean and variance, which also move the running ones."""
    if not c.attributes.get("training_mode", 0):
        refuse_if(
            c.opset < 14 and c.results > 1,
            "its further results are those of training: export the model for inference (model.eval())",
        )
        return c.stock()
    x, scale, bias, running_mean, running_variance = c.inputs[:5]
    shape, dtype = c.shape(), dtype_of(x)
    axes, rows = [a for a in range(len(shape)) if a != 1], [1, shape[1], *[1] * (len(shape) - 2)]
    epsilon, momentum = (float(c.attributes.get(k, d)) for k, d in (("epsilon", 1e-5), ("momentum", 0.9)))

    def number(value: float) -> Any:
        return relax.const(value, dtype)

    def moved(old: Any, new: Any) -> Any:
        kept, added = relax.op.multiply(old, number(momentum)), relax.op.multiply(new, number(1 - momentum))
        return c.emit(relax.op.add(c.emit(kept), c.emit(added)))

    mean = c.emit(relax.op.mean(x, axes, keepdims=True))
    apart = c.emit(relax.op.subtract(x, mean))
    variance = c.emit(relax.op.mean(c.emit(relax.op.multiply(apart, apart)), axes, keepdims=True))
    root = c.emit(relax.op.sqrt(c.emit(relax.op.add(variance, number(epsilon)))))
    factors = [c.emit(relax.op.reshape(v, rows)) for v in (scale, bias)]
    made = c.emit(relax.op.multiply(c.emit(relax.op.divide(apart, root)), factors[0]))
    flat = [c.emit(relax.op.reshape(v, [shape[1]])) for v in (mean, variance)]
    results = [c.emit(relax.op.add(made, factors[1]))]
    results += [moved(old, new) for old, new in zip((running_mean, running_variance), flat, strict=True)]
    return relax.Tuple(results[: c.results]) if c.results > 1 else results[0]


def space_to_depth(c: Conversion) -> Any:
    """Blocks of pixels as channels: those of a place in the block together, or those of a channel (`CRD`)."""
    block, mode, shape = int(c.attributes.get("blocksize", 0)), c.text("mode", "DCR"), c.shape()
    fits = len(shape) == 4 and block > 0 and shape[2] % block == shape[3] % block == 0
    refuse_if(not fits, f"blocks of {block} do not fit shape {shape}: export the model again")
    refuse_if(mode not in ("DCR", "CRD"), f"mode '{mode}' is neither DCR nor CRD: export the model again")
    n, channels, height, width = shape
    rows, columns = height // block, width // block
    apart = c.emit(relax.op.reshape(c.inputs[0], [n, channels, rows, block, columns, block]))
    moved = c.emit(relax.op.permute_dims(apart, [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4]))
    return relax.op.reshape(moved, [n, channels * block * block, rows, columns])


def max_unpool(c: Conversion) -> Any:
    """Values at the places where they were the largest, in the shape that was pooled, or that the node states."""
    x, indices, stated = c.operands(3)
    shape, kernel = c.shape(), c.numbers("kernel_shape", [])
    axes = len(shape) - 2
    strides, pads = c.numbers("strides", [1] * axes), c.numbers("pads", [0] * 2 * axes)
    refuse_if(
        not len(kernel) == len(strides) == axes or len(pads) != 2 * axes,
        f"kernel_shape {kernel}, strides {strides} and pads {pads} do not fit shape {shape}: export the model again",
    )
    pooled = [
        Window(window, stride, 1, before, after).transposed_extent(size)
        for size, stride, window, before, after in zip(
            shape[2:], strides, kernel, pads[:axes], pads[axes:], strict=True
        )
    ]
    wanted = [*shape[:2], *pooled]
    if stated is not None:
        given = c.constant(2)
        if given is None:
            raise UserError("its result has a size that is known at run time only: make output_shape a constant")
        inner, wanted = wanted, [int(d) for d in given.reshape(-1)]
        refuse_if(len(wanted) != len(shape) or wanted[:2] != shape[:2], f"output_shape {wanted} does not fit {shape}")
        indices = _places_in(c, indices, inner, wanted)
    check_shape("the result of MaxUnpool", wanted, 4)
    nothing = relax.const(np.zeros((math.prod(wanted), 1), dtype_of(x)), dtype_of(x))
    count = math.prod(shape)
    views = [nothing, *(c.emit(relax.op.reshape(v, s)) for v, s in ((indices, [count]), (x, [count, 1])))]
    return relax.op.reshape(c.emit(qnn.emit("scatter", views, {"reduction": "none"})), wanted)


def _places_in(c: Conversion, indices: Any, inner: Sequence[int], wanted: Sequence[int]) -> Any:
    """Indices count in the tensor that was pooled, which is the corner of a result that was stated to be larger."""
    if list(inner) == list(wanted):
        return indices
    dtype, rest, result = dtype_of(indices), indices, None
    for axis in range(len(inner)):
        old, new = (relax.const(math.prod(s[axis + 1 :]), dtype) for s in (inner, wanted))
        place = c.emit(relax.op.multiply(c.emit(relax.op.floor_divide(rest, old)), new))
        rest = c.emit(relax.op.floor_mod(rest, old))
        result = place if result is None else c.emit(relax.op.add(result, place))
    return result


def roi_align(c: Conversion) -> Any:
    """Boxes are scaled before they lose half a pixel; the largest is that of the four weighted neighbours, as defined.

    TVM moves boxes before it scales them, and takes the largest of interpolated values.
    """
    x, rois, batch = c.inputs[:3]
    mode, default = c.text("mode", "avg"), "half_pixel" if c.opset >= 16 else "output_half_pixel"
    coordinates = c.text("coordinate_transformation_mode", default)
    refuse_if(mode not in ("avg", "max"), f"mode '{mode}' is neither avg nor max: export the model again")
    refuse_if(
        coordinates not in ("half_pixel", "output_half_pixel"),
        f"coordinate_transformation_mode '{coordinates}' is unknown: export the model again",
    )
    size = [int(c.attributes.get(f"output_{name}", 1)) for name in ("height", "width")]
    ratio, aligned = int(c.attributes.get("sampling_ratio", 0)), coordinates == "half_pixel"
    dtype = dtype_of(rois)
    scale = relax.const(np.array(c.attributes.get("spatial_scale", 1.0), dtype))
    rois = c.emit(relax.op.multiply(rois, scale))
    if aligned:
        rois = c.emit(relax.op.subtract(rois, relax.const(np.array(0.5, dtype))))
    number = c.emit(relax.op.astype(c.emit(relax.op.expand_dims(batch, axis=1)), dtype))
    boxes = c.emit(relax.op.concat([number, rois], axis=1))
    if mode == "avg":
        shared = {"spatial_scale": 1.0, "sample_ratio": ratio, "aligned": aligned, "layout": "NCHW", "mode": "avg"}
        return relax.op.vision.roi_align(x, boxes, pooled_size=tuple(size), **shared)
    best = c.importer.bb.call_te(_largest, x, boxes, size, ratio, aligned, primfunc_name_hint="roi_align_max")
    best, lowest = c.emit(best), relax.const(np.array(_LOWEST, dtype))
    # A box without samples.
    return relax.op.where(c.emit(relax.op.less(best, lowest)), relax.const(np.zeros((), dtype)), best)


def _largest(data: Any, boxes: Any, size: Sequence[int], ratio: int, aligned: bool) -> Any:
    """The largest weighted neighbour of all samples in each part of each box."""
    channels, extent = data.shape[1], [int(d) for d in data.shape[2:]]
    dtype = boxes.dtype

    def span(box: Any, axis: int) -> tuple[Any, Any, Any]:
        """Start, size of a part and number of samples along the rows (0) or the columns (1)."""
        start, end = boxes[box, 2 - axis], boxes[box, 4 - axis]
        length = end - start if aligned else tirx.max(end - start, tirx.const(1.0, dtype))
        part = length / tirx.const(float(size[axis]), dtype)
        samples = tirx.const(ratio, "int32") if ratio > 0 else tirx.ceil(part).astype("int32")
        return start, part, samples

    def value(box: Any, channel: Any, row: Any, column: Any) -> Any:
        spans = [span(box, axis) for axis in (0, 1)]
        steps = [te.reduce_axis((0, s[2]), name=n) for s, n in zip(spans, ("down", "right"), strict=True)]
        inside, places, weights = tirx.const(True), [], []
        for (start, part, samples), step, index, length in zip(spans, steps, (row, column), extent, strict=True):
            offset = (step.astype(dtype) + tirx.const(0.5, dtype)) * part / samples.astype(dtype)
            at = start + index.astype(dtype) * part + offset
            inside = tirx.all(inside, at >= tirx.const(-1.0, dtype), at <= tirx.const(float(length), dtype))
            last = tirx.const(float(length - 1), dtype)
            at = tirx.min(tirx.max(at, tirx.const(0.0, dtype)), last)
            first = tirx.floor(at).astype("int32")
            places.append((first, tirx.min(first + 1, tirx.const(length - 1, "int32"))))
            far = at - first.astype(dtype)
            weights.append((tirx.const(1.0, dtype) - far, far))
        batch = boxes[box, 0].astype("int32")
        corners = [
            weights[0][i] * weights[1][j] * data[batch, channel, places[0][i], places[1][j]]
            for i in (0, 1)
            for j in (0, 1)
        ]
        best = tirx.max(tirx.max(corners[0], corners[1]), tirx.max(corners[2], corners[3]))
        return te.max(tirx.if_then_else(inside, best, tirx.const(0.0, dtype)), axis=steps)

    return te.compute((boxes.shape[0], channels, *size), value, name="largest")


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "BatchNormalization": batch_norm,
    "MaxUnpool": max_unpool,
    "RoiAlign": roi_align,
    "SpaceToDepth": space_to_depth,
}
