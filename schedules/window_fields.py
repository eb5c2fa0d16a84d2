"""Windows as fields of a kernel's arguments, and back."""

from collections.abc import Mapping
from typing import Any

from tvm_pulp.window import Window


def window_fields(rows: Window, columns: Window) -> dict[str, int]:
    """Fields of a window's size and steps, and of the padding before it; kernels find its end by the picture's size."""
    return {
        "kernel_height": rows.kernel, "kernel_width": columns.kernel,
        "stride_y": rows.stride, "stride_x": columns.stride,
        "dilation_y": rows.dilation, "dilation_x": columns.dilation,
        "pad_top": rows.before, "pad_left": columns.before,
    }  # fmt: skip


def field_windows(f: Mapping[str, Any]) -> tuple[Window, Window]:
    """Windows along rows and along columns that fields state."""
    return (
        Window(f["kernel_height"], f["stride_y"], f["dilation_y"], f["pad_top"]),
        Window(f["kernel_width"], f["stride_x"], f["dilation_x"], f["pad_left"]),
    )
