"""Values of a model's own tensors, as its framework computes them: onnxruntime, LiteRT, PyTorch or XLA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.frontend.frameworks import load_program
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.frontend.load import format_of
from tvm_pulp.plug_ins import needed


@dataclass(frozen=True)
class Reference:
    """Tensors by the model's names, in the order they are computed."""

    framework: str
    tensors: dict[str, np.ndarray]
    # By how much one layer may differ from it, in steps of an integer result.
    bound_lsb: int = 0
    # Results of the framework's layers by the user's names, beside what its program computes.
    layers: dict[str, np.ndarray] = field(default_factory=dict)


def given_values(arrays: Mapping[str, np.ndarray]) -> Reference:
    """Arrays that somebody else computed; every layer has to give them exactly."""
    return Reference("the given arrays", {name: np.asarray(array) for name, array in arrays.items()})


def model_values(model: Any, imported: Imported, inputs: Mapping[str, np.ndarray]) -> Reference:
    """Values that its framework computes. `model` is a file, an ONNX model or a program in memory.

    No framework runs the PULP dialect: its reference is that of the operators of the file, one by one.
    """
    suffix = Path(model).suffix.lower() if isinstance(model, str | Path) else ""
    program = _program(model)
    if program is not None:
        ordered = [inputs[name] for name in imported.inputs]
        if hasattr(program, "onnx_model"):
            tensors, layers = program.values(ordered)
            return Reference(program.framework, tensors, bound_lsb=1, layers=layers)
        return Reference("PyTorch", torch_values(program, ordered, imported.outputs), bound_lsb=1)
    if imported.dialect == "pulp":
        from tvm_pulp.qnn.interpret import interpret_all

        return Reference("numpy", interpret_all(imported.module, [inputs[name] for name in imported.inputs]))
    if suffix == ".tflite":
        return Reference("LiteRT", litert_values(Path(model), [inputs[name] for name in imported.inputs]))
    # Its float32 decides ties differently, rarely, and by one step.
    return Reference("onnxruntime", onnxruntime_values(model, inputs), bound_lsb=1)


def onnxruntime_values(model: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs and results of all nodes in the order of the file. `model` is a file or a model in memory."""
    import onnx

    onnxruntime = needed("onnxruntime", "comparing with onnxruntime needs it: pip install onnxruntime")
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
    refused = "onnxruntime does not run the model, so there is nothing to compare with"
    with refuse_library_errors(refused, ": give inputs that it takes with --inputs"):
        session = onnxruntime.InferenceSession(shown.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        feeds = {entry.name: _as(inputs[entry.name], entry.type) for entry in session.get_inputs()}
        names = [entry.name for entry in session.get_outputs()]
        values = session.run(names, feeds)
    order = {name: number for number, name in enumerate(n for node in shown.graph.node for n in node.output)}
    made = {name: value for name, value in zip(names, values, strict=True) if _is_numeric(value)}
    return {**feeds, **dict(sorted(made.items(), key=lambda item: order.get(item[0], -1)))}


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _as(array: np.ndarray, kind: str) -> np.ndarray:
    """An input in the type that the model states, `tensor(float)` for example."""
    wanted = kind.removeprefix("tensor(").removesuffix(")")
    return array.astype({"float": "float32", "double": "float64"}.get(wanted, wanted))


def litert_values(path: Path, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Tensors by name, those of the file's constants included; a name that comes twice has a number behind it."""
    litert = needed("ai_edge_litert.interpreter", "comparing with LiteRT needs it: pip install ai-edge-litert")
    machine = litert.Interpreter(
        str(path),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    machine.allocate_tensors()
    for detail, array in zip(machine.get_input_details(), inputs, strict=True):
        machine.set_tensor(detail["index"], array.astype(detail["dtype"]).reshape(detail["shape"]))
    machine.invoke()
    found: dict[str, np.ndarray] = {}
    for detail in machine.get_tensor_details():
        try:
            value = np.array(machine.get_tensor(detail["index"]))
        except ValueError:  # it has no data: an operand that is left out
            continue
        if _is_numeric(value):
            found[detail["name"] if detail["name"] not in found else f"{detail['name']}:{detail['index']}"] = value
    return found


def _program(model: Any) -> Any:
    """The framework's program that a model is, in memory or in a file; None for another."""
    if not isinstance(model, str | Path):
        return model if hasattr(model, "graph_signature") or hasattr(model, "onnx_model") else None
    found = format_of(Path(model))
    return None if found in (None, "onnx", "tflite") else load_program(Path(model), str(found))


def torch_values(program: Any, inputs: Sequence[np.ndarray], outputs: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Values by the names of the nodes of an exported program, and what it returns by other names."""
    import torch

    found: dict[str, np.ndarray] = {}

    class Recorder(torch.fx.Interpreter):
        def run_node(self, node: Any) -> Any:
            value = super().run_node(node)
            if isinstance(value, torch.Tensor):
                array = value.detach().cpu()
                if array.dtype is not torch.bfloat16:
                    found[node.name] = array.numpy()
            return value

    with torch.no_grad():
        given = [torch.from_numpy(np.array(array)) for array in inputs]
        Recorder(program.module()).run(*given)
        made = torch.utils._pytree.tree_leaves(program.module()(*given)) if outputs else []
    tensors = [m.detach().cpu().numpy() for m in made if isinstance(m, torch.Tensor) and m.dtype is not torch.bfloat16]
    if len(tensors) == len(outputs):
        found |= dict(zip(outputs, tensors, strict=True))
    return {name: value for name, value in found.items() if _is_numeric(value)}
