"""Tables and sums behind a product and a constant row added to it, in the pass that makes both roundings."""

from schedules.byte_tables import byte_values
from schedules.cluster.arithmetic import TYPES
from schedules.cluster.base import Fields, fours, kernel_call, only_cost
from schedules.cluster.requantize_sum import requantize_sum_work, sum_fields
from schedules.kernel_cycles import work
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer

_INT32 = 1 << 31
_UNSIGNED = 128
_ROUNDING = ("mul", "shift")


def requantize_add_table(kernel: Kernel, costs: CostModel) -> Call | None:
    """Channels in fours; without operands the question is only whether there is a kernel."""
    found = fours(kernel.inputs[0].spec)
    if found is None:
        return None
    if not kernel.outputs:
        return only_cost("requantize_add_table", found, costs)
    (x, stages, table), (y,) = kernel.inputs, kernel.outputs
    assert isinstance(x, Local) and isinstance(stages, Local) and isinstance(table, Local) and isinstance(y, Local)
    pointers = {"x": Pointer(x), "y": Pointer(y), "stages": Pointer(stages), "table": Pointer(table)}
    fields = {**pointers, **found, **{name: kernel.attributes[name] for name in _ROUNDING}}
    return kernel_call("requantize_add_table", fields, costs, [x, stages, table], [y])


def requantize_add_sum(kernel: Kernel, costs: CostModel) -> Call | None:
    """As above, with the attributes of `requantize_sum` for the sum; what is added has the type of the result."""
    a, found = kernel.attributes, fours(kernel.inputs[0].spec)
    total = None if found is None else unmoved_sum_fields(a)
    if found is None or total is None:
        return None
    if not kernel.outputs:
        return only_cost("requantize_add_sum", found, costs)
    (x, stages, b), (y,) = kernel.inputs, kernel.outputs
    assert isinstance(x, Local) and isinstance(stages, Local) and isinstance(b, Local) and isinstance(y, Local)
    pointers = {"x": Pointer(x), "y": Pointer(y), "stages": Pointer(stages), "b": Pointer(b)}
    fields = {**pointers, **found, **total, **{name: a[name] for name in _ROUNDING}}
    return kernel_call("requantize_add_sum", fields, costs, [x, stages, b], [y])


def unmoved_sum_fields(a: Fields) -> Fields | None:
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
