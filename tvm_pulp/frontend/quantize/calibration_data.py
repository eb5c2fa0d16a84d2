"""Samples to calibrate with, and models that run on them in onnxruntime, which is an extra.

There is one array per input of the model, samples along the first axis.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.plug_ins import needed

_OPTION = "calibration"
Feeds = dict[str, np.ndarray]


def calibration_samples(model: Any, arrays: Mapping[str, np.ndarray]) -> list[Feeds]:
    """A feed per sample. Names match by graph name; one array for one input may have any name."""
    shapes = input_shapes(model)
    if len(shapes) == 1 and len(arrays) == 1:
        arrays = {next(iter(shapes)): next(iter(arrays.values()))}
    parts = {name: _parts(name, shape, arrays) for name, shape in shapes.items()}
    counts = {name: len(part) for name, part in parts.items()}
    if len(set(counts.values())) > 1:
        stated = ", ".join(f"{count} for '{name}'" for name, count in counts.items())
        raise UserError(f"{_OPTION}: inputs have different numbers of samples ({stated}): give one of each per sample")
    return [{name: parts[name][i] for name in parts} for i in range(next(iter(counts.values()), 0))]


def input_shapes(model: Any) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and type of every input; -1 is a size that the model leaves open."""
    from onnx import helper

    constants = {i.name for i in model.graph.initializer}
    found = {}
    for entry in model.graph.input:
        if entry.name not in constants:
            kind = entry.type.tensor_type
            shape = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim)
            found[entry.name] = (shape, helper.tensor_dtype_to_np_dtype(kind.elem_type))
    return found


def _parts(name: str, stated: tuple[tuple[int, ...], Any], arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    shape, dtype = stated
    if name not in arrays:
        raise UserError(f"{_OPTION} holds no array for input '{name}': it has {', '.join(arrays) or 'nothing'}")
    array = np.asarray(arrays[name])
    refuse_if(array.dtype.kind not in "biuf", f"{_OPTION}: array '{name}' holds {array.dtype} values, not numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise UserError(f"{_OPTION}: array '{name}' holds values that are not finite: calibrate with real samples")
    batch = shape[0] if shape and shape[0] > 0 else 1
    inner = shape[1:]
    if array.ndim == len(shape) + 1 and (array.shape[1] == batch or shape[0] == -1):
        array = array.reshape(-1, *array.shape[2:])
    fits = array.ndim == len(shape) and all(d in (-1, n) for d, n in zip(inner, array.shape[1:], strict=True))
    if not shape or not fits or array.shape[0] % batch:
        text = "x".join("?" if d < 0 else str(d) for d in inner)
        raise UserError(
            f"{_OPTION}: array '{name}' has shape {list(array.shape)}, but input '{name}' takes samples of {text}: put "
            "them one after the other along the first axis"
        )
    refuse_if(array.shape[0] == 0, f"{_OPTION}: array '{name}' holds no sample: give at least one")
    return [np.ascontiguousarray(part, dtype) for part in np.split(array, array.shape[0] // batch)]


def check_installed() -> None:
    """A user error that says what to install."""
    needed("onnxruntime.quantization", "quantize needs onnxruntime: pip install 'tvm_pulp[quantize]'")


def basic_settings() -> Any:
    """Settings of a quiet session that joins no operators: they would round otherwise than the standard says."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return settings


def session(model: Any, settings: Any) -> Any:
    """The model in onnxruntime."""
    import onnxruntime

    return onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])


def run_model(model: Any, samples: Sequence[Mapping[str, np.ndarray]]) -> list[list[np.ndarray]]:
    """Outputs for every sample."""
    made = session(model, basic_settings())
    return [[np.asarray(o) for o in made.run(None, dict(sample))] for sample in samples]


def refuse_samples() -> AbstractContextManager[None]:
    """Complaints of onnxruntime about a model and its samples, as a user error."""
    return refuse_library_errors(f"{_OPTION}: onnxruntime does not run the model with it")
