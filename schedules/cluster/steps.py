"""Hand-written kernels for single steps whose operands are in L1 already: what engines leave to the cores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schedules.cluster.base import Fields, kernel_call, requant_fields
from schedules.cluster.catalog import available
from schedules.cluster.transpose import element_strides, transpose_fields
from schedules.kernel_cycles import Work, fit_of, share, work
from schedules.kernel_numbers import KINDS, TYPES
from schedules.window_fields import window_fields
from tvm_pulp.qnn.im2col import Im2col
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer
from tvm_pulp.window import Window

_LEAST_ROW_BYTES, _LEAST_TAPS_BYTES = 5, 16
_WORD_BYTES = 4
FieldsOf = Callable[[Kernel, CostModel], Fields | None]


@dataclass(frozen=True)
class StepKernel:
    """The kernel that does a step: its name, fields that point to what the step reads, in order, and all other fields.

    `fields` need not give what `kernel_call` finds out, and gives None where the kernel cannot do the step. `expected`:
    fields that the cost is made from, with the attributes that tell them.
    """

    kernel: str
    operands: tuple[str, ...]
    fields: FieldsOf
    expected: Mapping[str, str]


_STEPS: dict[str, StepKernel] = {}


def step(
    operator: str, operands: str, kernel: str = "", expected: Mapping[str, str] | None = None
) -> Callable[[FieldsOf], FieldsOf]:
    """Decorator: the fields of the kernel that does steps of an operator; it has the operator's name unless stated."""

    def known(fields: FieldsOf) -> FieldsOf:
        _STEPS[operator] = StepKernel(kernel or operator, tuple(operands.split()), fields, expected or {})
        return fields

    return known


def step_call(kernel: Kernel, costs: CostModel) -> Call | None:
    """The call that does what a generated kernel would, or None.

    Operands begin where an attribute `<field>_offset` says. A step without results asks whether there is a kernel for
    its operands, and one without operands whether there is one at all.
    """
    found, a = _STEPS.get(kernel.operator), kernel.attributes
    if found is None or found.kernel not in available(costs.soc.software.kernels):
        return None
    operands = [o for o in (*kernel.inputs, *kernel.outputs) if isinstance(o, Local)]
    if len(operands) < len(kernel.operands):
        return None
    fields = found.fields(kernel, costs) if operands else {}
    if fields is None:
        return None
    if not kernel.outputs:
        fit_of(found.kernel, costs)
        return Call(f"tvm_pulp_kernel_{found.kernel}", "", (), (), (), ())
    expected = {name: a[stated] for name, stated in found.expected.items() if stated in a}
    pointers = {n: Pointer(o, a.get(f"{n}_offset", 0)) for n, o in zip(found.operands, kernel.inputs, strict=False)}
    fields = {**dict.fromkeys(found.operands, 0), "y": Pointer(kernel.outputs[0]), **pointers, **fields}
    areas = [f.operand for f in fields.values() if isinstance(f, Pointer) and f.operand not in operands]
    writes = (*kernel.outputs, *areas)
    return kernel_call(found.kernel, fields, costs, kernel.inputs, writes, attributes=a, expected=expected)


@step("bit_planes", "x")
@step("to_blocks", "x")
@step("from_blocks", "x")
def _stated(_kernel: Kernel, _costs: CostModel) -> Fields:
    """All other fields are attributes."""
    return {}


@step("requantize", "x requant.mul requant.add", expected={"even_share": "even_share"})
def _requantize(kernel: Kernel, _costs: CostModel) -> Fields | None:
    (x, mul, add), (y,) = kernel.inputs, kernel.outputs
    rule, a, per_channel = Requant.of(kernel.attributes), kernel.attributes, mul.spec.elements > 1
    rank = len(x.spec.shape)
    if a["axis"] % rank != rank - 1 or mul.spec.elements != add.spec.elements or rule.kind not in KINDS:
        return None
    # Nothing but accumulators of an engine is rounded so.
    is_accumulator = x.spec.dtype == "int32" and not a["zero_point"] and not {"taken", "pixels"} & a.keys()
    if rule.kind == "offset_half_even" and not is_accumulator:
        return None
    # Engines say how large their accumulators get; the kernel's TFLite form takes up to 2^29.
    if rule.kind == "tflite" and a.get("reach", 1 << 31) > 1 << 29:
        return None
    columns = x.spec.shape[-1]
    rows, lines, line_stride = x.spec.elements // columns, 1, 0
    # Of several parts of the result's channels.
    first = y_first = a.get("first_channel", 0)
    x_first, apart, y_apart = 0, columns, y.spec.shape[-1]
    if "taken" in a:
        # Some pixels of a picture: every `step`-th of a line.
        fast = rule.kind in ("shift", "shift_even", "shift_away", "half_up") and x.spec.dtype == "int32"
        if not fast or y.spec.dtype not in BYTES or columns % 4 or not per_channel or a["zero_point"]:
            return None
        pictures, height, width, _ = x.spec.shape
        if pictures != 1:
            return None
        down, across = a["taken"]
        lines, rows, apart = -(-height // down), -(-width // across), across * columns
        line_stride = _WORD_BYTES * down * width * columns
    elif "pixels" in a:
        # Of some lines of a picture some pixels that follow each other, by one rule for all channels.
        line, pixel, rows, pixels = a["pixels"]
        apart = y_apart = x.spec.shape[2] * columns
        x_first = y_first = line * apart + pixel * columns
        columns *= pixels
    skipped = first * _WORD_BYTES if per_channel else 0
    constants = [Pointer(o, skipped) for o in (mul, add)]
    return {
        "x": Pointer(x, x_first * x.spec.itemsize), "y": Pointer(y, y_first * y.spec.itemsize),
        "lines": lines, "x_line_stride": line_stride, "rows": rows, "columns": columns,
        "x_stride": apart * x.spec.itemsize, "y_stride": y_apart * y.spec.itemsize, "per_row": 0,
        **requant_fields("requant", rule, constants, per_channel=per_channel),
    }  # fmt: skip


@step("requantize_add", "x stages")
@step("requantize_add_table", "x stages table")
def in_fours(kernel: Kernel, _costs: CostModel) -> Fields | None:
    """Rows and columns of what a step reads, channels in fours; None where they are not."""
    spec = kernel.inputs[0].spec
    columns = spec.shape[-1]
    return None if columns % 4 else {"rows": spec.elements // columns, "columns": columns}


@step("requantize_table", "x stages table")
def _requantize_table(kernel: Kernel, costs: CostModel) -> Fields | None:
    """A rounding and a table, or one of each channel."""
    fields = in_fours(kernel, costs)
    if fields is None or not kernel.outputs:
        return fields
    shape = kernel.inputs[2].spec.shape
    return fields | {"table_stride": shape[-1] if len(shape) > 1 else 0}


@step("im2col", "x")
def _im2col(kernel: Kernel, _costs: CostModel) -> Fields | None:
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
    return {
        "height": height, "width": width, "channels": channels, "out_height": out_height, "out_width": out_width,
        **window_fields(*windows(Im2col().stated(a), a["kernel"])), "pad_value": a["zero_point"],
    }  # fmt: skip


@step("pad", "x", kernel="im2col")
def _pad(kernel: Kernel, _costs: CostModel) -> Fields | None:
    """A border around an image: every line, border included, is one window as wide as the result."""
    return pad_fields(kernel.inputs[0].spec, kernel.outputs[0].spec, kernel.attributes)


def pad_fields(x: TensorSpec, y: TensorSpec, attributes: Mapping[str, Any]) -> Fields | None:
    """Arguments of `im2col` that pad one image of bytes; None where more than rows and columns are padded."""
    before, after = attributes["before"], attributes["after"]
    if len(x.shape) != 4 or x.shape[0] != 1 or x.dtype not in ("int8", "uint8"):
        return None
    if any(before[axis] or after[axis] for axis in (0, 3)) or min(*before, *after) < 0:
        return None
    _, height, width, channels = x.shape
    return {
        "height": height, "width": width, "channels": channels, "out_height": y.shape[1], "out_width": 1,
        **window_fields(Window(before=before[1]), Window(y.shape[2], before=before[2])),
        "pad_value": attributes["value"],
    }  # fmt: skip


@step("slice", "x", kernel="transpose")
def _slice(kernel: Kernel, _costs: CostModel) -> Fields | None:
    """A strided slice is a transpose that keeps the order of the axes."""
    x, a = kernel.inputs[0].spec, kernel.attributes
    if x.dtype not in TYPES or min(a["stride"]) < 1 or any(a["begin"]):
        return None
    every = zip(a["size"], element_strides(x.shape), a["stride"], strict=True)
    pairs = [(n, step * s) for n, step, s in every if n > 1] or [(1, 1)]
    return None if len(pairs) > 4 else transpose_fields(pairs, x.itemsize)


@step("lookup", "x table")
def _lookup(kernel: Kernel, _costs: CostModel) -> Fields | None:
    """The kernel's table is indexed by unsigned bytes, as that of the operator where its operand is unsigned."""
    x, table = kernel.inputs
    if x.spec.dtype != "uint8" or table.spec.elements != 256 or kernel.outputs[0].spec.dtype not in BYTES:
        return None
    return {"count": x.spec.elements}


@step("bias_of_rest", "x weight scale bias")
def _bias_of_rest(kernel: Kernel, _costs: CostModel) -> Fields:
    """Products of the inputs from `first` on, in words, added to a bias."""
    (x, _, scale, _), y, first = kernel.inputs, kernel.outputs[0], kernel.attributes["first"]
    return {
        "x": Pointer(x, first), "columns": y.spec.elements, "depth": x.spec.elements - first,
        "scale_type": TYPES["uint8" if scale.spec.itemsize == 1 else "int32"],
    }  # fmt: skip


@work("bias_of_rest")
def bias_of_rest_work(f: Fields, cores: int) -> Work:
    """Passes over a core's columns, one for every four inputs."""
    passes = f["depth"] // 4
    return {"call": 1, "pass": passes, "column": passes * share(f["columns"], cores)}


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
