"""Requests for language models: a decoder of the zoo or of a file, the tokens that its cache holds, a tokenizer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.load import printable_messages
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.exported import ExportedDecoder, find_roles, may_have_caches
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.tokenizer import read_tokenizer

# Decoders know their capacity, their chunks and their logits, and make a module for a number of tokens.
Decoder = Llama | ExportedDecoder


@dataclass(frozen=True)
class LanguageModelRequest:
    """A decoder, the prefix of its C names, and the file of its tokenizer."""

    name: str
    decoder: Decoder
    tokenizer: bytes | None = None


def zoo_request(model: str, capacity: int | None, name: str) -> LanguageModelRequest | None:
    """The request that a language model of the zoo makes; None for another name."""
    known = decoders.MODELS.get(model)
    if known is None:
        return None
    capacity = known.capacity if capacity is None else capacity
    decoder = Llama(decoders.build_decoder(model), capacity, max(1, min(known.chunk, capacity)))
    return LanguageModelRequest(name, decoder, decoders.tokenizer_file(model))


@printable_messages()
def exported_request(model: Any, options: Any, name: str) -> LanguageModelRequest | None:
    """The request that an ONNX model or a file and the options make; None without caches of symbolic length."""
    path = None if onnx_file.is_onnx(model) else Path(model)
    if path is not None and (options.model_format not in (None, "onnx") or not path.is_file()):
        return None
    if path is not None and options.model_format is None and path.suffix.lower() != ".onnx":
        return None
    # With stated shapes it is a network as any other.
    if options.input_shapes and options.capacity is None:
        return None
    if not may_have_caches(model if path is None else path):
        return None
    graph = onnx_file.from_model(model) if path is None else onnx_file.read(path)
    roles = find_roles(graph.model)
    if roles is None:
        return None
    if options.capacity is None:
        raise UserError(
            f"cache '{roles.caches[0].past}' has a symbolic length: state --capacity N, the tokens that it shall hold"
        )
    return LanguageModelRequest(name, ExportedDecoder(graph, roles, options.capacity), _tokenizer(options.tokenizer))


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
