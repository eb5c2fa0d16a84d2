"""Tables and sums behind a product and a constant row added to it, in the pass that makes both roundings."""

from collections.abc import Mapping
from typing import Any

from schedules.byte_tables import byte_values
from schedules.cluster.base import Fields
from schedules.cluster.requantize_sum import requantize_sum_work, sum_fields
from schedules.cluster.steps import in_fours, step
from schedules.kernel_cycles import Work, share, work
from schedules.kernel_numbers import TYPES
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Kernel

_INT32 = 1 << 31
_UNSIGNED = 128


@step("requantize_add_sum", "x stages b")
def _requantize_add_sum(kernel: Kernel, costs: CostModel) -> Fields | None:
    """With the attributes of `requantize_sum` for the sum; what is added has the type of the result."""
    fields, found = in_fours(kernel, costs), unmoved_sum_fields(kernel.attributes)
    return None if fields is None or found is None else fields | found


def unmoved_sum_fields(a: Mapping[str, Any]) -> Fields | None:
    """Factors, summand, shift and type of the sum; its result is not moved to signed bytes, but clipped to its type."""
    result, other = a["sum"]["requant_dtype"], a["types"][1 - a["place"]]
    found = sum_fields(a) if other == result else None
    if found is None:
        return None
    add = found["add"] + (0 if result == "int8" else _UNSIGNED << found["shift"])
    values = byte_values(other)
    ends = [v * found["mul"] + int(b) * found["mul_b"] for v in (-128, 127) for b in (values.min(), values.max())]
    if max(abs(end + add) for end in ends) >= _INT32:
        return None
    of_sum = {"mul_a": found["mul"], "mul_b": found["mul_b"], "add": add, "shift_sum": found["shift"]}
    return {**of_sum, "type": TYPES[result]}


# They walk over groups and rows as the kernel of one rounding and a sum does.
work("requantize_add_table", "requantize_add_sum")(requantize_sum_work)


@work("requantize_add")
def requantize_add_work(f: Fields, cores: int) -> Work:
    """As one rounding and a sum; a single row has a loop of its own."""
    if f["rows"] == 1:
        return {"row_call": 1, "row_group": share(f["columns"] // 4, cores)}
    return requantize_sum_work(f, cores)
