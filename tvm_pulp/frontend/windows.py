"""Windows of convolutions and pooling as all importers normalise them: strides, dilations, pads."""

from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp.window import Window, halves


def split_pads(totals: Sequence[int], *, larger_first: bool = False) -> list[int]:
    """Pads before all axes, then after all: halves of the totals, of which one may be larger by one."""
    sides = [halves(total, larger_first=larger_first) for total in totals]
    return [side[end] for end in (0, 1) for side in sides]


def same_pads(
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    *,
    larger_first: bool = False,
) -> list[int]:
    """Pads with which a result has the input's size, divided by the strides and rounded up."""
    axes = zip(size, kernel, strides, dilations, strict=True)
    windows = [Window.same(*axis, larger_first=larger_first) for axis in axes]
    return [*(w.before for w in windows), *(w.after for w in windows)]


def windows_of(
    attributes: Mapping[str, Any], auto_pad: str, size: Sequence[int], kernel: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and pads of an ONNX node; pads follow from sizes where it says so."""
    rank = len(size)
    defaults = {"strides": [1] * rank, "dilations": [1] * rank, "pads": [0] * 2 * rank}
    strides, dilations, pads = ([int(v) for v in attributes.get(n, [])] or default for n, default in defaults.items())
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        pads = same_pads(size, kernel, strides, dilations, larger_first=auto_pad == "SAME_LOWER")
    return strides, dilations, defaults["pads"] if auto_pad == "VALID" else pads


def window_attributes(
    attributes: Mapping[str, Any], auto_pad: str, size: Sequence[int], kernel: Sequence[int]
) -> dict[str, Any]:
    """Attributes of a dialect operator that moves a window; a sequence is an image of one row."""
    rank, rows = len(size), [1] * (2 - len(size))
    strides, dilations, pads = windows_of(attributes, auto_pad, size, kernel)
    return {
        "layout": "NCHW",
        "strides": [*rows, *strides],
        "dilation": [*rows, *dilations],
        "pads": [0, *pads[:rank], 0, *pads[rank:]] if rows else pads,
    }
