"""The operands that layers on floats are for."""

from typing import Any

from tvm_pulp.canonicalize.match import require
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec


def float_spec(x: Any) -> TensorSpec:
    """The type of a tensor that must hold floats, and at least one."""
    spec = spec_of(x)
    require(spec.dtype == "float32" and spec.elements)
    return spec
