"""Requests for language models: a decoder of the zoo or of a file, the tokens that its cache holds, a tokenizer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.compile_options import check_exists
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.load import format_of
from tvm_pulp.frontend.onnx_node_checks import check_quantization
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.input_file import is_input_file, read_input
from tvm_pulp.language_models.exported import (
    Encoder,
    ExportedDecoder,
    OpenGraph,
    Roles,
    branch_with_caches,
    find_roles,
    may_have_caches,
    separate_encoder,
)
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.tokenizer import read_tokenizer
from tvm_pulp.limits import JSON_BYTES

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


def exported_request(model: Any, options: Any, name: str) -> LanguageModelRequest | None:
    """The request that a model or a file and the options make; None without caches of symbolic length."""
    # With stated shapes it is a network as any other.
    if options.input_shapes and options.capacity is None:
        return None
    kind = _kind(model, options.model_format)
    graph = _onnx_graph(model) if kind == "onnx" else open_graph(model) if kind in ("pytorch", "open") else None
    if graph is None:
        return None
    merged = branch_with_caches(graph.model) if isinstance(graph, onnx_file.Graph) else None
    graph = merged or graph
    roles = find_roles(graph.model)
    if roles is None:
        return None
    if isinstance(graph, onnx_file.Graph):
        # Of the whole file: what computes with positions is a table before a program's nodes are looked at.
        check_quantization(graph)
    if options.capacity is None:
        raise UserError(
            f"cache '{roles.caches[0].past}' has a symbolic length: state --capacity N, the tokens that it shall hold"
        )
    roles, encoder = _with_given(roles, options)
    decoder = ExportedDecoder(graph, roles, options.capacity, encoder, one_by_one=merged is not None)
    return LanguageModelRequest(name, decoder, _tokenizer(options.tokenizer))


def _with_given(roles: Roles, options: Any) -> tuple[Roles, Encoder | None]:
    """Shapes of what is given, as stated or as an encoder makes it; and the encoder."""
    stated, encoder = dict(options.input_shapes), None
    made: dict[str, tuple[int, ...]] = {}
    known = [role.name for role in roles.given]
    if options.encoder is not None:
        refuse_if(not known, "--encoder has no effect on a decoder that is given nothing but tokens: drop it")
        check_exists(Path(options.encoder))
        graph = onnx_file.read(Path(options.encoder))
        encoder, made = separate_encoder(graph, roles, stated)
        known += list(graph.inputs)
    for name in stated:
        refuse_if(
            name not in known,
            f"--input-shapes: '{name}' is no input that is the same for all tokens (those are "
            f"{', '.join(known) or 'none'}): drop it; --capacity says how many tokens there are",
        )
        refuse_if(name in made, f"--input-shapes: '{name}' is what the encoder makes: drop it")
    return roles.with_lengths({**{n: s for n, s in stated.items() if n in known}, **made}), encoder


def _kind(model: Any, stated: str | None) -> str | None:
    """The format of a model that may be a decoder; None for a file of another format, or none at all."""
    if not isinstance(model, (str, Path)):
        if hasattr(model, "interface"):
            return "open"
        is_torch = type(model).__module__.partition(".")[0] == "torch"
        return "onnx" if onnx_file.is_onnx(model) else "pytorch" if is_torch else None
    if not is_input_file(model):
        return None
    return stated or format_of(Path(model))


def _onnx_graph(model: Any) -> onnx_file.Graph | None:
    if not may_have_caches(model):
        return None
    return onnx_file.from_model(model) if onnx_file.is_onnx(model) else onnx_file.read(Path(model))


def open_graph(model: Any) -> OpenGraph | None:
    """A program with open lengths, beside the graph for some that shows what its inputs are for."""
    from tvm_pulp.frontend.torch_program import load_program, open_program

    if hasattr(model, "interface"):
        opened = model
    else:
        opened = open_program(load_program(Path(model)) if isinstance(model, (str, Path)) else model)
    if not may_have_caches(opened.interface()):
        return None
    return OpenGraph(opened, onnx_file.from_model(opened.sample()))


def _tokenizer(path: str | Path | None) -> bytes | None:
    """The file, if it is one that can be used."""
    if path is None:
        return None
    content = read_input(path, f"--tokenizer: '{path}' cannot be read", JSON_BYTES, "; check the path")
    read_tokenizer(content)
    return content
