"""A decoder from an ONNX file: its graph for a number of tokens as a canonical module."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from tvm_pulp.canonicalize.past_qdq_attention import past_qdq_attention
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.language_models.entry_module import LENGTH, EntryModule, Purpose, Source
from tvm_pulp.language_models.exported.encoded import Encoded, Encoder, encoded_part
from tvm_pulp.language_models.exported.program import decoder_graph
from tvm_pulp.language_models.exported.roles import Roles
from tvm_pulp.language_models.exported.specialize import OpenGraph

# Tokens of a prompt that are seen at a time, and a smaller number for short prompts and the ends of others.
_CHUNK, _SHORT = 16, 4


@dataclass(frozen=True)
class ExportedDecoder:
    """An ONNX graph with symbolic lengths, what its inputs are for, and the tokens that its cache shall hold."""

    graph: onnx_file.Graph | OpenGraph
    roles: Roles
    capacity: int
    # A graph of its own that makes what is given.
    encoder: Encoder | None = None
    # Whether the graph was traced for a single token behind others.
    one_by_one: bool = False
    # A logit of the device in real numbers, when tokens are drawn.
    logit_step: float = 2.0**-16

    @property
    def chunk(self) -> int:
        """Tokens that prefill takes at a time."""
        # Where the range of a tensor is taken from its values, tokens that are seen together depend on each other.
        if self.one_by_one or any(n.op_type == "DynamicQuantizeLinear" for n in self.graph.model.graph.node):
            return 1
        return max(1, min(_CHUNK, self.capacity // 2))

    @property
    def further_chunks(self) -> tuple[int, ...]:
        """Numbers of tokens that another program may take at a time."""
        return (_SHORT,) if self.chunk >= 2 * _SHORT else ()

    @property
    def parameters(self) -> int:
        """Elements of matrices and tables."""
        return sum(prod(i.dims) for i in self.graph.model.graph.initializer if len(i.dims) > 1)

    @cached_property
    def encoded(self) -> Encoded | None:
        """Values that all tokens of a text share; None where they share nothing."""
        return encoded_part(self.graph, self.roles, self.encoder) if self.roles.given else None

    def encoder_module(self) -> EntryModule | None:
        """The module that is run once for a text, before its first token."""
        if self.encoded is None or self.encoded.model is None:
            return None
        return EntryModule(_canonical(self.encoded.model))

    def entry_module(self, rows: int, in_parts: bool = False) -> EntryModule | None:
        """The module for a number of tokens.

        Attention is one operator that knows the length, where it is of that form; in parts, rows without a token are
        hidden.
        """
        refuse_if(self.capacity <= rows, f"--capacity {self.capacity}: an exported decoder needs room for two tokens")
        graph = decoder_graph(self.graph, self.roles, self.capacity, rows, hide=in_parts, encoded=self.encoded)
        imported, sources = _canonical(graph.model), graph.sources
        if not in_parts:
            parameters = zip(imported.module["main"].params, sources, strict=True)
            pasts = {parameter.name for parameter, source in parameters if source.purpose is Purpose.PAST}
            module = past_qdq_attention(imported.module, pasts)
            if module is None:
                return None
            imported = replace(imported, module=module, inputs=(*imported.inputs, LENGTH))
            sources = (*sources, Source(LENGTH, Purpose.LENGTH))
        return EntryModule(imported, sources, graph.caches, graph.past, rows)


def _canonical(model: Any) -> Imported:
    """A graph as a module of the dialect."""
    imported = import_onnx_graph(onnx_file.from_model(model), ImportOptions())
    return replace(imported, module=canonicalize(imported))
