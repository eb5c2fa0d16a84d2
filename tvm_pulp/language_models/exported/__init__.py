"""Decoders as exporters write them: caches go in and come out longer, lengths are symbolic.

decoder       the module of a number of tokens, by the steps below
roles         which input holds tokens, positions, a mask, a cache; which output belongs to which cache
specialize    the graph for a number of tokens and a number of tokens before them
positional    what depends on positions alone becomes rows of tables
cache_rows    caches become an input of rows and an output of the new ones; rows that hold nothing get no weight
token_rows    tokens become rows of the embedding
program       all of these for one program; constants that are quantized once more become integers at once
"""

from tvm_pulp.language_models.exported.decoder import ExportedDecoder
from tvm_pulp.language_models.exported.program import DecoderGraph, decoder_graph
from tvm_pulp.language_models.exported.roles import Roles, find_roles, may_have_caches

__all__ = ["DecoderGraph", "ExportedDecoder", "Roles", "decoder_graph", "find_roles", "may_have_caches"]
