"""Conv and ConvTranspose with automatic padding or a stated result size: resolved to plain padding."""

from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.windows import same_pads, split_pads


def _geometry(c: Conversion) -> tuple[list[int], list[int], list[int], list[int]]:
    """Input size, kernel, strides and dilations along the spatial axes, checked to be possible."""
    size, kernel = c.shape(0)[2:], c.shape(1)[2:]
    strides, dilations = (c.numbers(name, [1] * len(size)) for name in ("strides", "dilations"))
    pads = c.numbers("pads", [0] * 2 * len(size))
    lengths = {len(size), len(kernel), len(strides), len(dilations), len(pads) // 2}
    if len(lengths) != 1 or min((*strides, *dilations, *kernel, 1)) < 1 or not size:
        raise UserError(f"a convolution over {size} has kernel {kernel}, strides {strides}, dilations {dilations}")
    if max((*strides, *dilations, *pads, 0)) > 1 << 16:
        raise UserError(f"a convolution has strides {strides}, dilations {dilations}, pads {pads}: not plausible")
    return size, kernel, strides, dilations


def conv(c: Conversion) -> Any:
    size, kernel, strides, dilations = _geometry(c)
    automatic, rank = c.text("auto_pad", "NOTSET"), len(size)
    pads = [0] * 2 * rank if automatic == "VALID" else c.numbers("pads", [0] * 2 * rank)
    if automatic in ("SAME_UPPER", "SAME_LOWER"):
        pads = same_pads(size, kernel, strides, dilations, larger_first=automatic == "SAME_LOWER")
    reach = [n + b + a for n, b, a in zip(size, pads[:rank], pads[rank:], strict=True)]
    if any(dilation * (k - 1) + 1 > r for k, dilation, r in zip(kernel, dilations, reach, strict=True)):
        raise UserError(f"Conv: the kernel {kernel} does not fit an input of {size} with pads {pads}: check the model")
    return c.stock(pads=pads, auto_pad=None)


def conv_transpose(c: Conversion) -> Any:
    size, kernel, strides, dilations = _geometry(c)
    extra = c.numbers("output_padding", [0] * len(size))
    wanted, automatic = c.attributes.get("output_shape"), c.text("auto_pad", "NOTSET")
    if len(extra) != len(size) or min((*extra, 0)) < 0:
        raise UserError(f"ConvTranspose: output_padding {extra} does not fit {len(size)} spatial axes")
    if wanted is None and automatic in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * stride for n, stride in zip(size, strides, strict=True)]
    if wanted is None:
        return c.stock(auto_pad=None)
    if len(wanted) != len(size):
        raise UserError(f"ConvTranspose: output_shape {list(wanted)} must name the {len(size)} spatial axes")
    axes = zip(size, kernel, strides, dilations, extra, strict=True)
    full = [stride * (n - 1) + dilation * (k - 1) + 1 + more for n, k, stride, dilation, more in axes]
    surplus = [whole - int(target) for whole, target in zip(full, wanted, strict=True)]
    pads = split_pads([max(0, s) for s in surplus], larger_first=automatic != "SAME_UPPER")
    # A result larger than the product grows at its end.
    extra = [e + max(0, -s) for e, s in zip(extra, surplus, strict=True)]
    return c.stock(pads=pads, output_padding=extra, auto_pad=None, output_shape=None)
