"""Operators that make or compare truth values, where TVM's conversion leaves something out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import dtype_of


def is_infinite(c: Conversion) -> Any:
    """Infinity of the signs that are asked for."""
    x, signs = c.inputs[0], [int(c.attributes.get(f"detect_{sign}", 1)) for sign in ("positive", "negative")]
    if all(signs):
        return c.stock()
    if not any(signs):
        return relax.const(np.zeros(c.shape(), bool))
    limit = float("inf") if signs[0] else float("-inf")
    return relax.op.equal(x, relax.const(limit, dtype_of(x)))


def extreme_of_truth(c: Conversion) -> Any:
    """The largest of truth values is that of their bytes."""
    if dtype_of(c.inputs[0]) != "bool":
        return c.stock()
    bytes_of = c.emit(relax.op.astype(c.inputs[0], "uint8"))
    return relax.op.astype(c.emit(replace(c, inputs=[bytes_of, *c.inputs[1:]]).stock()), "bool")


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "IsInf": is_infinite,
    "ReduceMax": extreme_of_truth,
    "ReduceMin": extreme_of_truth,
}
