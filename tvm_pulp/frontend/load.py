"""One entry for all model files: picks the frontend and returns the imported module."""

from pathlib import Path
from typing import Any

from tvm_pulp.compile_options import MODEL_FORMATS, MODEL_SUFFIXES, SAVED_MODEL, check_exists
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.imported import Imported, ImportOptions, refuse_unknown_inputs
from tvm_pulp.input_file import is_input_file


def as_model(model: Any, example_inputs: Any = None) -> Any:
    """A model as the other functions take it: one of a framework is exported for inputs like these."""
    from tvm_pulp.frontend.onnx_file import is_onnx

    if isinstance(model, Imported):
        return model
    if not isinstance(model, (str, Path)) and not is_onnx(model):
        from tvm_pulp.frontend.frameworks import as_program

        return as_program(model, example_inputs)
    if example_inputs is not None:
        shown = "an ONNX model" if is_onnx(model) else f"'{model}'"
        raise UserError(f"example_inputs has no effect on {shown}, which is exported already: drop it")
    return model


def format_of(path: Path) -> str | None:
    """The format of a model file that its name tells; None where it tells nothing."""
    if is_input_file(path / SAVED_MODEL):
        return "saved_model"
    return MODEL_SUFFIXES.get(path.suffix.lower())


def file_format(path: Path, stated: str | None) -> str:
    """The format of a model file: as stated, else by its name."""
    check_exists(path)
    found = stated or format_of(path)
    if found is None:
        formats = "|".join(MODEL_FORMATS)
        raise UserError(f"the format of '{path}' is not clear from its name: state --model-format {formats}")
    return found


def load_model(path: Path, options: ImportOptions) -> Imported:
    """Import a model file."""
    model_format = file_format(path, options.model_format)
    if model_format == "onnx":
        from tvm_pulp.frontend import onnx_file

        return import_onnx_graph(onnx_file.read(path), options)
    if model_format == "tflite":
        from tvm_pulp.frontend.tflite_file import import_tflite

        return import_tflite(path, options)
    from tvm_pulp.frontend.frameworks import load_program

    return import_program(load_program(path, model_format), options)


def import_program(program: Any, options: ImportOptions) -> Imported:
    """Import a program of a framework."""
    from tvm_pulp.frontend.frameworks import onnx_model
    from tvm_pulp.frontend.onnx_file import from_model

    return import_onnx_graph(from_model(onnx_model(program, options.input_shapes)), options)


def import_onnx_graph(graph: Any, options: ImportOptions) -> Imported:
    """Import a parsed ONNX graph: of the integer dialect, else standard ONNX."""
    from tvm_pulp.frontend.onnx_dialect import import_dialect, is_dialect
    from tvm_pulp.frontend.onnx_recurrent import FLOAT_RECURRENT

    found = any(node.op_type in FLOAT_RECURRENT for node in graph.model.graph.node)
    refuse_if(
        options.recurrent is not None and not found,
        f"--recurrent {options.recurrent}: the model has no LSTM, GRU or RNN of floats: leave it out",
    )
    if is_dialect(graph, options):
        imported = import_dialect(graph, options)
    else:
        from tvm_pulp.frontend.onnx_file import bytes_at_ends
        from tvm_pulp.frontend.onnx_importer import import_standard

        imported = import_standard(bytes_at_ends(graph), options)
    _check_effective(imported, options)
    return imported


def _check_effective(imported: Imported, options: ImportOptions) -> None:
    """Raise where the module differs from what the user said about inputs: nothing is ignored in silence."""
    from tvm_pulp.qnn.operator import spec_of

    specs = dict(zip(imported.inputs, map(spec_of, imported.module["main"].params), strict=True))
    refuse_unknown_inputs("--input-types", options.input_types, specs)
    refuse_unknown_inputs("--input-shapes", options.input_shapes, specs)
    for name, dtype in options.input_types.items():
        refuse_if(
            specs[name].dtype != dtype,
            f"--input-types: input '{name}' is {specs[name].dtype} in this model and cannot become {dtype}: "
            "drop the option",
        )
