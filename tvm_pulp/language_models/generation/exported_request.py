"""Whether a model file is a decoder with caches of symbolic length, and what is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.load import printable_messages
from tvm_pulp.language_models.exported import find_roles, may_have_caches
from tvm_pulp.language_models.generation.compile_exported import ExportedRequest
from tvm_pulp.language_models.generation.tokenizer import read_tokenizer


@printable_messages()
def exported_request(path: Path, options: Any, name: str) -> ExportedRequest | None:
    """The request that a file and the options make; None for a file without such caches."""
    if options.model_format not in (None, "onnx") or not path.is_file():
        return None
    if options.model_format is None and path.suffix.lower() != ".onnx":
        return None
    # With stated shapes it is a network as any other.
    if options.input_shapes and options.capacity is None:
        return None
    if not may_have_caches(path):
        return None
    graph = onnx_file.read(path)
    roles = find_roles(graph.model)
    if roles is None:
        return None
    if options.capacity is None:
        raise UserError(
            f"cache '{roles.caches[0].past}' has a symbolic length: state --capacity N, the tokens that it shall hold"
        )
    return ExportedRequest(name, graph, roles, options.capacity, _tokenizer(options.tokenizer))


def _tokenizer(path: str | Path | None) -> bytes | None:
    """The file, if it is one that can be used."""
    if path is None:
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"--tokenizer: '{path}' cannot be read ({error.strerror or error}): check the path") from None
    read_tokenizer(content)
    return content
