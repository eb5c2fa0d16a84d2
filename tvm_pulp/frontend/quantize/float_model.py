"""The model to quantize: read, checked, and with constants and batch normalization folded."""

from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError

_QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")
# Four-bit weights and sixteen-bit activations are part of the standard from here on.
_OPSET_OF_ALL_TYPES = 21


def read_float_model(model: Any) -> Any:
    """As an ONNX model: a file, or in memory as one or as a program of PyTorch; a quantized one is a user error."""
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

    if not path.is_file():
        raise UserError(f"model file '{path}' does not exist: check the path")
    if path.suffix.lower() == ".pt2":
        from tvm_pulp.frontend.torch_program import load_program

        return _as_onnx(load_program(path))
    if path.suffix.lower() != ".onnx":
        raise UserError(f"'{path}' is not an ONNX file: quantize takes float models as .onnx or .pt2, export it as one")
    onnx_file.read(path)  # says in one sentence what is wrong with a file
    return onnx.load(str(path))


def _as_onnx(model: Any) -> Any:
    import onnx

    from tvm_pulp.frontend.torch_program import as_program, onnx_model

    return model if isinstance(model, onnx.ModelProto) else onnx_model(as_program(model, None), {})


def folded(model: Any) -> Any:
    """The model after onnxruntime's basic optimizations; every node has a name of its own."""
    import onnx
    import onnxruntime

    from tvm_pulp.frontend.quantize.session import quiet_settings

    settings = quiet_settings()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "folded.onnx")
        settings.optimized_model_filepath = str(target)
        onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        made = onnx.load(str(target))
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
