"""One-operator models of the PULP dialect."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.zoo.onnx_graph import number
from tvm_pulp.qnn.interpret import interpret


def model(
    operator: str,
    inputs: dict[str, Sequence[int]],
    constants: Sequence[np.ndarray] = (),
    element: int = TensorProto.FLOAT,
    **attributes: Any,
) -> Any:
    """One node; numbers among the attributes are stored as float tensors, as the dialect's exporters do."""
    names = [f"constant{i}" for i in range(len(constants))]
    stored = {k: number(v) if isinstance(v, int | float) else v for k, v in attributes.items()}
    node = helper.make_node(operator, [*inputs, *names], ["y"], name="node", domain="PACTOps", **stored)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(name, element, list(shape)) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(c, np.float32), n) for n, c in zip(names, constants, strict=True)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("PACTOps", 1)])


def imported(graph: Any, **types: str) -> Imported:
    return import_onnx_graph(from_model(graph), ImportOptions(input_types=types))


def run(graph: Any, *arrays: np.ndarray) -> np.ndarray:
    """The answer of the canonical module; input types are those of the arrays."""
    names = [i.name for i in graph.graph.input]
    found = imported(graph, **{n: str(a.dtype) for n, a in zip(names, arrays, strict=True)})
    (result,) = interpret(canonicalize(found), list(arrays))
    return result
