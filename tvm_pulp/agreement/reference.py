"""Values of a model's own tensors, as its framework computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
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
    """What onnxruntime or LiteRT computes. `model` is a file, or an ONNX model in memory.

    No framework runs the PULP dialect: its reference is that of the operators of the file, one by one.
    """
    if imported.dialect == "pulp":
        from tvm_pulp.qnn.interpret import interpret_all

        return Reference("numpy", interpret_all(imported.module, [inputs[name] for name in imported.inputs]))
    if imported.dialect == "tflite":
        from tvm_pulp.agreement.litert_values import litert_values

        return Reference("LiteRT", litert_values(Path(model), [inputs[name] for name in imported.inputs]))
    if isinstance(model, str | Path) and Path(model).suffix == ".tflite":
        raise UserError(f"verify: no reference for '{model}', a TFLite file without quantization that LiteRT states")
    from tvm_pulp.agreement.onnxruntime_values import onnxruntime_values

    # Its float32 decides ties differently, rarely, and by one step.
    return Reference("onnxruntime", onnxruntime_values(model, inputs), bound_lsb=1)
