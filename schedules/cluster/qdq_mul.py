"""Products of quantize/dequantize graphs: two tensors of one shape, or one of them a row that is repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedules.cluster.base import TYPES, Arguments
from schedules.cluster.elementwise import ElementwiseKernel, output_local, same_or_row
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Pointer, Recipe


def applies(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it."""
    shape = layer.outputs[0].spec.shape
    return all(same_or_row(t.spec, shape) for t in layer.inputs[:2]) and any(
        t.spec.shape == shape for t in layer.inputs[:2]
    )


@dataclass(frozen=True)
class QdqMulKernel(ElementwiseKernel):
    name: str = "qdq_mul kernel"

    def data(self) -> list[Tensor]:
        return self.layer.inputs[:2]

    def recipe(self, box: Box) -> Recipe:
        layer, attributes = self.layer, self.layer.attributes
        pairs = list(zip("ab", layer.inputs[:2], strict=True))
        if pairs[0][1].spec.shape != layer.outputs[0].spec.shape:
            pairs.reverse()
        arguments = Arguments()
        rows, columns = self.geometry(box)
        (a, _), (b, b_stride) = (self.operand(arguments, n, t, box, columns) for n, t in pairs)
        scale = self.derived.constant(f"{layer.name}_scale", np.array([attributes["scale"]], np.float32))
        y = output_local(self, box)
        fields = {
            "a": a, "b": b, "y": Pointer(y), "scale": arguments.load_whole("scale", scale), "rows": rows,
            "columns": columns, "b_stride": b_stride, "a_type": TYPES[pairs[0][1].spec.dtype],
            "b_type": TYPES[pairs[1][1].spec.dtype], "zero_point_a": attributes[f"zero_point_{pairs[0][0]}"],
            "zero_point_b": attributes[f"zero_point_{pairs[1][0]}"],
            **{n: attributes[n] for n in ("low", "high", "zero_point")},
        }  # fmt: skip
        return arguments.finish("qdq_mul", "qdq_mul", fields, (y, layer.outputs[0], box), self.costs)
