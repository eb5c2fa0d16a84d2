"""Operands that decide a result's shape or which code is written: they must be constant, and here is which ones."""

from collections.abc import Iterable
from typing import Any

from tvm import relax

from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_protos import operand

_RECURRENT = (3, 4)
# By operator, the places of these operands.
CONSTANT_OPERANDS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Reshape", "Expand", "Tile", "Split", "Squeeze", "Unsqueeze", "TopK", "CumSum"), (1,)),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1"), (1,)),
    **dict.fromkeys(("ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"), (1,)),
    **dict.fromkeys(("Compress", "AffineGrid", "Trilu", "Upsample"), (1,)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _RECURRENT),
    "ConstantOfShape": (0,),
    "ConvInteger": (1, 3),
    "Dropout": (1, 2),
    "MaxUnpool": (2,),
    "NonMaxSuppression": (2, 3, 4),
    "OneHot": (1, 2),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
}
# These ask for the shape of their operand, not for what is in it.
_SHAPES = frozenset({"Shape", "Size"})


def constant_operands(node: Any) -> list[str]:
    """Names of the operands of a node that must be constant."""
    places = CONSTANT_OPERANDS.get(node.op_type, ()) if node.domain in ("", "ai.onnx") else ()
    return [name for name in (operand(node, place) for place in places) if name]


def deciding_values(nodes: Iterable[Any]) -> tuple[set[str], set[str]]:
    """Values that must be constant, and those that they are computed from; nodes stand in execution order."""
    direct: set[str] = set()
    sources: set[str] = set()
    for node in reversed(list(nodes)):
        direct.update(constant_operands(node))
        if node.op_type not in _SHAPES and any(name in direct or name in sources for name in node.output):
            sources.update(name for name in node.input if name)
    return direct, sources


def not_constant(c: Conversion) -> str:
    """Those operands of a node that must be constant and are not, in words; nothing where there are none."""
    given = c.operands(1 + max(CONSTANT_OPERANDS.get(c.op_type, (0,))))
    places = [
        place
        for place in CONSTANT_OPERANDS.get(c.op_type, ())
        if given[place] is not None and isinstance(given[place].ty, relax.TensorType) and c.constant(place) is None
    ]
    return "" if not places else f"operand{'s' * (len(places) > 1)} {' and '.join(map(str, places))}"
