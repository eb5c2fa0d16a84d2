"""`tvm_pulp.quantize`: the call most users need."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.quantize.quantize_model import Quantized, QuantizeOptions, quantize_model

Arrays = Mapping[str, np.ndarray] | str | Path


def quantize(
    model: Any,
    calibration: Arrays,
    *,
    example_inputs: Any = None,
    evaluation: Arrays | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Quantized:
    """Quantize a float model of ONNX or PyTorch, a file or in memory; further options are those of `QuantizeOptions`.

    made = tvm_pulp.quantize("net.onnx", {"image": samples}, max_loss=0.01)
    made.save("q.onnx")                                # made.accuracy, made.layers, made.kept

    A `torch.nn.Module` is exported for `example_inputs`, a tuple of tensors.
    """
    known = [field.name for field in fields(QuantizeOptions)]
    for name in options:
        if name not in known:
            raise UserError(f"quantize() has no option '{name}': the options are {', '.join(known)}")
    if example_inputs is not None:
        from tvm_pulp.frontend.load import as_model

        model = as_model(model, example_inputs)
    judged = None if evaluation is None else _arrays(evaluation, "evaluation")
    return quantize_model(model, _arrays(calibration, "calibration"), QuantizeOptions(**options), judged, progress)


def _arrays(given: Arrays, option: str) -> Mapping[str, np.ndarray]:
    if isinstance(given, Mapping):
        return given
    try:
        with np.load(given, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise UserError(f"{option}: file '{given}' does not exist") from None
    except Exception as error:
        reason = str(error).split("\n")[0][:120]
        raise UserError(f"{option}: '{given}' is not a readable .npz file ({reason})") from None
