"""One entry for all model files: picks the frontend and returns the imported module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported, ImportOptions

FORMATS = ("onnx", "tflite")
_SUFFIXES = {".onnx": "onnx", ".tflite": "tflite"}


def load_model(path: Path, options: ImportOptions) -> Imported:
    """Import a model file."""
    if not path.is_file():
        raise UserError(f"model file '{path}' does not exist: check the path, or use zoo:NAME for a built-in model")
    model_format = options.model_format or _SUFFIXES.get(path.suffix.lower())
    if model_format is None:
        raise UserError(f"the format of '{path}' is not clear from its name: state --model-format {'|'.join(FORMATS)}")
    if model_format == "onnx":
        from tvm_pulp.frontend import onnx_file

        return import_onnx_graph(onnx_file.read(path), options)
    if model_format == "tflite":
        from tvm_pulp.frontend.tflite_file import import_tflite

        return import_tflite(path, options)
    raise UserError(f"--model-format '{model_format}' is unknown: choose one of {', '.join(FORMATS)}")


def import_onnx_graph(graph: Any, options: ImportOptions) -> Imported:
    """Import a parsed ONNX graph: integer dialect, quantized ONNX, else plain ONNX."""
    from tvm_pulp.frontend import onnx_dialect, onnx_plain, onnx_qdq

    if onnx_dialect.is_dialect(graph, options):
        return onnx_dialect.import_dialect(graph, options)
    if onnx_qdq.is_quantized(graph):
        return onnx_qdq.import_qdq(graph, options)
    return onnx_plain.import_plain(graph, options)
