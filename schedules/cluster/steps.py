"""Hand-written kernels for single steps whose operands are in L1 already: what engines leave to the cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedules.cluster.available import available
from schedules.cluster.base import KINDS, PULP_WIDE, STORED, TYPES
from schedules.cluster.structures import fields_of, words_of
from schedules.kernel_cycles import call_cost
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer

_LEAST_ROW_BYTES, _LEAST_TAPS_BYTES = 5, 16
_WORD_BYTES = 4


def step_call(kernel: Kernel, costs: CostModel) -> Call | None:
    """The call that does what a generated kernel would, or None."""
    if not all(isinstance(o, Local) for o in kernel.operands):
        return None
    there = available(costs.soc.software.kernels)
    if kernel.operator == "requantize" and "requantize" in there:
        return _requantize(kernel, costs)
    if kernel.operator == "requantize_add" and "requantize_add" in there:
        return _requantize_add(kernel, costs)
    if kernel.operator == "slice" and "transpose" in there:
        return _slice(kernel, costs)
    if kernel.operator == "im2col" and "im2col" in there:
        return _im2col(kernel, costs)
    if kernel.operator == "pad" and "im2col" in there:
        return _pad(kernel, costs)
    return None


def _call(kernel: Kernel, function: str, fields: dict[str, Any], costs: CostModel) -> Call:
    name = f"tvm_pulp_{function}_args"
    reads, writes = (tuple(o for o in side if isinstance(o, Local)) for side in (kernel.inputs, kernel.outputs))
    cost = call_cost(function, fields, costs)
    words = words_of(name, fields)
    return Call(f"tvm_pulp_kernel_{function}", f"struct {name}", fields_of(name), words, reads, writes, cost)


def _requantize(kernel: Kernel, costs: CostModel) -> Call | None:
    x, mul, add = kernel.inputs
    y = kernel.outputs[0]
    assert isinstance(x, Local) and isinstance(mul, Local) and isinstance(add, Local) and isinstance(y, Local)
    rule, a = Requant.of(kernel.attributes), kernel.attributes
    rank = len(x.spec.shape)
    if a["axis"] % rank != rank - 1 or mul.spec.elements != add.spec.elements or rule.kind not in KINDS:
        return None
    # Engines say how large their accumulators get; the kernel's TFLite form takes up to 2^29.
    if rule.kind == "tflite" and a.get("reach", 1 << 31) > 1 << 29:
        return None
    columns = x.spec.shape[-1]
    rows = x.spec.elements // columns
    step, lines, line_stride = 1, 1, 0
    if "taken" in a:
        # Some pixels of a picture: every `step`-th of a line.
        lines, rows, step, line_stride = _taken(x.spec, a["taken"])
        clips = rule.low == 0 or rule.low == ~rule.high
        fast = rule.kind in ("shift", "half_up") and x.spec.dtype == "int32" and clips and y.spec.dtype != "int32"
        if not fast or columns % 4 or mul.spec.elements == 1 or a["zero_point"] or x.spec.shape[0] != 1:
            return None
    itemsize = np.dtype(x.spec.dtype).itemsize, np.dtype(y.spec.dtype).itemsize
    fields = {
        "x": Pointer(x), "y": Pointer(y), "lines": lines, "x_line_stride": line_stride, "rows": rows,
        "columns": columns, "x_stride": step * columns * itemsize[0], "y_stride": columns * itemsize[1],
        "x_type": TYPES[x.spec.dtype], "per_row": 0, "zero_point": a["zero_point"],
        "requant.kind": PULP_WIDE if rule.kind == "pulp" and rule.wide else KINDS[rule.kind],
        "requant.per_channel": int(mul.spec.elements > 1), "requant.wide_result": STORED.get(y.spec.dtype, 0),
        "requant.mul": Pointer(mul), "requant.add": Pointer(add), "requant.shift": rule.shift,
        "requant.zero_point": rule.zero_point, "requant.low": rule.low, "requant.high": rule.high,
    }  # fmt: skip
    return _call(kernel, "requantize", fields, costs)


def _requantize_add(kernel: Kernel, costs: CostModel) -> Call | None:
    """Two roundings at once, of channels in fours; without operands the question is only whether there is a kernel."""
    x = kernel.inputs[0]
    columns = x.spec.shape[-1]
    if columns % 4:
        return None
    fields = {"rows": x.spec.elements // columns, "columns": columns, **kernel.attributes}
    if not kernel.outputs:
        return Call("tvm_pulp_kernel_requantize_add", "", (), (), (), (), call_cost("requantize_add", fields, costs))
    (_, stages), (y,) = kernel.inputs, kernel.outputs
    assert isinstance(x, Local) and isinstance(stages, Local) and isinstance(y, Local)
    fields |= {"x": Pointer(x), "y": Pointer(y), "stages": Pointer(stages), "y_type": TYPES[y.spec.dtype]}
    return _call(kernel, "requantize_add", fields, costs)


def _taken(spec: TensorSpec, steps: list[int]) -> tuple[int, int, int, int]:
    """Lines, pixels of a line, step between them, and bytes between lines of a 32-bit picture thinned out."""
    _, height, width, channels = spec.shape
    return -(-height // steps[0]), -(-width // steps[1]), steps[1], 4 * steps[0] * width * channels


def _im2col(kernel: Kernel, costs: CostModel) -> Call | None:
    x, y = kernel.inputs[0], kernel.outputs[0]
    assert isinstance(x, Local) and isinstance(y, Local)
    # Wider values are copied as their bytes; padding then has to be the same byte.
    a, itemsize = kernel.attributes, np.dtype(x.spec.dtype).itemsize
    if itemsize > 1 and a["zero_point"] and any(a["pads"]):
        return None
    (n, height, width, channels), (_, out_height, out_width, _) = x.spec.shape, y.spec.shape
    channels *= itemsize
    # Very short rows, and short ones with gaps, are better unrolled, which generated C does.
    row_bytes = a["kernel"][1] * channels
    words = row_bytes == _WORD_BYTES <= width * channels and (a["dilation"][1] == 1 or a["kernel"][1] == 1)
    if n != 1 or (not words and row_bytes < (_LEAST_ROW_BYTES if a["dilation"][1] == 1 else _LEAST_TAPS_BYTES)):
        return None
    fields = {
        "x": Pointer(x), "y": Pointer(y), "height": height, "width": width, "channels": channels,
        "out_height": out_height, "out_width": out_width, "kernel_height": a["kernel"][0],
        "kernel_width": a["kernel"][1], "stride_y": a["strides"][0], "stride_x": a["strides"][1],
        "dilation_y": a["dilation"][0], "dilation_x": a["dilation"][1], "pad_top": a["pads"][0],
        "pad_left": a["pads"][1], "pad_value": a["zero_point"],
    }  # fmt: skip
    return _call(kernel, "im2col", fields, costs)


def _pad(kernel: Kernel, costs: CostModel) -> Call | None:
    """A border around an image: every line, border included, is one window as wide as the result."""
    x, y = kernel.inputs[0], kernel.outputs[0]
    assert isinstance(x, Local) and isinstance(y, Local)
    a = kernel.attributes
    fields = pad_fields(x.spec, y.spec, a)
    return None if fields is None else _call(kernel, "im2col", {"x": Pointer(x), "y": Pointer(y), **fields}, costs)


def pad_fields(x: TensorSpec, y: TensorSpec, attributes: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments of `im2col` that pad one image of bytes; None where more than rows and columns are padded."""
    before, after = attributes["before"], attributes["after"]
    if len(x.shape) != 4 or x.shape[0] != 1 or x.dtype not in ("int8", "uint8"):
        return None
    if any(before[axis] or after[axis] for axis in (0, 3)) or min(*before, *after) < 0:
        return None
    _, height, width, channels = x.shape
    return {
        "height": height, "width": width, "channels": channels, "out_height": y.shape[1], "out_width": 1,
        "kernel_height": 1, "kernel_width": y.shape[2], "stride_y": 1, "stride_x": 1, "dilation_y": 1, "dilation_x": 1,
        "pad_top": before[1], "pad_left": before[2], "pad_value": attributes["value"],
    }  # fmt: skip


def _slice(kernel: Kernel, costs: CostModel) -> Call | None:
    """A strided slice is a transpose that keeps the order of the axes."""
    x, y = kernel.inputs[0], kernel.outputs[0]
    assert isinstance(x, Local) and isinstance(y, Local)
    a, itemsize = kernel.attributes, np.dtype(x.spec.dtype).itemsize
    if x.spec.dtype not in TYPES or min(a["stride"]) < 1 or any(a["begin"]):
        return None
    pairs = _strides(x.spec, a["size"], a["stride"])
    if len(pairs) > 4:
        return None
    pairs = [(1, 0)] * (4 - len(pairs)) + pairs
    fields: dict[str, Any] = {"x": Pointer(x), "y": Pointer(y), "element_bytes": itemsize}
    fields |= {f"size{i}": size for i, (size, _) in enumerate(pairs)}
    fields |= {f"stride{i}": stride * itemsize for i, (_, stride) in enumerate(pairs)}
    return _call(kernel, "transpose", fields, costs)


def _strides(spec: TensorSpec, size: list[int], stride: list[int]) -> list[tuple[int, int]]:
    """(size, step in elements) of the result's axes longer than one."""
    steps = [1] * len(spec.shape)
    for axis in reversed(range(len(steps) - 1)):
        steps[axis] = steps[axis + 1] * spec.shape[axis + 1]
    return [(n, step * s) for n, step, s in zip(size, steps, stride, strict=True) if n > 1] or [(1, 1)]
