"""Resizing of images and sequences."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators, overloads
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def _resized(g: GraphBuilder, x: Value, factors: Any, **attributes: Any) -> str:
    """By factors where the program states them, since they are what coordinates are computed with."""
    shape = g.result.shape
    listed = factors if isinstance(factors, list) else None
    if listed and list(shape[2:]) == [int(d * f) for d, f in zip(x.shape[2:], listed, strict=True)]:
        return g.emit("Resize", x, None, np.array([1, 1, *listed], np.float32), **attributes)
    return g.emit("Resize", x, None, None, g.integers(*shape), **attributes)


def nearest(g: GraphBuilder, x: Value, _size: Any, factors: Any = None, *_: Any) -> str:
    place = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return _resized(g, x, factors, mode="nearest", **place)


def _smooth(mode: str, **attributes: Any) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value, _size: Any, align: bool, factors: Any = None, *_: Any) -> str:
        coordinates = "align_corners" if align else "pytorch_half_pixel"
        return _resized(g, x, factors, mode=mode, coordinate_transformation_mode=coordinates, **attributes)

    return write


OPERATORS: Operators = {
    **{f"aten.upsample_nearest{n}d{kind}": nearest for n in (1, 2, 3) for kind in ("", ".vec")},
    **overloads(_smooth("linear"), "upsample_linear1d", "", "vec"),
    **overloads(_smooth("linear"), "upsample_bilinear2d", "", "vec"),
    **overloads(_smooth("cubic", cubic_coeff_a=-0.75), "upsample_bicubic2d", "", "vec"),
}
