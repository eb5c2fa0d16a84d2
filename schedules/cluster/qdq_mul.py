"""Products of quantize/dequantize graphs: two tensors of one shape, or one of them a row that is repeated."""

import numpy as np

from schedules.cluster.arithmetic import typed
from schedules.cluster.base import Arguments, Box, Fields, Layer, Schedule, register
from schedules.cluster.elementwise import ElementwiseKernel, elements_work, same_or_row
from schedules.kernel_cycles import Work, work


def applies(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it."""
    shape, data = layer.outputs[0].spec.shape, [t.spec for t in layer.inputs[:2]]
    return all(same_or_row(spec, shape) for spec in data) and any(spec.shape == shape for spec in data)


class QdqMulKernel(ElementwiseKernel):
    kernel, data_operands = "qdq_mul", 2

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, attributes = self.layer, self.layer.attributes
        pairs = list(zip("ab", layer.inputs[:2], strict=True))
        if pairs[0][1].spec.shape != layer.outputs[0].spec.shape:
            pairs.reverse()
        rows, columns = self.geometry(box)
        fields: Fields = {"rows": rows, "columns": columns}
        for side, (name, tensor) in zip("ab", pairs, strict=True):
            # The first operand has the shape of the result: only the second has a stride.
            fields[side], fields["b_stride"] = self.operand(call, name, tensor, box, columns)
            fields |= {f"{side}_type": typed(tensor), f"zero_point_{side}": attributes[f"zero_point_{name}"]}
        fields["scale"] = call.load_constant("scale", np.array([attributes["scale"]], np.float32))
        return fields | {n: attributes[n] for n in ("low", "high", "zero_point")}


@work("qdq_mul")
def qdq_mul_work(f: Fields, cores: int) -> Work:
    return elements_work(f, "element", cores, dense=f["rows"] == 1)


register("qdq_mul", Schedule(applies, QdqMulKernel))
