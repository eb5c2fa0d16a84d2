"""Windows as c_runtime/cpu/kernels/shared/window.h describes them, and the memory that their rows take."""

from collections.abc import Sequence
from typing import Any

from schedules.cpu.base import Layer, offer_if


def check_image(layer: Layer) -> None:
    """Check that a layer's operand is one image, its channels innermost."""
    count = layer.inputs[0].spec.shape[0]
    offer_if(layer.attributes["layout"] == "NHWC", f"the layout is {layer.attributes['layout']}, not NHWC")
    offer_if(count == 1, f"there are {count} images")


def window_of(layer: Layer, is_unsigned: int, kernel: Sequence[int]) -> dict[str, Any]:
    """Members of the structure that describes a layer's windows."""
    attributes = layer.attributes
    (_, height, width, channels), (_, out_height, out_width, _) = (
        t.spec.shape for t in (layer.inputs[0], layer.outputs[0])
    )
    (top, left, _, _) = attributes["pads"]
    kernel_height, kernel_width = kernel
    (stride_height, stride_width), (dilation_height, dilation_width) = attributes["strides"], attributes["dilation"]
    reach = (out_width - 1) * stride_width + (kernel_width - 1) * dilation_width + 1
    lowest = (out_height - 1) * stride_height + (kernel_height - 1) * dilation_height - top
    right = max(0, reach - left - width)
    return {
        "height": height, "width": width, "channels": channels,
        "out_height": out_height, "out_width": out_width,
        "kernel_height": kernel_height, "kernel_width": kernel_width,
        "stride_height": stride_height, "stride_width": stride_width,
        "dilation_height": dilation_height, "dilation_width": dilation_width,
        "top": top, "left": left, "right": right,
        "is_padded": int(top > 0 or left > 0 or right > 0 or lowest >= height),
        "zero_point": attributes.get("zero_point", 0), "is_unsigned": is_unsigned,
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
