"""Functions for formulas that are written once: of numpy's arrays in a reference, of TIR's expressions in loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn import fixed_point, fixed_point_functions, real
from tvm_pulp.qnn.loops import call, i32
from tvm_pulp.qnn.record import Rounded


def either(in_numpy: Callable[..., Any], in_tir: Callable[..., Any]) -> Callable[..., Any]:
    """One function of two forms; the first operand decides."""

    def function(*operands: Any) -> Any:
        return (in_numpy if isinstance(operands[0], np.ndarray | np.generic) else in_tir)(*operands)

    return function


def helper(name: str, in_numpy: Callable[..., Any], dtype: str = "int32") -> Callable[..., Any]:
    """A helper of the C runtime, and what it computes."""
    return either(in_numpy, lambda *operands: call(name, *operands, dtype=dtype))


# A whole number in a sum: of 64 bits in numpy, of 32 in TIR.
whole = either(lambda value: value.astype(np.int64), i32)
minimum = either(np.minimum, tirx.min)
maximum = either(np.maximum, tirx.max)
select = either(np.where, tirx.Select)
clip = helper("clip", np.clip)
round_within = helper("round_within", real.round_within)
real_of = helper("real_of", real.real_of, "float32")
inverse_root = helper("inverse_root", real.inverse_root, "float32")
rounding_shift = helper("rounding_shift", fixed_point.rounding_shift)
add_half_even = helper("add_half_even", fixed_point.add_half_even)
scale_tflite = helper("scale_tflite", fixed_point.multiply)
sigmoid16 = helper("sigmoid16", fixed_point_functions.sigmoid16)
tanh16 = helper("tanh16", fixed_point_functions.tanh16)


def single(value: float) -> float:
    """A number in single precision."""
    return float(np.float32(value))


def rounded(value: Any, attributes: Rounded, *, of_result: bool = False) -> Any:
    """The nearest integer from `low` to `high`, plus `zero_point`; `of_result`: the limits are those of the sum."""
    zero = attributes.zero_point
    low, high = (end - (zero if of_result else 0) for end in (attributes.low, attributes.high))
    return (round_within(value, low, high) + zero).astype(attributes.dtype)
