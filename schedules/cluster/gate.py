"""A function of a byte times another tensor, in one loop."""

from schedules.byte_tables import by_stored_byte
from schedules.cluster.arithmetic import uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, schedule
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES


def applies_gate(layer: Layer) -> bool:
    """A table of int8, int8, and the PULP rule with products of 32 bits to bytes that one instruction clips."""
    (_, b, table), rule = layer.inputs[:3], Requant.of(layer.attributes)
    stored = [layer.inputs[0].spec.dtype in BYTES, b.spec.dtype == "int8", table.spec.dtype == "int8"]
    narrow = rule.kind == "pulp" and not rule.wide and rule.out_dtype in BYTES and rule.low in (0, ~rule.high)
    return all(stored) and table.data is not None and narrow and uniform_requant(layer)


@schedule("gate", applies_gate)
class GateKernel(KernelForm):
    def fields(self, call: Arguments, box: Box) -> Fields:
        a, b, table = self.layer.inputs[:3]
        pointers = {"a": call.load("a", a, box), "b": call.load("b", b, box)}
        entries = by_stored_byte(table.values, a.spec.dtype).view(table.spec.dtype)
        return {**pointers, "table": call.load_constant("table", entries), "count": box.elements, **call.requant()}
