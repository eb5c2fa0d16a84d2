"""Every tensor of an ONNX model, as onnxruntime computes it without changing the graph."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError


def onnxruntime_values(model: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs and results of all nodes in the order of the file. `model` is a file or a model in memory."""
    import onnx

    try:
        import onnxruntime
    except ImportError:
        raise UserError("comparing with onnxruntime needs it: pip install onnxruntime") from None
    shown = onnx.ModelProto()
    shown.CopyFrom(onnx.load(str(model)) if isinstance(model, str | Path) else model)
    outputs = {output.name for output in shown.graph.output}
    for name in (name for node in shown.graph.node for name in node.output if name):
        if name not in outputs:
            shown.graph.output.append(onnx.ValueInfoProto(name=name))
            outputs.add(name)
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(shown.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        feeds = {entry.name: _as(inputs[entry.name], entry.type) for entry in session.get_inputs()}
        names = [entry.name for entry in session.get_outputs()]
        values = session.run(names, feeds)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"onnxruntime does not run the model, so there is nothing to compare with ({reason}): give inputs that it "
            "takes with --inputs"
        ) from None
    order = {name: number for number, name in enumerate(n for node in shown.graph.node for n in node.output)}
    made = {name: np.asarray(value) for name, value in zip(names, values, strict=True) if _is_numeric(value)}
    return {**feeds, **dict(sorted(made.items(), key=lambda item: order.get(item[0], -1)))}


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _as(array: np.ndarray, kind: str) -> np.ndarray:
    """An input in the type that the model states, `tensor(float)` for example."""
    names = {"float": "float32", "double": "float64", "bool": "bool", "float16": "float16"}
    wanted = kind.removeprefix("tensor(").removesuffix(")")
    return array.astype(names.get(wanted, wanted))
