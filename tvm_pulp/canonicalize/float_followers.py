"""Float functions of pictures that keep the layout of what they are applied to.

The sums of a convolution that stay unrounded are scaled, biased and activated in floats, element by element: channels
last is as good as channels first, and the next convolution wants them last.
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.rewriter import constant, relax_name, spec_of

_NAMES = "abs add astype clip divide erf exp log maximum minimum multiply negative quantize rsqrt sigmoid sqrt square"
_OPERATORS = {f"relax.{name}" for name in (*_NAMES.split(), "subtract", "tanh")}
_OPERATORS |= {f"relax.nn.{name}" for name in ("gelu", "gelu_tanh", "leakyrelu", "relu", "silu")}


def follows(call: Any) -> bool:
    """Tell if a call works element by element on tensors of four axes, and how its constants lie beside them."""
    if relax_name(call) not in _OPERATORS or len(spec_of(call).shape) != 4:
        return False
    tensors = [a for a in call.args if isinstance(a, relax.Var)]
    held = [array for a in call.args if (array := constant(a)) is not None]
    # Scales of a quantization lie along an axis that it names.
    ranks = (3, 4) if relax_name(call) == "relax.quantize" else (1, 2, 3, 4)
    return all(len(spec_of(t).shape) == 4 for t in tensors) and all(a.size == 1 or a.ndim in ranks for a in held)


def moved_constant(argument: Any, axes: list[int]) -> Any:
    """A constant operand with its axes in another order; others as they are."""
    array = constant(argument)
    if array is None or array.size == 1:
        return argument
    whole = array.reshape((1,) * (4 - array.ndim) + array.shape)
    return relax.const(np.ascontiguousarray(whole.transpose(axes)), str(array.dtype))
