"""The use that an operator makes of an operand: constants are named after it."""

from tvm_pulp.qnn.operator import Attributes, Operator
from tvm_pulp.qnn.requant import Requant

# Tensors of a requantization, by its kind.
_REQUANT_ROLES = {
    "tflite": ("mul", "exponent"),
    "half_up": ("mul", "shift"),
    "half_even": ("mul", "shift"),
    "offset_half_even": ("mul", "offset_shift"),
    "shift": ("shift", "add"),
    "shift_even": ("shift", "add"),
    "shift_away": ("shift", "add"),
}


def operand_role(operator: Operator, attributes: Attributes, position: int, count: int) -> str:
    """The use of operand number `position` of `count`; "constant" where its operator does not name it."""
    rule = Requant.of(attributes)
    behind = position - (count - (rule.operands if operator.rounds_by_tensors(attributes) else 0))
    if behind >= 0:
        return _REQUANT_ROLES.get(rule.kind, ("mul", "add"))[behind]
    return dict(enumerate(operator.operand_names.split())).get(position, "constant")
