"""Calls of the pooling and data-movement kernels with the result that the dialect defines."""

import math
from typing import Any

import numpy as np

from schedules.cluster.steps import pad_fields
from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, Window, random_bytes
from tests.kernels.random_requant import random_rule
from tests.qnn.resize_operands import random_resize
from tvm_pulp.qnn.im2col import Im2col
from tvm_pulp.qnn.pad import Pad
from tvm_pulp.qnn.pool import AvgPool, MaxPool
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.resize import Resize, fraction_bits
from tvm_pulp.qnn.space_to_depth import SpaceToDepth
from tvm_pulp.qnn.tensor_spec import TensorSpec
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.packing import pack_weights


def pool_case(
    rng: np.random.Generator, size: tuple[int, int, int], window: Window, *, average: bool, dtype: str = "int8",
    misalign: int = 0,
) -> Case:  # fmt: skip
    x = random_bytes(rng, (1, *size), dtype)
    limits = np.iinfo(dtype)
    low, high = int(limits.min) + int(rng.integers(30)), int(limits.max) - int(rng.integers(30))
    stated = {"layout": "NHWC", "kernel": window.kernel, **window.attributes}
    if average:
        expected = AvgPool().reference(AvgPool().stated({**stated, "low": low, "high": high}), [x])
    else:
        expected = MaxPool().reference(MaxPool().stated(stated), [x])
    fields = {
        **window.fields(*size[:2]),
        "x": x,
        "y": Out(expected.shape, dtype),
        "channels": size[2],
        "x_type": TYPE_CODES[dtype],
        "low": low,
        "high": high,
    }
    call = Call("avg_pool" if average else "max_pool", fields, structure="pool", misalign={"x": misalign})
    return Case(call, expected, expected.size * window.kernel[0] * window.kernel[1])


def mean_pool_case(
    rng: np.random.Generator, size: tuple[int, int, int], window: Window, kind: str, *, dtype: str = "int8",
    misalign: int = 0, by_count: bool = False,
) -> Case:  # fmt: skip
    """`by_count`: a multiplier for every number of values that a window may hold."""
    x, taps, zero_point = random_bytes(rng, (1, *size), dtype), math.prod(window.kernel), int(rng.integers(-20, 20))
    multipliers = taps + 1 if by_count else 1
    rule = random_rule(rng, kind, 300 * taps, multipliers)
    while rule.requant.out_dtype == "int32":
        rule = random_rule(rng, kind, 300 * taps, multipliers)
    attributes = {"layout": "NHWC", "kernel": window.kernel, "zero_point": zero_point, **window.attributes}
    expected = AvgPool().reference(AvgPool().stated({**attributes, **rule.requant.attributes()}), [x, *rule.operands])
    pool = {
        **window.fields(*size[:2]), "x": x, "y": Out(expected.shape, rule.requant.out_dtype), "channels": size[2],
        "x_type": TYPE_CODES[dtype], "low": 0, "high": 0,
    }  # fmt: skip
    fields = {"pool": pool, "zero_point": zero_point, "requant": rule.fields}
    return Case(Call("mean_pool", fields, misalign={"x": misalign}), expected, expected.size * taps)


def im2col_case(rng: np.random.Generator, size: tuple[int, int, int], window: Window, *, misalign: int = 0) -> Case:
    x, pad_value = random_bytes(rng, (1, *size), "uint8"), int(rng.integers(256))
    attributes = {"kernel": window.kernel, "zero_point": pad_value, **window.attributes}
    expected = Im2col().reference(Im2col().stated(attributes), [x])
    fields = {**window.fields(*size[:2]), "x": x, "y": Out(expected.shape, "uint8"), "channels": size[2]}
    call = Call("im2col", {**fields, "pad_value": pad_value}, misalign={"x": misalign})
    return Case(call, expected, expected.size)


def pad_case(
    rng: np.random.Generator, size: tuple[int, int, int], pads: tuple[int, int, int, int], *, misalign: int = 0
) -> Case:
    """An image with a border (top, left, bottom, right), laid out by `im2col`."""
    x, value = random_bytes(rng, (1, *size), "int8"), int(rng.integers(-128, 128))
    attributes = {"before": [0, *pads[:2], 0], "after": [0, *pads[2:], 0], "value": value}
    expected = Pad().reference(Pad().stated(attributes), [x])
    fields = pad_fields(TensorSpec(x.shape, "int8"), TensorSpec(expected.shape, "int8"), attributes)
    assert fields is not None
    call = Call("im2col", {**fields, "x": x, "y": Out(expected.shape, "int8")}, misalign={"x": misalign})
    return Case(call, expected, expected.size)


def space_to_depth_case(rng: np.random.Generator, size: tuple[int, int, int], *, planar: bool, unsigned: bool) -> Case:
    """`size`: height, width and channels of the image."""
    height, width, channels = size
    shape = (1, channels, height, width) if planar else (1, *size)
    x = random_bytes(rng, shape, "int8")
    attributes = {"layout": "NCHW" if planar else "NHWC", "unsigned": int(unsigned)}
    expected = SpaceToDepth().reference(SpaceToDepth().stated(attributes), [x])
    fields = {
        "x": x, "y": Out(expected.shape, str(expected.dtype)), "height": height // 2, "width": width // 2,
        "channels": channels, "is_planar": int(planar), "flip": 0x80 if unsigned else 0,
    }  # fmt: skip
    return Case(Call("space_to_depth", fields), expected, x.size)


def transpose_case(
    rng: np.random.Generator, shape: tuple[int, int, int, int], axes: tuple[int, ...], *, dtype: str = "int8",
    misalign: int = 0,
) -> Case:  # fmt: skip
    x = rng.integers(-100, 100, shape).astype(dtype)
    expected = np.ascontiguousarray(x.transpose(axes))
    fields = {"x": x, "y": Out(expected.shape, dtype), "element_bytes": x.itemsize}
    fields |= {f"size{i}": expected.shape[i] for i in range(4)}
    fields |= {f"stride{i}": x.strides[axis] for i, axis in enumerate(axes)}
    moved = misalign if dtype == "int8" else 0
    return Case(Call("transpose", fields, misalign={"x": moved, "y": moved}), expected, x.size)


def join_planes_case(rng: np.random.Generator, pixels: int, *, misalign: int = 0) -> Case:
    x = random_bytes(rng, (3, pixels), "uint8")
    fields = {"x": x, "y": Out((pixels, 3), "uint8"), "pixels": pixels, "plane_stride": pixels}
    return Case(Call("join_planes", fields, misalign={"x": misalign}), np.ascontiguousarray(x.T), x.size)


def copy_rows_case(
    rng: np.random.Generator, rows: int, row_bytes: int, gap: int, *, misalign: int = 0, with_table: bool = False
) -> Case:
    """Rows into a wider tensor, as one operand of a concatenation along the last axis."""
    x = random_bytes(rng, (rows, row_bytes), "int8")
    out = Out((rows, row_bytes + gap), "int8")
    expected = out.empty()
    table = random_bytes(rng, (256,), "uint8") if with_table else None
    expected[:, :row_bytes] = x if table is None else table[x.view(np.uint8)].view(np.int8)
    # Large concatenations give every core a table of its own.
    tables = table if table is None or x.size < 4096 else np.tile(np.pad(table, (0, 4)), 8)
    stride = 0 if tables is table else 260
    fields = {"x": x, "y": out, "table": tables, "table_stride": stride, "rows": rows, "row_bytes": row_bytes}
    fields |= {"x_stride": row_bytes, "y_stride": row_bytes + gap}
    return Case(Call("copy_rows", fields, misalign={"x": misalign}), expected, x.size)


def resize_case(
    rng: np.random.Generator, size: tuple[int, int, int], result: tuple[int, int], form: str, *, dtype: str = "int8",
    out: str = "int8", misalign: int = 0, alike: bool = False,
) -> Case:  # fmt: skip
    """`form`: copy, near (ties decided by floats), scaled, wide (weights rounded in between), cubic."""
    taps, bits, how = {
        "copy": ((1, 1), (0, 0), {}),
        "near": ((2, 2), (2, 2), {"ties": True}),
        "scaled": ((2, 2), (3, 3), {}),
        "wide": ((2, 2), (15, 14), {"ties": True, "middle": 7, "slack": 1 << 15}),
        "cubic": ((4, 4), (6, 6), {}),
    }[form]
    out = dtype if form == "copy" else out
    attributes, operands = random_resize(rng, size, result, taps, bits, dtype=dtype, out=out, alike=alike, **how)  # type: ignore[arg-type]
    expected = Resize().reference(Resize().stated(attributes), operands)
    fields: dict[str, Any] = dict.fromkeys(
        ("rows", "row_weights", "columns", "column_weights", "real_rows", "real_columns", "values", "thresholds")
    )
    names = ("rows", "columns") if form == "copy" else ("rows", "row_weights", "columns", "column_weights")
    fields |= dict(zip(names, operands[1:], strict=False))
    requant: dict[str, Any] = dict.fromkeys(
        ("kind", "per_channel", "wide_result", "shift", "zero_point", "low", "high"), 0
    ) | {"mul": None, "add": None}
    if form != "copy":
        rule = Requant.of(attributes)
        requant |= {"kind": 5 if rule.kind == "half_even" else 4, "mul": operands[5], "add": operands[6]}
        requant |= {"zero_point": rule.zero_point, "low": rule.low, "high": rule.high}
        fields |= dict(zip(("real_rows", "real_columns", "values", "thresholds"), operands[7:], strict=False))
    plain = form == "copy"
    fields |= {
        "x": operands[0], "y": Out(expected.shape, str(expected.dtype)), "first_row": 0, "width": size[1],
        "channels": size[2], "out_height": result[0], "out_width": result[1], "row_taps": taps[0],
        "column_taps": taps[1], "middle": 0 if plain else attributes["middle"],
        "fraction": 0 if plain else fraction_bits(Resize().stated(attributes)),
        "slack": 0 if plain else attributes["slack"],
        "zero_point": 0 if plain else attributes["zero_point"], "x_type": TYPE_CODES[dtype],
        "y_type": TYPE_CODES[str(expected.dtype)], "requant": requant,
    }  # fmt: skip
    return Case(Call("resize", fields, misalign={"x": misalign}), expected, expected.size)


def bit_planes_case(rng: np.random.Generator, matrices: int, rows: int, depth: int, *, turned: bool) -> Case:
    """Beats of an array as the backend of the engine packs constant weights."""
    w = random_bytes(rng, (matrices, rows, depth), "int8")
    stride = -(-depth // 32) * 32
    expected = pack_weights(w.reshape(matrices * rows, depth, 1, 1), Mode.POINTWISE).reshape(matrices * rows, stride)
    fields = {
        "x": np.ascontiguousarray(w.transpose(0, 2, 1)) if turned else w,
        "y": Out(expected.shape, "uint8"),
        "matrices": matrices,
        "x_matrix_stride": rows * depth,
        "rows": rows,
        "depth": depth,
        "x_stride": rows if turned else depth,
        "y_stride": stride,
        "turned": int(turned),
        "flip": 0x80808080,
    }
    return Case(Call("bit_planes", fields), expected, matrices * rows * depth)
