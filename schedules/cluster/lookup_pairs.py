"""Sums of many bytes by a table of all pairs, where L1 has room for it and a transfer the time."""

from functools import cached_property

import numpy as np

from schedules.byte_tables import byte_values
from schedules.cluster.add import AddKernel, applies_in_range
from schedules.cluster.add import applies as applies_add
from schedules.cluster.base import Arguments, Box, Fields, Layer, Schedule, register
from schedules.cluster.elementwise import ElementwiseKernel
from tvm_pulp.qnn.add import Add, AddAttributes
from tvm_pulp.qnn.tensor_spec import BYTES

# Elements from which on a table of 64 kB is offered: fewer are added while it is brought.
_WORTH_THE_TRANSFER = 4096


def applies(layer: Layer) -> bool:
    """Sums of thousands of bytes in the result's shape, offered beside the kernel that computes them."""
    result, operands, constants = layer.outputs[0].spec, layer.inputs[:2], layer.inputs[2:]
    if result.elements < _WORTH_THE_TRANSFER or not applies_add(layer) or applies_in_range(layer):
        return False
    alike = all(t.spec.shape == result.shape and t.spec.dtype in BYTES for t in operands) and result.dtype in BYTES
    return alike and all(t.spec.elements == 1 and t.data is not None for t in constants)


class LookupPairsKernel(ElementwiseKernel):
    kernel, label, names = "lookup_pairs", "add by a table of pairs", "ab"

    @cached_property
    def table(self) -> np.ndarray:
        """Results by the bytes of both operands as they are stored."""
        a, b = (byte_values(t.spec.dtype) for t in self.layer.inputs[:2])
        constants = [t.values for t in self.layer.inputs[2:]]
        return Add().reference(AddAttributes.of(self.layer), [a[:, None], b[None, :], *constants])

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, b = (call.load(name, t, box) for name, t in zip("ab", self.layer.inputs[:2], strict=True))
        return {"a": a, "b": b, "table": call.load_constant("pairs", self.table), "count": box.elements}


register("add", Schedule(applies, LookupPairsKernel), Schedule(applies_add, AddKernel, is_smaller=True), first=True)
