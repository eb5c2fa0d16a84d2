"""Constants that are quantized once more: what several layers share is dequantized, passed on and quantized again.

QuantizeLinear(Identity(DequantizeLinear(constant)))        becomes a constant of integers
"""

from typing import Any

import numpy as np
from onnx import numpy_helper

from tvm_pulp.frontend.onnx_fold import fold
from tvm_pulp.frontend.onnx_protos import constant_of


def quantized_constants(graph: Any, opset: int) -> Any:
    """Changes the graph, and returns it."""
    constants = {i.name: i for i in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    values: dict[str, np.ndarray | None] = {}

    def value(name: str) -> np.ndarray | None:
        if name not in values:
            values[name] = None
            if name in constants:
                values[name] = numpy_helper.to_array(constants[name])
            elif name in makers and makers[name].op_type in ("Identity", "DequantizeLinear", "QuantizeLinear"):
                operands = {n: value(n) for n in makers[name].input if n}
                known = {n: o for n, o in operands.items() if o is not None}
                results = fold(makers[name], known, opset) if len(known) == len(operands) else None
                values[name] = None if results is None else results[0]
        return values[name]

    kept = []
    for node in graph.node:
        made = value(node.output[0]) if node.op_type == "QuantizeLinear" else None
        if made is None:
            kept.append(node)
        else:
            graph.initializer.append(constant_of(node.output[0], made))
    del graph.node[:]
    graph.node.extend(kept)
    return graph
