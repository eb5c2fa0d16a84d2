"""Resizing of images and sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def _resized(g: GraphBuilder, x: Value, factors: Any, **attributes: Any) -> str:
    """By factors where the program states them, since they are what coordinates are computed with."""
    import numpy as np

    assert g.result is not None
    if factors and list(g.result.shape[2:]) == [int(d * f) for d, f in zip(x.shape[2:], factors, strict=True)]:
        scales = np.array([1, 1, *factors], np.float32)
        return g.emit("Resize", x, None, scales, **attributes)
    return g.emit("Resize", x, None, None, g.integers(*g.result.shape), **attributes)


def nearest(g: GraphBuilder, x: Value, _size: Any, factors: Any = None, *_: Any) -> str:
    return _resized(
        g,
        x,
        factors if isinstance(factors, list) else None,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def _smooth(mode: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value, _size: Any, align: bool, factors: Any = None, *_: Any) -> str:
        attributes: dict[str, Any] = {"cubic_coeff_a": -0.75} if mode == "cubic" else {}
        coordinates = "align_corners" if align else "pytorch_half_pixel"
        given = factors if isinstance(factors, list) else None
        return _resized(g, x, given, mode=mode, coordinate_transformation_mode=coordinates, **attributes)

    return write


OPERATORS: Operators = {
    **{f"aten.upsample_nearest{n}d.vec": nearest for n in (1, 2, 3)},
    **{f"aten.upsample_nearest{n}d": nearest for n in (1, 2, 3)},
    "aten.upsample_linear1d.vec": _smooth("linear"),
    "aten.upsample_linear1d": _smooth("linear"),
    "aten.upsample_bilinear2d.vec": _smooth("linear"),
    "aten.upsample_bilinear2d": _smooth("linear"),
    "aten.upsample_bicubic2d.vec": _smooth("cubic"),
    "aten.upsample_bicubic2d": _smooth("cubic"),
}
