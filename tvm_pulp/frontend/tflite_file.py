"""Imports TFLite files with TVM's own importer."""

import struct
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.limits import LARGEST_FILE, check_shape
from tvm_pulp.frontend.relax_checks import check_module
from tvm_pulp.frontend.tflite_checks import check_model
from tvm_pulp.frontend.tflite_options import indices

# A flatbuffer carries its file identifier right after the root offset.
_IDENTIFIER = b"TFL3"


def import_tflite(path: Path, options: ImportOptions | None = None) -> Imported:
    """The file as Relax: quantize/dequantize around float operators, NHWC."""
    options = options or ImportOptions()
    content = read(path)
    model = _model(path, content)
    inputs, outputs = _names(path, model)
    for name in options.input_shapes:
        if name not in inputs:
            raise UserError(f"--input-shapes: the model has no input '{name}'; its inputs are {', '.join(inputs)}")
    for name, shape in options.input_shapes.items():
        check_shape(f"--input-shapes: input '{name}'", shape, 4)
    refuse_if(options.input_types, "--input-types: a TFLite file states the types of its inputs; leave the option out")
    module = _import(path, model, options)
    check_module(module)
    main = module["main"]
    if len(main.params) != len(inputs):
        raise UserError(f"'{path}': the importer found {len(main.params)} inputs, the file lists {len(inputs)}")
    # The attribute repeats every weight.
    module["main"] = main.without_attr("params") if main.attrs and "params" in main.attrs else main
    return Imported(module, tuple(inputs), tuple(outputs), "tflite")


def read(path: Path) -> bytes:
    """Bytes of a file that starts like a TFLite model."""
    try:
        refuse_if(path.stat().st_size > LARGEST_FILE, f"'{path}' is larger than 2 GiB: no TFLite model is")
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"model file '{path}' cannot be read: {error.strerror or error}") from None
    if len(content) < 16 or content[4:8] != _IDENTIFIER:
        raise UserError(f"'{path}' is not a TFLite model: check the file or --model-format")
    return content


def _model(path: Path, content: bytes) -> Any:
    import tflite

    try:
        model = tflite.Model.GetRootAsModel(content, 0)
        if model.SubgraphsLength() < 1 or model.Subgraphs(0).OutputsLength() < 1:
            raise UserError(f"'{path}' holds no network: check the file")
        check_model(model, len(content))
        return model
    except (struct.error, IndexError, ValueError, TypeError, AttributeError, OverflowError):
        raise UserError(f"'{path}' is damaged or truncated: fetch or export it again") from None


def _names(path: Path, model: Any) -> tuple[list[str], list[str]]:
    """Names of the graph's inputs and outputs, made unique where the file repeats one."""
    graph = model.Subgraphs(0)
    try:
        inputs, outputs = ([_tensor_name(graph, i) for i in indices(graph, end)] for end in ("Inputs", "Outputs"))
    except (struct.error, IndexError, ValueError, TypeError, AttributeError):
        raise UserError(f"'{path}' is damaged or truncated: fetch or export it again") from None
    return inputs, _unique(outputs)


def _tensor_name(graph: Any, index: int) -> str:
    return str(graph.Tensors(int(index)).Name().decode("utf-8", "replace"))


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        result.append(f"{name}_{count}" if count else name)
    return result


def _import(path: Path, model: Any, options: ImportOptions) -> Any:
    from tvm.error import OpNotImplemented
    from tvm.relax.frontend.tflite import from_tflite

    from tvm_pulp.frontend.tflite_converter import TfliteConverter
    from tvm_pulp.qnn import lineage
    from tvm_pulp.qnn.abandoned_builder import closed_on_error

    made: list[TfliteConverter] = []
    open_builder = ExitStack()

    def converter(*arguments: Any, **settings: Any) -> TfliteConverter:
        made.append(TfliteConverter(*arguments, **settings))
        open_builder.enter_context(closed_on_error(made[-1].bb))
        return made[-1]

    try:
        with open_builder:
            module = from_tflite(model, shape_dict=dict(options.input_shapes) or None, op_converter=converter)
        return lineage.of_imported(module, {k: v for each in made for k, v in each.named.items()})
    except UserError as error:
        raise UserError(f"'{path}': {error}") from None
    except (OpNotImplemented, NotImplementedError) as error:
        raise UserError(f"'{path}': {_sentence(error)}: replace these operators or use ONNX") from None
    except (struct.error, IndexError, UnicodeDecodeError):
        raise UserError(f"'{path}' is damaged or truncated: fetch or export it again") from None
    except Exception as error:  # the importer asserts on what it does not support, in many classes
        raise UserError(f"'{path}' cannot be imported ({_sentence(error)}): check the model") from None


def _sentence(error: Exception) -> str:
    """The useful part of an importer's message, on one line."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words[:300].rstrip(".")
