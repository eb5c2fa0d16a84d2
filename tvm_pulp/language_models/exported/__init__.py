"""Decoders as exporters write them: caches go in and come out longer, lengths are symbolic.

decoder       the module of a number of tokens, by the steps below
merged        of a file that switches between two graphs, the one with caches
roles         which input holds tokens, positions, a mask, a cache; which output belongs to which cache
encoded       what is the same for all tokens, as an encoder makes it, is computed once
specialize    the graph for a number of tokens and a number of tokens before them
positional    what depends on positions alone becomes rows of tables
cache_rows    caches become an input of rows and an output of the new ones; rows that hold nothing get no weight
token_rows    tokens become rows of the embedding
program       all of these for one program; constants that are quantized once more become integers at once
"""

from tvm_pulp.language_models.exported.decoder import ExportedDecoder
from tvm_pulp.language_models.exported.encoded import Encoder, separate_encoder
from tvm_pulp.language_models.exported.merged import branch_with_caches
from tvm_pulp.language_models.exported.program import DecoderGraph, decoder_graph
from tvm_pulp.language_models.exported.roles import Roles, find_roles, may_have_caches
from tvm_pulp.language_models.exported.specialize import OpenGraph

__all__ = [
    "DecoderGraph",
    "Encoder",
    "ExportedDecoder",
    "OpenGraph",
    "Roles",
    "branch_with_caches",
    "decoder_graph",
    "find_roles",
    "may_have_caches",
    "separate_encoder",
]
