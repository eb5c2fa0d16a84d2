"""Windows as c_runtime/cpu/kernels/shared/window.h describes them, and the memory that their rows take."""

from collections.abc import Sequence
from typing import Any

from schedules.cpu.base import Layer, offer_if
from tvm_pulp.qnn.window_attributes import StepAttributes, windows


def check_image(layer: Layer) -> None:
    """Check that a layer's operand is one image, its channels innermost."""
    count = layer.inputs[0].spec.shape[0]
    layout = layer.attributes["layout"]
    offer_if(layout == "NHWC", f"the layout is {layout}, not NHWC")
    offer_if(count == 1, f"there are {count} images")


def window_of(layer: Layer, is_unsigned: int, kernel: Sequence[int]) -> dict[str, Any]:
    """Members of the structure that describes a layer's windows."""
    (_, height, width, channels), (_, out_height, out_width, _) = (
        t.spec.shape for t in (layer.inputs[0], layer.outputs[0])
    )
    rows, columns = windows(StepAttributes.of(layer), kernel)
    return {
        "height": height, "width": width, "channels": channels,
        "out_height": out_height, "out_width": out_width,
        "kernel_height": rows.kernel, "kernel_width": columns.kernel,
        "stride_height": rows.stride, "stride_width": columns.stride,
        "dilation_height": rows.dilation, "dilation_width": columns.dilation,
        "top": rows.before, "left": columns.before, "right": max(0, columns.padding_after(out_width, width)),
        "is_padded": int(rows.is_padded(out_height, height) or columns.is_padded(out_width, width)),
        "zero_point": layer.attributes.get("zero_point", 0), "is_unsigned": is_unsigned,
    }  # fmt: skip


def row_bytes(window: dict[str, Any]) -> int:
    """Memory for the rows of windows, see window.h."""
    if not window["is_padded"]:
        return 1
    sides = window["left"] + window["right"]
    kept = 2 + (window["kernel_height"] - 1) * window["dilation_height"] if sides else 1
    return int(kept * (sides + window["width"]) * window["channels"])


def reads_first(window: dict[str, Any], channels: int) -> list[int]:
    """The operand that results with so many channels may overwrite: what lies there has been read before."""
    row, written = window["width"] * window["channels"], window["out_width"] * channels
    if window["is_padded"] and window["left"] + window["right"]:
        span = (window["kernel_height"] - 1) * window["dilation_height"] + 1
        for number in range(window["out_height"]):
            copied = number * window["stride_height"] - window["top"] + span
            if copied < window["height"] and (number + 1) * written > copied * row:
                return []
        return [0]
    pointwise = window["kernel_height"] == window["kernel_width"] == 1 and not window["is_padded"]
    return [0] if pointwise and channels <= window["channels"] else []
