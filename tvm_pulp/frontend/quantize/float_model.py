"""The model to quantize: read, checked, and with constants and batch normalization folded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.compile_options import FLOAT_FORMATS, check_exists, model_files
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.load import file_format
from tvm_pulp.frontend.onnx_folded_factors import with_folded_factors
from tvm_pulp.frontend.quantize.calibration_data import basic_settings, session
from tvm_pulp.temporary import TemporaryFolder

_QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")
# Four-bit weights and sixteen-bit activations are part of the standard from here on.
_OPSET_OF_ALL_TYPES = 21


def read_float_model(model: Any) -> Any:
    """As an ONNX model: a file, or in memory as one or as a framework's; a quantized one is a user error."""
    model = _read(Path(model)) if isinstance(model, str | Path) else _as_onnx(model)
    for node in model.graph.node:
        name = node.name or node.output[0]
        if node.op_type in _QUANTIZED or node.op_type.startswith("QLinear"):
            raise UserError(
                f"the model is already quantized (node '{name}' is {node.op_type}): compile it as "
                "it is, or quantize the float model it was made from"
            )
        if node.domain not in ("", "ai.onnx", "com.microsoft"):
            raise UserError(
                f"node '{name}' is {node.op_type} of '{node.domain}', which onnxruntime does not "
                "know: quantize takes float models of standard ONNX"
            )
    return model


def _read(path: Path) -> Any:
    import onnx

    from tvm_pulp.frontend import onnx_file

    check_exists(path)
    try:
        model_format = file_format(path, None)
    except UserError as error:
        forms = model_files(*FLOAT_FORMATS)
        raise UserError(f"'{path}' is not an ONNX file or a framework's: quantize takes {forms}") from error
    if model_format == "tflite":
        raise UserError(f"'{path}' is a TFLite file: quantize takes the float model that it was converted from")
    if model_format != "onnx":
        from tvm_pulp.frontend.frameworks import load_program

        return _as_onnx(load_program(path, model_format))
    onnx_file.read(path)  # says in one sentence what is wrong with a file
    return onnx.load(str(path))


def _as_onnx(model: Any) -> Any:
    import onnx

    from tvm_pulp.frontend.frameworks import as_program, onnx_model

    return model if isinstance(model, onnx.ModelProto) else onnx_model(as_program(model, None), {})


def folded(model: Any) -> Any:
    """The model after onnxruntime's basic optimizations and what these leave; every node has a name of its own."""
    made = _optimized(with_folded_factors(model))
    # Numbers whose shape was computed are constants only now.
    further = with_folded_factors(made)
    if len(further.graph.node) < len(made.graph.node):
        made = _optimized(further)
    # The optimizer states domains that nothing uses.
    used = {node.domain or "" for node in made.graph.node}
    kept = [entry for entry in made.opset_import if entry.domain in ("", "ai.onnx") or entry.domain in used]
    del made.opset_import[:]
    made.opset_import.extend(kept)
    taken: set[str] = set()
    for number, node in enumerate(made.graph.node):
        name = node.name or f"{node.op_type}_{number}"
        node.name = name if name not in taken else f"{name}_{number}"
        taken.add(node.name)
    return made


def _optimized(model: Any) -> Any:
    """The model after onnxruntime's basic optimizations."""
    import onnx

    settings = basic_settings()
    with TemporaryFolder() as folder:
        target = folder / "folded.onnx"
        settings.optimized_model_filepath = str(target)
        session(model, settings)
        return onnx.load(str(target))


def with_all_types(model: Any) -> Any:
    """In a version of the standard that has four-bit and sixteen-bit quantization."""
    import onnx
    from onnx import version_converter

    version = max((e.version for e in model.opset_import if e.domain in ("", "ai.onnx")), default=0)
    if version >= _OPSET_OF_ALL_TYPES:
        return model
    converted = version_converter.convert_version(model, _OPSET_OF_ALL_TYPES)
    converted.ir_version = max(converted.ir_version, 10)
    onnx.checker.check_model(converted)
    return converted


# Masks hold minus infinity, or this and less.
MASK = -1e4
# e^-8 is less than half a step of a likelihood in eight bits.
_BELOW = 8.0

Range = Callable[[str], tuple[float, float]]


def with_finite_masks(model: Any, observe: Callable[[Any], Range]) -> Any:
    """The model with such constants replaced; `observe` gives the ranges of its tensors, where there are any."""
    from onnx import TensorProto
    from onnx.numpy_helper import from_array, to_array

    floats = {c.name: to_array(c) for c in model.graph.initializer if c.data_type == TensorProto.FLOAT}
    masks = {name: array for name, array in floats.items() if array.min(initial=0) <= MASK}
    readers = [(node, name) for node in model.graph.node for name in node.input if name in masks]
    if not readers or any(node.op_type not in ("Add", "Where") for node, _ in readers):
        return model
    range_of, lowest = observe(model), dict.fromkeys(masks, 0.0)
    for node, name in readers:
        low, high = range_of(next(i for i in node.input[-2:] if i != name))
        # What is masked lies below everything that is not.
        found = low - _BELOW if node.op_type == "Where" else low - high - _BELOW
        lowest[name] = min(lowest[name], found)
    for constant in model.graph.initializer:
        if constant.name in masks:
            array = masks[constant.name]
            made = np.where(array <= MASK, np.float32(lowest[constant.name]), array)
            constant.CopyFrom(from_array(made.astype(np.float32), constant.name))
    return model
