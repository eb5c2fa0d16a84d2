"""Random calls of the operators that only move values."""

from typing import Any

import numpy as np

from tests.qnn.cases_elementwise import shape
from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, byte_type, integers, pick
from tests.qnn.resize_operands import random_resize


def any_tensor(rng: Rng) -> np.ndarray:
    return integers(rng, shape(rng), str(pick(rng, ("int8", "uint8", "int16", "int32"))))


def concat(rng: Rng) -> Case:
    dims, dtype = shape(rng), byte_type(rng)
    axis = int(rng.integers(len(dims)))
    # A part may be empty, as a cache is before the first token.
    sizes = [int(n) for n in rng.integers(0, 4, int(rng.integers(1, 4)))]
    sizes[0] = max(sizes[0], 1)
    parts = [integers(rng, (*dims[:axis], n, *dims[axis + 1 :]), dtype) for n in sizes]
    numbers = [i for i, part in enumerate(parts) if part.dtype == np.int8 and rng.random() < 0.4]
    if not numbers:
        return Case("concat", {"axis": axis}, parts)
    tables = [rng.integers(-128, 128, 256).astype(np.int8) for _ in numbers]
    return Case("concat", {"axis": axis, "tables": numbers}, [*parts, *tables])


def pad(rng: Rng) -> Case:
    x = any_tensor(rng)
    before, after = ([int(p) for p in rng.integers(0, 3, x.ndim)] for _ in range(2))
    return Case("pad", {"before": before, "after": after, "value": int(rng.integers(0, 100))}, [x])


def slice_(rng: Rng) -> Case:
    x = any_tensor(rng)
    picks = []
    for extent in x.shape:
        step = int(pick(rng, (1, 1, 2, 3, -1, -2)))
        first = int(rng.integers(extent))
        room = extent - 1 - first if step > 0 else first
        picks.append((first, step, int(rng.integers(1, room // abs(step) + 2))))
    begin, stride, size = (list(column) for column in zip(*picks, strict=True))
    return Case("slice", {"begin": begin, "stride": stride, "size": size}, [x])


def gather(rng: Rng) -> Case:
    x = any_tensor(rng)
    axis = int(rng.integers(x.ndim))
    indices = rng.integers(0, x.shape[axis], shape(rng, 0, 2)).astype(np.int32)
    return Case("gather", {"axis": axis}, [x, np.asarray(indices)])


def take(rng: Rng) -> Case:
    x = any_tensor(rng)
    axis, from_end = int(rng.integers(x.ndim)), int(rng.random() < 0.5)
    reach = 2 * x.shape[axis]
    indices = rng.integers(-reach, reach, shape(rng, 0, 2)).astype(str(pick(rng, ("int32", "int64"))))
    return Case("take", {"axis": axis, "from_end": from_end}, [x, np.asarray(indices)])


def transpose(rng: Rng) -> Case:
    x = any_tensor(rng)
    return Case("transpose", {"axes": [int(a) for a in rng.permutation(x.ndim)]}, [x])


def dilate(rng: Rng) -> Case:
    x = any_tensor(rng)
    return Case("dilate", {"strides": [int(s) for s in rng.integers(1, 4, x.ndim)], "value": 7}, [x])


def space_to_depth(rng: Rng) -> Case:
    height, width = (2 * int(n) for n in rng.integers(1, 5, 2))
    batch, channels = int(rng.integers(1, 3)), int(rng.integers(1, 5))
    layout, dtype = str(pick(rng, ("NHWC", "NCHW"))), byte_type(rng)
    size = (height, width, channels) if layout == "NHWC" else (channels, height, width)
    unsigned = int(dtype == "int8" and rng.random() < 0.5)
    return Case("space_to_depth", {"layout": layout, "unsigned": unsigned}, [integers(rng, (batch, *size), dtype)])


def resize(rng: Rng) -> Case:
    """Copies, linear taps with and without ties, four taps, weights that are rounded in between."""
    size, result = tuple(int(rng.integers(1, 6)) for _ in range(3)), tuple(int(rng.integers(1, 8)) for _ in range(2))
    how: dict[str, Any] = {
        "dtype": byte_type(rng), "out": byte_type(rng), "layout": str(pick(rng, ("NHWC", "NCHW"))),
        "batch": int(rng.integers(1, 3)),
    }  # fmt: skip
    kind = int(rng.integers(5))
    taps, bits = ((1, 1), (2, 2), (2, 2), (4, 4), (2, 1))[kind], ((0, 0), (2, 2), (3, 2), (4, 5), (12, 8))[kind]
    how |= ({}, {"ties": True}, {}, {}, {"middle": 7, "ties": True, "slack": 40})[kind]
    attributes, operands = random_resize(rng, size, result, taps, bits, **how)  # type: ignore[arg-type]
    return Case("resize", attributes, operands)


CASES = {
    "resize": resize,
    "space_to_depth": space_to_depth,
    "concat": concat,
    "pad": pad,
    "slice": slice_,
    "gather": gather,
    "take": take,
    "transpose": transpose,
    "dilate": dilate,
}
