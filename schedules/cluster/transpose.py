"""Transposes, by sizes and strides of at most four axes."""

import math
from collections.abc import Sequence

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.kernel_cycles import Work, share, work
from schedules.kernel_numbers import TYPES
from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.indexing import TransposeAttributes
from tvm_pulp.qnn.tensor_spec import BYTES

Axes = list[tuple[int, int]]  # size, and stride in elements


def applies_transpose(layer: Layer) -> bool:
    """Up to four axes once neighbours that stay together are merged."""
    return (
        layer.inputs[0].spec.dtype in TYPES
        and len(merged(layer.inputs[0].spec.shape, TransposeAttributes.of(layer).axes)) <= 4
    )


def applies_planes(layer: Layer) -> bool:
    """Three planes of bytes, as pictures have them, become pixels."""
    spec, axes = layer.inputs[0].spec, TransposeAttributes.of(layer).axes
    return spec.dtype in BYTES and axes == (0, 2, 3, 1) and spec.shape[:2] == (1, 3)


def element_strides(shape: tuple[int, ...]) -> list[int]:
    """How many elements neighbours along each axis are apart."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def merged(shape: tuple[int, ...], axes: Sequence[int]) -> Axes:
    """The result's axes, neighbours that stay neighbours as one."""
    strides = element_strides(shape)
    found: Axes = []
    for axis in axes:
        if shape[axis] == 1:
            continue
        if found and found[-1][1] == strides[axis] * shape[axis]:
            found[-1] = (found[-1][0] * shape[axis], strides[axis])
        else:
            found.append((shape[axis], strides[axis]))
    return found or [(1, 1)]


def in_words(pairs: Axes, itemsize: int) -> tuple[Axes, int]:
    """The same sizes and strides in words of four bytes where bytes only move in such words; and the element size."""
    if itemsize != 1 or not pairs:
        return pairs, itemsize
    *outer, (size, stride) = pairs
    if stride != 1 or size % 4 or any(s % 4 for _, s in outer):
        return pairs, itemsize
    words = [(n, s // 4) for n, s in outer]
    return ([*words, (size // 4, 1)] if size > 4 or not words else words), 4


def transpose_fields(pairs: Axes, itemsize: int) -> Fields:
    """Sizes and strides of up to four axes."""
    pairs = [(1, 0)] * (4 - len(pairs)) + pairs
    fields: Fields = {"element_bytes": itemsize}
    for i, (size, stride) in enumerate(pairs):
        fields |= {f"size{i}": size, f"stride{i}": stride * itemsize}
    return fields


class TransposeKernel(KernelForm):
    def fields(self, call: Arguments, box: Box) -> Fields:
        x, source = self.layer.inputs[0], tile_part(self.layer, box).inputs[0]
        pairs = merged(source.size, TransposeAttributes.of(self.layer).axes)
        return {"x": call.load("x", x, source), **transpose_fields(*in_words(pairs, x.spec.itemsize))}


class JoinPlanesKernel(KernelForm):
    kernel = "join_planes"
    cut = (TileAxis(1),)

    def fields(self, call: Arguments, box: Box) -> Fields:
        pixels = box.size[1] * box.size[2]
        x = call.load("x", self.layer.inputs[0], tile_part(self.layer, box).inputs[0])
        return {"x": x, "pixels": pixels, "plane_stride": pixels}


@work("transpose")
def transpose_work(f: Fields, cores: int) -> Work:
    line = f["size3"]
    lines = f["size0"] * f["size1"] * f["size2"]
    mine = share(lines * line, cores)
    if f["element_bytes"] == 1 and f["stride3"] == 1 and line >= 4:
        copied = {"copied_line": mine / line, "copied_word": mine // 4, "copied_rest": mine / line * (line % 4)}
        return {"copied_call": 1, **copied}
    # Two words of a line at a time, or four bytes.
    kind, most = ("word", 2) if f["element_bytes"] == 4 else ("gathered", 4)
    touched = -(-mine // line) + (1 if lines > 1 else 0)
    work = {"call": 1, f"{kind}_line": touched, kind: mine // most * most}
    return {**work, f"{kind}_rest": touched * (line % most)}


@work("join_planes")
def join_planes_work(f: Fields, cores: int) -> Work:
    return {"call": 1, "four_pixels": share(-(-f["pixels"] // 4), cores)}


register("transpose", Schedule(applies_planes, JoinPlanesKernel), Schedule(applies_transpose, TransposeKernel))
