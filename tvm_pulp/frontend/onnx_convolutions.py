"""Conv and ConvTranspose with automatic padding or a stated result size: resolved to plain padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tvm_pulp.errors import UserError

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import Importer


def _text(attrs: dict[str, Any], name: str, default: str) -> str:
    value = attrs.get(name, default)
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _geometry(inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Input size, kernel, strides and dilations along the spatial axes, checked to be possible."""
    size, kernel = ([int(d) for d in i.ty.shape.values][2:] for i in inputs[:2])
    strides = [int(v) for v in attrs.get("strides", [1] * len(size))]
    dilations = [int(v) for v in attrs.get("dilations", [1] * len(size))]
    pads = [int(v) for v in attrs.get("pads", [0] * 2 * len(size))]
    lengths = {len(size), len(kernel), len(strides), len(dilations), len(pads) // 2}
    if len(lengths) != 1 or min((*strides, *dilations, *kernel, 1)) < 1 or not size:
        raise UserError(f"a convolution over {size} has kernel {kernel}, strides {strides}, dilations {dilations}")
    if max((*strides, *dilations, *pads, 0)) > 1 << 16:
        raise UserError(f"a convolution has strides {strides}, dilations {dilations}, pads {pads}: not plausible")
    return size, kernel, strides, dilations


def conv(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    size, kernel, strides, dilations = _geometry(inputs, attrs)
    automatic = _text(attrs, "auto_pad", "NOTSET")
    if automatic in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        before, after = [], []
        for n, k, stride, dilation in zip(size, kernel, strides, dilations, strict=True):
            total = max(0, (-(-n // stride) - 1) * stride + dilation * (k - 1) + 1 - n)
            total = 0 if automatic == "VALID" else total
            small = total // 2
            before.append(small if automatic != "SAME_LOWER" else total - small)
            after.append(total - before[-1])
        attrs = {**attrs, "pads": [*before, *after]}
    pads = [int(v) for v in attrs.get("pads", [0] * 2 * len(size))]
    reach = [n + b + a for n, b, a in zip(size, pads[: len(size)], pads[len(size) :], strict=True)]
    if any(dilation * (k - 1) + 1 > r for k, dilation, r in zip(kernel, dilations, reach, strict=True)):
        raise UserError(f"Conv: the kernel {kernel} does not fit an input of {size} with pads {pads}: check the model")
    return importer.stock("Conv", inputs, {k: v for k, v in attrs.items() if k != "auto_pad"}, opset)


def conv_transpose(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    size, kernel, strides, dilations = _geometry(inputs, attrs)
    extra = [int(v) for v in attrs.get("output_padding", [0] * len(size))]
    wanted, automatic = attrs.get("output_shape"), _text(attrs, "auto_pad", "NOTSET")
    if len(extra) != len(size) or min((*extra, 0)) < 0:
        raise UserError(f"ConvTranspose: output_padding {extra} does not fit {len(size)} spatial axes")
    if wanted is not None and len(wanted) != len(size):
        raise UserError(f"ConvTranspose: output_shape {list(wanted)} must name the {len(size)} spatial axes")
    full = [
        stride * (n - 1) + dilation * (k - 1) + 1 + more
        for n, k, stride, dilation, more in zip(size, kernel, strides, dilations, extra, strict=True)
    ]
    if wanted is None and automatic in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * stride for n, stride in zip(size, strides, strict=True)]
    if wanted is not None:
        before, after = [], []
        for axis, (all_of_it, target) in enumerate(zip(full, wanted, strict=True)):
            # A result larger than the product grows at its end.
            extra[axis] += max(0, int(target) - all_of_it)
            total = max(0, all_of_it - int(target))
            before.append(total // 2 if automatic == "SAME_UPPER" else total - total // 2)
            after.append(total - before[-1])
        attrs = {**attrs, "pads": [*before, *after], "output_padding": extra}
    dropped = ("auto_pad", "output_shape")
    return importer.stock("ConvTranspose", inputs, {k: v for k, v in attrs.items() if k not in dropped}, opset)
