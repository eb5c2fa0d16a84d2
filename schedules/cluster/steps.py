"""Hand-written kernels for single steps whose operands are in L1 already: what engines leave to the cores."""

from collections.abc import Callable, Mapping
from typing import Any

from schedules.cluster.arithmetic import KINDS, PULP_WIDE, STORED, TYPES, window_fields
from schedules.cluster.attention_steps import attention_weights, bit_planes, qdq_weights, row_sums, translated_rows
from schedules.cluster.base import Fields, fours, kernel_call, only_cost
from schedules.cluster.block_steps import from_blocks, to_blocks
from schedules.cluster.catalog import available
from schedules.cluster.requantize_add import requantize_add_sum, requantize_add_table
from schedules.cluster.requantize_sum import requantize_sum
from schedules.cluster.settle import settle
from schedules.cluster.transpose import element_strides, transpose_fields
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer

_LEAST_ROW_BYTES, _LEAST_TAPS_BYTES = 5, 16
_WORD_BYTES = 4


def step_call(kernel: Kernel, costs: CostModel) -> Call | None:
    """The call that does what a generated kernel would, or None."""
    needed, made = _STEPS.get(kernel.operator, ("", None))
    if made is None or needed not in available(costs.soc.software.kernels):
        return None
    return made(kernel, costs) if all(isinstance(o, Local) for o in kernel.operands) else None


def _call(
    kernel: Kernel, function: str, fields: Fields, costs: CostModel, expected: Mapping[str, Any] | None = None
) -> Call:
    reads, writes = ([o for o in side if isinstance(o, Local)] for side in (kernel.inputs, kernel.outputs))
    fields = {"x": Pointer(reads[0]), "y": Pointer(writes[0])} | fields
    return kernel_call(function, fields, costs, reads, writes, expected=expected)


def _requantize(kernel: Kernel, costs: CostModel) -> Call | None:
    (x, mul, add), y = kernel.inputs, kernel.outputs[0]
    assert isinstance(mul, Local) and isinstance(add, Local)
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
        fast = (
            rule.kind in ("shift", "shift_even", "shift_away", "half_up")
            and x.spec.dtype == "int32"
            and y.spec.dtype in BYTES
        )
        if not fast or columns % 4 or mul.spec.elements == 1 or a["zero_point"] or x.spec.shape[0] != 1:
            return None
    # Of several parts of the result's channels.
    first = a.get("first_channel", 0)
    y_columns, skipped = y.spec.shape[-1], first * _WORD_BYTES if mul.spec.elements > 1 else 0
    assert isinstance(y, Local)
    if "pixels" in a:
        return _requantize_pixels(kernel, costs)
    fields = {
        "y": Pointer(y, first * y.spec.itemsize),
        "lines": lines, "x_line_stride": line_stride, "rows": rows,
        "columns": columns, "x_stride": step * columns * x.spec.itemsize, "y_stride": y_columns * y.spec.itemsize,
        "x_type": TYPES[x.spec.dtype], "per_row": 0, "zero_point": a["zero_point"],
        "requant.kind": PULP_WIDE if rule.kind == "pulp" and rule.wide else KINDS[rule.kind],
        "requant.per_channel": int(mul.spec.elements > 1), "requant.wide_result": STORED.get(y.spec.dtype, 0),
        "requant.mul": Pointer(mul, skipped), "requant.add": Pointer(add, skipped), "requant.shift": rule.shift,
        "requant.zero_point": rule.zero_point, "requant.low": rule.low, "requant.high": rule.high,
    }  # fmt: skip
    return _call(kernel, "requantize", fields, costs, {"even_share": a["even_share"]} if "even_share" in a else None)


def _requantize_pixels(kernel: Kernel, costs: CostModel) -> Call:
    """Of some lines of a picture some pixels that follow each other, by one rule for all channels."""
    (x, mul, add), y = kernel.inputs, kernel.outputs[0]
    assert all(isinstance(o, Local) for o in (x, mul, add, y))
    rule, (line, pixel, lines, pixels) = Requant.of(kernel.attributes), kernel.attributes["pixels"]
    _, _, width, channels = x.spec.shape
    first = (line * width + pixel) * channels
    fields = {
        "x": Pointer(x, first * x.spec.itemsize), "y": Pointer(y, first * y.spec.itemsize),
        "lines": 1, "x_line_stride": 0, "rows": lines, "columns": pixels * channels,
        "x_stride": width * channels * x.spec.itemsize, "y_stride": width * channels * y.spec.itemsize,
        "x_type": TYPES[x.spec.dtype], "per_row": 0, "zero_point": kernel.attributes["zero_point"],
        "requant.kind": PULP_WIDE if rule.kind == "pulp" and rule.wide else KINDS[rule.kind],
        "requant.per_channel": 0, "requant.wide_result": STORED.get(y.spec.dtype, 0),
        "requant.mul": Pointer(mul), "requant.add": Pointer(add), "requant.shift": rule.shift,
        "requant.zero_point": rule.zero_point, "requant.low": rule.low, "requant.high": rule.high,
    }  # fmt: skip
    return _call(kernel, "requantize", fields, costs)


def _requantize_add(kernel: Kernel, costs: CostModel) -> Call | None:
    """Two roundings at once, of channels in fours; without operands the question is only whether there is a kernel."""
    fields = fours(kernel.inputs[0].spec)
    if fields is None:
        return None
    fields |= kernel.attributes
    if not kernel.outputs:
        return only_cost("requantize_add", fields, costs)
    (_, stages), (y,) = kernel.inputs, kernel.outputs
    assert isinstance(stages, Local)
    fields |= {"stages": Pointer(stages), "y_type": TYPES[y.spec.dtype]}
    return _call(kernel, "requantize_add", fields, costs)


def _requantize_table(kernel: Kernel, costs: CostModel) -> Call | None:
    """A rounding and a table, of channels in fours; without operands the question is only whether there is a kernel."""
    fields = fours(kernel.inputs[0].spec)
    if fields is None:
        return None
    if not kernel.outputs:
        return only_cost("requantize_table", fields, costs)
    _, stages, table = kernel.inputs
    assert isinstance(stages, Local) and isinstance(table, Local)
    fields |= {"stages": Pointer(stages), "table": Pointer(table)}
    fields["table_stride"] = table.spec.shape[-1] if len(table.spec.shape) > 1 else 0
    return _call(kernel, "requantize_table", fields, costs)


def _taken(spec: TensorSpec, steps: list[int]) -> tuple[int, int, int, int]:
    """Lines, pixels of a line, step between them, and bytes between lines of a 32-bit picture thinned out."""
    _, height, width, channels = spec.shape
    return -(-height // steps[0]), -(-width // steps[1]), steps[1], 4 * steps[0] * width * channels


def _im2col(kernel: Kernel, costs: CostModel) -> Call | None:
    x, y = kernel.inputs[0], kernel.outputs[0]
    # Wider values are copied as their bytes; padding then has to be the same byte.
    a, itemsize = kernel.attributes, x.spec.itemsize
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
        "height": height, "width": width, "channels": channels, "out_height": out_height, "out_width": out_width,
        **window_fields(a, a["kernel"], a["pads"][:2]), "pad_value": a["zero_point"],
    }  # fmt: skip
    return _call(kernel, "im2col", fields, costs)


def _pad(kernel: Kernel, costs: CostModel) -> Call | None:
    """A border around an image: every line, border included, is one window as wide as the result."""
    fields = pad_fields(kernel.inputs[0].spec, kernel.outputs[0].spec, kernel.attributes)
    return None if fields is None else _call(kernel, "im2col", fields, costs)


def pad_fields(x: TensorSpec, y: TensorSpec, attributes: dict[str, Any]) -> Fields | None:
    """Arguments of `im2col` that pad one image of bytes; None where more than rows and columns are padded."""
    before, after = attributes["before"], attributes["after"]
    if len(x.shape) != 4 or x.shape[0] != 1 or x.dtype not in ("int8", "uint8"):
        return None
    if any(before[axis] or after[axis] for axis in (0, 3)) or min(*before, *after) < 0:
        return None
    _, height, width, channels = x.shape
    return {
        "height": height, "width": width, "channels": channels, "out_height": y.shape[1], "out_width": 1,
        **window_fields({"strides": (1, 1), "dilation": (1, 1)}, (1, y.shape[2]), before[1:3]),
        "pad_value": attributes["value"],
    }  # fmt: skip


def _slice(kernel: Kernel, costs: CostModel) -> Call | None:
    """A strided slice is a transpose that keeps the order of the axes."""
    x, a = kernel.inputs[0].spec, kernel.attributes
    if x.dtype not in TYPES or min(a["stride"]) < 1 or any(a["begin"]):
        return None
    every = zip(a["size"], element_strides(x.shape), a["stride"], strict=True)
    pairs = [(n, step * s) for n, step, s in every if n > 1] or [(1, 1)]
    if len(pairs) > 4:
        return None
    return _call(kernel, "transpose", transpose_fields(pairs, x.itemsize), costs)


def _lookup(kernel: Kernel, costs: CostModel) -> Call | None:
    """The kernel's table is indexed by unsigned bytes, as that of the operator where its operand is unsigned."""
    x, table = kernel.inputs
    if x.spec.dtype != "uint8" or table.spec.elements != 256 or kernel.outputs[0].spec.dtype not in ("int8", "uint8"):
        return None
    assert isinstance(table, Local)
    return _call(kernel, "lookup", {"table": Pointer(table), "count": x.spec.elements}, costs)


def _bias_of_rest(kernel: Kernel, costs: CostModel) -> Call | None:
    """Products of the inputs from `first` on, in words, added to a bias."""
    (x, weight, scale, bias), y, first = kernel.inputs, kernel.outputs[0], kernel.attributes["first"]
    assert isinstance(x, Local) and isinstance(weight, Local) and isinstance(scale, Local) and isinstance(bias, Local)
    fields = {
        "x": Pointer(x, first), "weight": Pointer(weight), "scale": Pointer(scale), "bias": Pointer(bias),
        "columns": y.spec.elements, "depth": x.spec.elements - first, "x_type": TYPES[x.spec.dtype],
        "scale_type": TYPES["uint8" if scale.spec.itemsize == 1 else "int32"],
    }  # fmt: skip
    return _call(kernel, "bias_of_rest", fields, costs)


@work("bias_of_rest")
def bias_of_rest_work(f: Fields, cores: int) -> Work:
    """Passes over a core's columns, one for every four inputs."""
    passes = f["depth"] // 4
    return {"call": 1, "pass": passes, "column": passes * share(f["columns"], cores)}


@work("requantize_add")
def requantize_add_work(f: Fields, cores: int) -> Work:
    """As a rounding with a table; a single row has a loop of its own."""
    if f["rows"] == 1:
        return {"row_call": 1, "row_group": share(f["columns"] // 4, cores)}
    return requantize_table_work(f, cores)


@work("requantize_table")
def requantize_table_work(f: Fields, cores: int) -> Work:
    """Groups of four channels, or rows where there are few groups."""
    groups, rows = f["columns"] // 4, f["rows"]
    groups, rows = (share(groups, cores), rows) if groups >= cores else (groups, share(rows, cores))
    return {"call": 1, "group": groups, "element": 4 * groups * rows}


@work("im2col")
def im2col_work(f: Fields, cores: int) -> Work:
    windows, row_bytes = share(f["out_height"] * f["out_width"], cores), f["kernel_width"] * f["channels"]
    rows = windows * f["kernel_height"]
    if row_bytes == 4 and f["width"] * f["channels"] >= 4 and (f["dilation_x"] == 1 or f["kernel_width"] == 1):
        return {"word_call": 1, "word_window": windows, "word_row": rows}
    if f["dilation_x"] == 1 and row_bytes < 4:
        return {"byte_call": 1, "byte_window": windows, "byte_row": rows, "byte": rows * row_bytes}
    if f["out_width"] == 1 and f["dilation_x"] == 1 and row_bytes > 16:
        return {"line_call": 1, "line": rows, "line_word": rows * (row_bytes // 4), "line_rest": rows * (row_bytes % 4)}
    if f["dilation_x"] == 1:
        first, room = -(-f["pad_left"] // f["stride_x"]), f["width"] + f["pad_left"] - f["kernel_width"]
        inside = max(0, min(room // f["stride_x"] + 1, f["out_width"]) - first)
        # One core has the windows at the edges of its lines.
        lines = max(1.0, windows / f["out_width"]) * f["kernel_height"]
        edges = lines * (f["out_width"] - inside) * min(1.0, windows / f["out_width"])
        if row_bytes <= 16:
            # Two to four words of each row; those that do not lie on a word's boundary are two accesses each.
            words_of_rows = rows * (max(8, row_bytes + 3) // 4)
            done = {"narrow_call": 1, "narrow_line": lines, "narrow_row": rows, "narrow_edge": edges}
            split = words_of_rows if f["channels"] % 4 else 0
            return {**done, "narrow_word": words_of_rows, "narrow_split": split}
        # Sixteen bytes at a time, the last of which reach back.
        pieces = rows * ((row_bytes - 1) // 16)
        work: Work = {"long_call": 1, "long_line": lines, "long_row": rows, "long_piece": pieces}
        # Words that do not lie on a word's boundary are read and written in two parts.
        work["long_split"] = rows * (row_bytes // 4) if f["channels"] % 4 else 0
        return {**work, "long_edge": lines * (f["out_width"] - inside)}
    work = {"call": 1, "window": windows, "row": rows, "word": rows * (row_bytes // 4)}
    return {**work, "rest": rows * (row_bytes % 4), "tap": rows * f["kernel_width"]}


# By operator: the file of the kernel, and what makes the call.
_STEPS: dict[str, tuple[str, Callable[[Kernel, CostModel], Call | None]]] = {
    "requantize": ("requantize", _requantize),
    "requantize_add": ("requantize_add", _requantize_add),
    "requantize_add_sum": ("requantize_add_sum", requantize_add_sum),
    "requantize_add_table": ("requantize_add_table", requantize_add_table),
    "requantize_sum": ("requantize_sum", requantize_sum),
    "requantize_table": ("requantize_table", _requantize_table),
    "slice": ("transpose", _slice),
    "im2col": ("im2col", _im2col),
    "pad": ("im2col", _pad),
    "lookup": ("lookup", _lookup),
    "bias_of_rest": ("bias_of_rest", _bias_of_rest),
    "bit_planes": ("bit_planes", bit_planes),
    "attention_weights": ("attention_weights", attention_weights),
    "qdq_weights": ("qdq_weights", qdq_weights),
    "row_sums": ("row_sums", row_sums),
    "settle": ("settle", settle),
    "translated_rows": ("copy_rows", translated_rows),
    "to_blocks": ("to_blocks", to_blocks),
    "from_blocks": ("from_blocks", from_blocks),
}
