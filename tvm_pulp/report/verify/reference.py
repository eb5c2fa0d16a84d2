"""Values of a model's own tensors, as its framework computes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.frontend.imported import Imported


@dataclass(frozen=True)
class Reference:
    """Tensors by the model's names, in the order they are computed."""

    framework: str
    tensors: dict[str, np.ndarray]
    # By how much one layer may differ from it, in steps of an integer result.
    bound_lsb: int = 0


def given_values(arrays: Mapping[str, np.ndarray]) -> Reference:
    """Arrays that somebody else computed; every layer has to give them exactly."""
    return Reference("the given arrays", {name: np.asarray(array) for name, array in arrays.items()})


def model_values(model: Any, imported: Imported, inputs: Mapping[str, np.ndarray]) -> Reference:
    """Values that onnxruntime, LiteRT or PyTorch computes. `model` is a file, an ONNX model or a program in memory.

    No framework runs the PULP dialect: its reference is that of the operators of the file, one by one.
    """
    suffix = Path(model).suffix.lower() if isinstance(model, str | Path) else ""
    if suffix == ".pt2" or hasattr(model, "graph_signature"):
        from tvm_pulp.report.verify.torch_values import torch_values

        return Reference("PyTorch", torch_values(model, [inputs[name] for name in imported.inputs]), bound_lsb=1)
    if imported.dialect == "pulp":
        from tvm_pulp.qnn.interpret import interpret_all

        return Reference("numpy", interpret_all(imported.module, [inputs[name] for name in imported.inputs]))
    if suffix == ".tflite":
        from tvm_pulp.report.verify.litert_values import litert_values

        return Reference("LiteRT", litert_values(Path(model), [inputs[name] for name in imported.inputs]))
    from tvm_pulp.report.verify.onnxruntime_values import onnxruntime_values

    # Its float32 decides ties differently, rarely, and by one step.
    return Reference("onnxruntime", onnxruntime_values(model, inputs), bound_lsb=1)
