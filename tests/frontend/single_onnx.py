"""Models of one standard ONNX node."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper, numpy_helper


def node_model(
    operator: str,
    inputs: Sequence[np.ndarray],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 18,
    results: int = 1,
    **attributes: Any,
) -> Any:
    """Inputs are called x0, x1, … and have the types and shapes of arrays; results are y, y1, …"""
    values = [
        helper.make_tensor_value_info(f"x{n}", helper.np_dtype_to_tensor_dtype(a.dtype), list(a.shape))
        for n, a in enumerate(inputs)
    ]
    held = [numpy_helper.from_array(np.asarray(v), name) for name, v in (constants or {}).items()]
    names = [f"y{n}" if n else "y" for n in range(results)]
    node = helper.make_node(operator, [*(v.name for v in values), *(h.name for h in held)], names, **attributes)
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    made = [helper.make_tensor_value_info(name, kind, None) for name in names]
    graph = helper.make_graph([node], "one", values, made, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
