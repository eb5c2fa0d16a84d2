"""Softmax with an integer second-order polynomial for the exponential (the PULP dialect's `iSoftmax`)."""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.record import Attributes
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class PolynomialAttributes(Attributes):
    """The polynomial and what is left of whole halvings; levels of the result."""

    a: int
    b: int
    c: int
    log2: int
    levels: int


@quick_record(kw_only=True, slots=False)
class ISoftmaxAttributes(SoftmaxAttributes, PolynomialAttributes):
    """The form `i_softmax`."""

    forms = ("i_softmax",)


def exponential(attributes: PolynomialAttributes, distance: np.ndarray) -> np.ndarray:
    """Of distances to the largest value: a polynomial of what is left of whole halvings, then these."""
    a, b, c, log2 = attributes.a, attributes.b, attributes.c, attributes.log2
    halvings = np.minimum(distance // log2, 31)
    return np.asarray((a * (halvings * log2 - distance + b) ** 2 + c) >> halvings)


def reference(attributes: PolynomialAttributes, x: np.ndarray) -> np.ndarray:
    e = exponential(attributes, x.max(-1, keepdims=True) - x)
    return ((e * (attributes.levels - 1)) // e.sum(-1, keepdims=True)).astype(np.uint8)


def row_maximum(loops: Loops, x: Any, row: Any, length: int) -> Any:
    best = loops.scalar("best", i32(x[row, 0]))
    with loops.loop("i", length) as i:
        best.set(tirx.max(best.value, i32(x[row, i])))
    return loops.bind("largest", best.value)


def row_loops(loops: Loops, attributes: PolynomialAttributes, x: Any, y: Any, row: Any, length: int) -> None:
    a, b, c, log2, levels = attributes.a, attributes.b, attributes.c, attributes.log2, attributes.levels
    largest = row_maximum(loops, x, row, length)

    def exponential(i: Any) -> Any:
        return call("i_exp", i32(x[row, i]) - largest, a, b, c, log2)

    total = loops.sum("total", "i", length, exponential)
    with loops.loop("i", length) as i:
        # The exponential is computed twice instead of being stored: the row stays 8-bit.
        loops.store(y, [row, i], tirx.truncdiv(exponential(i) * (levels - 1), total.value).astype("uint8"))
