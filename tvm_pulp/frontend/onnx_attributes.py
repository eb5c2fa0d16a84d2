"""Plausibility of the integers that steer ONNX operators, before 32-bit code sees them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.limits import MOST_AXES
from tvm_pulp.frontend.onnx_protos import label, operand

# Attributes that count axes, and the operand that does so in newer operator sets.
_AXES = frozenset({"axis", "axes", "perm", "batch_dims", "split_axis"})
_AXES_OPERAND = {
    **dict.fromkeys(("Squeeze", "Unsqueeze", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"), 1),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "CumSum"), 1),
    **dict.fromkeys(("Slice", "Pad"), 3),
}
# Bounds of a slice may name "the end" by the largest number there is.
_ANY_SIZE = frozenset({"starts", "ends"})
_LARGEST = 1 << 24


def check_attributes(nodes: Iterable[Any], constants: Mapping[str, np.ndarray]) -> None:
    """Raise for axes, strides, groups and the like that no exporter writes."""
    for node in nodes:
        for attribute in node.attribute:
            numbers = [*attribute.ints, attribute.i]
            limit = MOST_AXES if attribute.name in _AXES else _LARGEST
            large = [n for n in numbers if abs(n) > limit and attribute.name not in _ANY_SIZE]
            if large:
                raise UserError(f"{label(node)}: attribute '{attribute.name}' is {large[0]}: export the model again")
        place = _AXES_OPERAND.get(node.op_type)
        axes = constants.get(operand(node, place)) if place is not None else None
        if axes is not None and axes.dtype.kind in "iu" and any(abs(int(a)) > MOST_AXES for a in axes.reshape(-1)):
            raise UserError(f"{label(node)}: axes {axes.reshape(-1)[:4].tolist()} do not exist: export the model again")
