"""Masks of minus infinity become low enough numbers: eight bits have steps for these and for what they are added to."""

from collections.abc import Callable
from typing import Any

import numpy as np

# Masks hold minus infinity, or this and less.
MASK = -1e4
# e^-8 is less than half a step of a likelihood in eight bits.
_BELOW = 8.0

Range = Callable[[str], tuple[float, float]]


def with_finite_masks(model: Any, observe: Callable[[Any], Range]) -> Any:
    """The model with such constants replaced; `observe` gives the ranges of its tensors, where there are any."""
    from onnx import numpy_helper

    masks = {c.name: a for c in model.graph.initializer if (a := _floats(c)) is not None and a.min(initial=0) <= MASK}
    readers = [(node, name) for node in model.graph.node for name in node.input if name in masks]
    if not readers or any(node.op_type not in ("Add", "Where") for node, _ in readers):
        return model
    range_of, lowest = observe(model), dict.fromkeys(masks, 0.0)
    for node, name in readers:
        low, high = range_of(next(i for i in node.input[-2:] if i != name))
        # What is masked lies below everything that is not.
        found = low - _BELOW if node.op_type == "Where" else low - high - _BELOW
        lowest[name] = min(lowest[name], found)
    for constant in model.graph.initializer:
        if constant.name in masks:
            array = masks[constant.name]
            made = np.where(array <= MASK, np.float32(lowest[constant.name]), array)
            constant.CopyFrom(numpy_helper.from_array(made.astype(np.float32), constant.name))
    return model


def _floats(constant: Any) -> np.ndarray | None:
    from onnx import TensorProto, numpy_helper

    return np.asarray(numpy_helper.to_array(constant)) if constant.data_type == TensorProto.FLOAT else None
