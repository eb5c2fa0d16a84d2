"""Multiply-accumulates of a float ONNX graph."""

import math
from typing import Any

from onnx import shape_inference

GATES = {"LSTM": 4, "GRU": 3}


def count_macs(model: Any) -> int:
    """Of convolutions, products and recurrent layers."""
    model = shape_inference.infer_shapes(model)
    infos = (*model.graph.input, *model.graph.value_info, *model.graph.output)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in infos}
    shapes |= {i.name: list(i.dims) for i in model.graph.initializer}
    total = 0
    for node in model.graph.node:
        sizes = [shapes.get(name, []) for name in (*node.input, *node.output)]
        if node.op_type == "Conv":
            total += math.prod(shapes[node.output[0]]) * math.prod(sizes[1][1:])
        elif node.op_type == "ConvTranspose":
            total += math.prod(sizes[0]) * math.prod(sizes[1][1:])
        elif node.op_type == "MatMul" or node.op_type == "Gemm":
            total += math.prod(shapes[node.output[0]]) * sizes[0][-1]
        elif node.op_type in GATES:
            steps, batch, width = sizes[0]
            hidden = sizes[2][-1]
            total += steps * batch * GATES[node.op_type] * hidden * (width + hidden)
    return total
