"""Change: quantize a model that is float."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.compilation import Compilation
from tvm_pulp.errors import UserError
from tvm_pulp.explain.suggestions.base import Change, cycles_of
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.load import format_of, import_onnx_graph
from tvm_pulp.frontend.quantize import quick_model

_SAMPLES = 2


def quantized_model(base: Compilation) -> Change | None:
    """Cycles do not depend on what it is calibrated with: seeded noise does."""
    can_be_read = not isinstance(base.model, str | Path) or format_of(Path(base.model)) not in (None, "tflite")
    if base.imported.dialect != "float" or not can_be_read:
        return None
    try:
        shapes = {t.source: t.spec for t in base.plan.network.inputs}
        rng = np.random.default_rng(0)
        samples = {
            name: rng.standard_normal((_SAMPLES, *spec.shape)).astype(spec.dtype)
            for name, spec in shapes.items()
            if spec.dtype.startswith("float")
        }
        made = quick_model(base.model, samples) if len(samples) == len(shapes) else None
    except UserError:
        return None  # without onnxruntime, or a model that it does not run
    if made is None:
        return None
    return Change(
        "quantized-model",
        "int8 in place of float: `tvmc quantize` says what that costs in accuracy",
        cycles_of(base, lambda layer: layer.layer.is_float),
        lambda found: _quantized(found, made),
    )


def _quantized(found: Compilation, model: Any) -> Compilation:
    from tvm_pulp.frontend.onnx_file import from_model

    shapes = {name: tuple(shape) for name, shape in found.options.input_shapes.items()}
    imported = import_onnx_graph(from_model(model), ImportOptions(None, shapes, {}, ()))
    return found.varied(options=replace(found.options, input_types={}, sample_inputs=()), imported=imported)
