"""The rounding of what an engine multiplied and a sum with another tensor in one pass, where the sum is linear."""

from collections.abc import Mapping
from typing import Any

from schedules.byte_tables import byte_values
from schedules.cluster.add import linear_sum_of
from schedules.cluster.base import Fields
from schedules.cluster.steps import in_fours, step
from schedules.kernel_cycles import Work, share_groups, work
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Kernel

_INT32 = 1 << 31


@step("requantize_sum", "x stages b")
def _requantize_sum(kernel: Kernel, costs: CostModel) -> Fields | None:
    """Attributes: `sum`, those of the operator; `types` and `scalars` of its operands; `place` of the rounded one.

    Its smallest value is `low`.
    """
    fields, found = in_fours(kernel, costs), sum_fields(kernel.attributes)
    return None if fields is None or found is None or "taken" in kernel.attributes else fields | found


def sum_fields(a: Mapping[str, Any]) -> Fields | None:
    """Factors, summand and shift for a first operand and a result that are signed bytes; None where none are exact."""
    linear = linear_sum_of(a["sum"], tuple(a["types"]), tuple(a["scalars"]))
    if linear is None:
        return None
    mul, mul_b = (linear.mul_a, linear.mul_b) if a["place"] == 0 else (linear.mul_b, linear.mul_a)
    add = linear.add + mul * (a["low"] + 128) - ((Requant.of(a["sum"]).low + 128) << linear.shift)
    # What is shifted has to stay within 32 bits.
    other = byte_values(a["types"][1 - a["place"]])
    corners = [v * mul + int(b) * mul_b + add for v in (-128, 127) for b in (other.min(), other.max())]
    if max(map(abs, corners)) >= _INT32:
        return None
    return {"mul": mul, "mul_b": mul_b, "add": add, "shift": linear.shift}


@work("requantize_sum", "requantize_table")
def requantize_sum_work(f: Fields, cores: int) -> Work:
    """Groups of four channels of some rows."""
    groups, rows = share_groups(f["columns"] // 4, f["rows"], cores)
    return {"call": 1, "group": groups, "element": 4 * groups * rows}
