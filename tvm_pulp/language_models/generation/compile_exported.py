"""Compiles a decoder from an ONNX file: two programs of one graph that share weights, tables and state."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.canonicalize.past_qdq_attention import LENGTH, past_qdq_attention
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.codegen.emit import HEADERS, SOURCES
from tvm_pulp.entry_point import emit_for, plan_for, prepare_module
from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph, printable_messages
from tvm_pulp.language_models.decoder import exported_source
from tvm_pulp.language_models.decoder.exported_source import ExportedFacts, StateBuffer, unique_rows
from tvm_pulp.language_models.exported import DecoderGraph, Roles, decoder_graph
from tvm_pulp.language_models.exported.program import PAST, POSITIONS, TOKENS, UNWRITTEN
from tvm_pulp.language_models.generation.compile_decoder import (
    DECODE,
    PREFILL,
    check_on_chip,
    check_request,
    sampling_files,
    share_constants,
    shared_weights,
    used_engines,
)
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.search import StateRoom, cycles_with_state, place_state
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.qnn.network import State
from tvm_pulp.target import Target

# Tokens of a prompt that are seen at a time.
CHUNK = 16
# A logit of the device in real numbers, when tokens are drawn.
_STEP = 2.0**-16
_SYMBOLS = {TOKENS: "embedding", POSITIONS: "positions"}


@dataclass(frozen=True)
class ExportedRequest:
    """A decoder as an ONNX graph with symbolic lengths, and the tokens that its cache shall hold."""

    name: str
    graph: onnx_file.Graph
    roles: Roles
    capacity: int
    tokenizer: bytes | None = None

    @property
    def chunk(self) -> int:
        """Tokens that prefill takes at a time."""
        # Where the range of a tensor is taken from its values, tokens that are seen together depend on each other.
        if any(n.op_type == "DynamicQuantizeLinear" for n in self.graph.model.graph.node):
            return 1
        return max(1, min(CHUNK, self.capacity // 2))


@dataclass(frozen=True)
class Entry:
    """A program: its graph and its plan."""

    graph: DecoderGraph
    inputs: tuple[str, ...]
    lowered: LoweredPlan


def exported_files(
    request: ExportedRequest, target: Target, entries: Mapping[str, Entry], progress: Callable[[str], None]
) -> dict[str, bytes]:
    """All files of the archive."""
    progress("emitting C")
    decode, prefill = (entries[e].lowered for e in (DECODE, PREFILL))
    same, prefill = share_constants(decode, prefill)
    entries = {**entries, PREFILL: replace(entries[PREFILL], lowered=prefill)}
    files: dict[str, bytes] = {}
    records = {}
    for name, entry in entries.items():
        emitted = emit_for(target, entry.lowered)
        del emitted[f"{SOURCES}/{entry.lowered.plan.network.name}_program.c"]
        records[name] = json.loads(emitted.pop("metadata.json"))
        for path in ("plan.json", "src/main.tir.txt"):
            files[f"{name}/{path}"] = emitted.pop(path)
        files |= emitted
    files |= shared_weights(decode, prefill, same)
    engines = used_engines(target, (decode, prefill))
    made = _facts(request, entries, target)
    texts = {
        f"{HEADERS}/tvmgen_{made.name}.h": exported_source.header(made),
        f"{SOURCES}/{made.name}_decoder.c": exported_source.source(made),
        f"{SOURCES}/{made.name}_program.c": exported_source.program(made, engines),
        f"{SOURCES}/{made.name}_tables.c": exported_source.tables(made),
    }
    files |= {path: text.encode() for path, text in texts.items()} | sampling_files()
    files["metadata.json"] = (json.dumps(_metadata(made, records), indent=2) + "\n").encode()
    if request.tokenizer is not None:
        files["tokenizer.json"] = request.tokenizer
    return files


def plan_exported(request: ExportedRequest, target: Target, progress: Callable[[str], None]) -> dict[str, Entry]:
    """Graphs and plans by entry point."""
    check_request(target, request.capacity, request.chunk)
    if request.capacity < 2:
        raise UserError(f"--capacity {request.capacity}: an exported decoder needs room for two tokens")
    entries = {DECODE: 1, PREFILL: request.chunk}

    def planned(name: str) -> Callable[[str], Entry]:
        return lambda level: _plan_entry(request, name, entries[name], target, level, progress)

    caches = import_entry(request, 1)[0].caches
    state_bytes = sum(request.capacity * c.width * np.dtype(c.dtype).itemsize for c in caches)
    room = StateRoom(state_bytes, target.l1_bytes(0), target.soc.memory.l3.size)
    plans = [planned(name) for name in entries]
    made = place_state(
        plans, lambda entry: cycles_with_state(entry.lowered, target.soc, target.cores), room, target.state_memory
    )
    return dict(zip(entries, made, strict=True))


def _plan_entry(
    request: ExportedRequest, name: str, rows: int, target: Target, level: str, progress: Callable[[str], None]
) -> Entry:
    """The graph and plan of one entry point, the cache at a level of memory."""
    progress(f"planning {name} of {rows} token{'s' if rows > 1 else ''}, the cache in {level.upper()}")
    try:
        made: Entry | None = _planned(request, name, target, import_entry(request, rows), level)
    except MissingL1:
        made = None
    if made is None or not _calls_kernel(made):
        progress(f"planning {name} with attention in parts")
        made = _planned(request, name, target, _import(request, rows, hide=True), level)
    return made


def _calls_kernel(entry: Entry) -> bool:
    """Whether attention as one operator is a kernel: it needs a whole cache in L1, and other code of it is slow."""
    layers = (p for p in entry.lowered.plan.layers if p.layer.operator == "past_qdq_attention")
    return all(layer.tiling.form.name.endswith("kernel") for layer in layers)


def _planned(
    request: ExportedRequest, name: str, target: Target, made: tuple[DecoderGraph, Imported], level: str
) -> Entry:
    graph, imported = made
    states = _states(request, graph, imported.inputs, level)
    network = build_network(prepare_module(imported.module, target), imported, f"{request.name}_{name}", states)
    lowered = plan_for(target, network)
    check_on_chip(lowered, request.capacity, name)
    return Entry(graph, imported.inputs, lowered)


def _states(request: ExportedRequest, graph: DecoderGraph, inputs: Sequence[str], level: str) -> tuple[State, ...]:
    """Caches as states of a program: new rows go out behind the logits."""
    counter = inputs.index(LENGTH) if LENGTH in inputs else None
    made = []
    for place, cache in enumerate(graph.caches):
        size = request.capacity * cache.width * np.dtype(cache.dtype).itemsize
        symbol = f"tvmgen_{request.name}_state_{place}" if level == "l1" else ""
        made.append(State(inputs.index(cache.past), 1 + place, None, graph.rows, size, counter, level, symbol))
    return tuple(made)


@printable_messages()
def import_entry(request: ExportedRequest, rows: int) -> tuple[DecoderGraph, Imported]:
    """The canonical module for a number of tokens: attention knows the length, else rows without token are hidden."""
    graph, imported = _import(request, rows, hide=False)
    names = [p.name for p in imported.module["main"].params]
    pasts = {name for name, source in zip(names, graph.sources, strict=True) if source.purpose == PAST}
    module = past_qdq_attention(imported.module, pasts)
    if module is not None:
        return graph, replace(imported, module=module, inputs=(*imported.inputs, LENGTH))
    return _import(request, rows, hide=True)


def _import(request: ExportedRequest, rows: int, *, hide: bool) -> tuple[DecoderGraph, Imported]:
    source = request.graph
    graph = decoder_graph(source.model, source.opset, request.roles, request.capacity, rows, hide=hide)
    imported = import_onnx_graph(onnx_file.from_model(graph.model), ImportOptions())
    return graph, replace(imported, module=canonicalize(imported))


def _facts(request: ExportedRequest, entries: Mapping[str, Entry], target: Target) -> ExportedFacts:
    graph = entries[DECODE].graph
    symbols: dict[str, str] = {UNWRITTEN: "hidden"}
    tables: dict[str, Any] = {}
    for purpose, stem in _SYMBOLS.items():
        sources = [s for s in graph.sources if s.purpose == purpose]
        tables[purpose], places = unique_rows([s.table for s in sources if s.table is not None], stem)
        symbols |= {source.name: places[place] for place, source in enumerate(sources)}
    states = []
    for place, cache in enumerate(graph.caches):
        states.append(StateBuffer(f"state_{place}", cache.dtype, cache.width))
        symbols[cache.past] = states[-1].symbol

    def inputs(entry: Entry) -> tuple[str, ...]:
        known = {s.name: symbols[UNWRITTEN if s.purpose == UNWRITTEN else s.name] for s in entry.graph.sources}
        return tuple(known.get(name, name) for name in entry.inputs)

    level = entries[DECODE].lowered.plan.network.states[0].level
    hides = any(s.purpose == UNWRITTEN for e in entries.values() for s in e.graph.sources)
    return ExportedFacts(
        request.name, len(tables[TOKENS][0].data), request.capacity, request.chunk, tables[TOKENS], tables[POSITIONS],
        tuple(states), inputs(entries[DECODE]), inputs(entries[PREFILL]), hides, level, target.soc.memory.l3.size,
    )  # fmt: skip


def _metadata(made: ExportedFacts, records: dict[str, Any]) -> dict[str, Any]:
    """That of the first program, with both programs' layers under `entries`."""
    record = records[DECODE]
    record["model_name"] = made.name
    # Tokens go in and out, not tensors.
    record["tvm_pulp"] |= {"inputs": [], "outputs": []}
    record["tvm_pulp"]["decoder"] = {
        "vocabulary": made.vocabulary,
        "capacity": made.capacity,
        "chunk": made.chunk,
        "logit_step": _STEP,
        "logits": "float32",
        "state_bytes": sum(made.cache_bytes(s) for s in made.states),
        "state_memory": made.level,
        "entries": {entry: {"layers": r["tvm_pulp"]["layers"], "memory": r["memory"]} for entry, r in records.items()},
    }
    return record
