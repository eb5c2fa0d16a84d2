"""An ONNX file whose sums of floats are computed in double precision.

In single precision onnxruntime's result depends on the order of its sums: a value that is -11.499997 steps of the
quantization behind it may come out as -11.5 and become another integer. What is right does not depend on that.
"""

from typing import Any

import onnx
from onnx import TensorProto, helper

SUMS = ("LayerNormalization", "MatMul", "ReduceMean", "Softmax")


def exact_sums(content: bytes) -> bytes:
    model = onnx.load_model_from_string(content)
    nodes: list[Any] = []
    for node in model.graph.node:
        if node.op_type not in SUMS:
            nodes.append(node)
            continue
        (result,) = node.output
        # Behind the first inputs of a mean are its axes.
        count = 1 if node.op_type == "ReduceMean" else len(node.input)
        wide = [f"{result}_double_{i}" for i in range(count)]
        for given, made in zip(node.input, wide, strict=False):
            nodes.append(helper.make_node("Cast", [given], [made], to=TensorProto.DOUBLE))
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        inputs = [*wide, *node.input[count:]]
        nodes.append(helper.make_node(node.op_type, inputs, [f"{result}_double"], domain=node.domain, **attributes))
        nodes.append(helper.make_node("Cast", [f"{result}_double"], [result], to=TensorProto.FLOAT))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model.SerializeToString()
