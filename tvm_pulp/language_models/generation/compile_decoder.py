"""Compiles a decoder: two programs, planned one after the other, that share weights, tables and state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from tvm_pulp.codegen import weights as constant_files
from tvm_pulp.codegen.emit import HEADERS, RUNTIME, SOURCES
from tvm_pulp.codegen.emit_cluster import named_constants
from tvm_pulp.entry_point import emit_for, plan_for, prepare_module
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.frontend.zoo.weights import DecoderWeights
from tvm_pulp.language_models.decoder import decoder_source
from tvm_pulp.language_models.decoder.decoder_source import DecoderFacts
from tvm_pulp.language_models.decoder.network import LENGTH, decoder_module, input_names, output_names
from tvm_pulp.language_models.generation.spread_bundles import spread_bundles
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.search import StateRoom, cycles_with_state, place_state
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.qnn.rotary import rotation_table
from tvm_pulp.soc import DEFAULT
from tvm_pulp.target import Target
from tvm_pulp.uma.backend import Codegen

# Entry points in the order in which they are planned: the first decides where shared weights lie.
DECODE, PREFILL = "decode", "prefill"
# Bytes of weights from which on cores may share a product.
_LARGE = 1 << 16


@dataclass(frozen=True)
class DecoderRequest:
    """A decoder, the tokens that its cache holds, and those that prefill takes at a time."""

    name: str
    weights: DecoderWeights
    capacity: int
    chunk: int
    tokenizer: bytes | None = None


def decoder_files(
    request: DecoderRequest, target: Target, plans: Mapping[str, LoweredPlan], progress: Callable[[str], None]
) -> dict[str, bytes]:
    """All files of the archive."""
    progress("emitting C")
    level = plans[DECODE].plan.network.states[0].level
    made = _facts(request, target, level)
    same, shared = share_constants(plans[DECODE], plans[PREFILL])
    plans = {**plans, PREFILL: shared}
    files: dict[str, bytes] = {}
    records = {}
    engines = used_engines(target, plans.values())
    for entry, lowered in plans.items():
        emitted = emit_for(target, lowered)
        name = lowered.plan.network.name
        del emitted[f"{SOURCES}/{name}_program.c"]
        records[entry] = json.loads(emitted.pop("metadata.json"))
        for path in ("plan.json", "src/main.tir.txt"):
            files[f"{entry}/{path}"] = emitted.pop(path)
        files |= emitted
    files |= shared_weights(plans[DECODE], plans[PREFILL], same)
    files |= _own_files(made, request, engines)
    files["metadata.json"] = (json.dumps(_metadata(made, request, records), indent=2) + "\n").encode()
    if request.tokenizer is not None:
        files["tokenizer.json"] = request.tokenizer
    return files


def plan_decoder(request: DecoderRequest, target: Target, progress: Callable[[str], None]) -> dict[str, LoweredPlan]:
    """Plans by entry point."""
    check_request(target, request.capacity, request.chunk)
    entries = {DECODE: 1, PREFILL: request.chunk}

    def planned(entry: str) -> Callable[[str], LoweredPlan]:
        rows = entries[entry]

        def at_level(level: str) -> LoweredPlan:
            progress(f"planning {entry} of {rows} token{'s' if rows > 1 else ''}, the cache in {level.upper()}")
            return plan_entry(request, entry, rows, target, level)

        return at_level

    room = StateRoom(_facts(request, target, "l1").state_bytes, target.l1_bytes(0), target.soc.memory.l3.size)
    plans = [planned(entry) for entry in entries]
    made = place_state(
        plans, lambda lowered: cycles_with_state(lowered, target.soc, target.cores), room, target.state_memory
    )
    return dict(zip(entries, made, strict=True))


def _facts(request: DecoderRequest, target: Target, level: str) -> DecoderFacts:
    shape, l3_bytes = request.weights.shape, target.soc.memory.l3.size
    return DecoderFacts(request.name, shape, request.capacity, request.chunk, level, l3_bytes)


def plan_entry(request: DecoderRequest, entry: str, rows: int, target: Target, level: str = "l2") -> LoweredPlan:
    """The plan of one entry point, the cache at a level of memory."""
    layers = request.weights.shape.layers
    module = decoder_module(request.weights, rows, request.capacity)
    names = input_names(layers)
    imported = Imported(module, names, output_names(layers), "pulp")
    states = _facts(request, target, level).states(names.index(LENGTH) + 1, names.index(LENGTH), rows)
    network = build_network(prepare_module(module, target), imported, f"{request.name}_{entry}", states)
    lowered = None
    if entry == DECODE:
        # Of one token an accelerator computes one pixel of many: beside large products the cores take columns.
        lowered = plan_for(_pinned(target, network, _LARGE), network)
        if lowered.plan.l3_offsets() or not spread_bundles(lowered.plan, target.soc):
            lowered = None
    lowered = lowered or plan_for(_pinned(target, network, None), network)
    check_on_chip(lowered, request.capacity, entry)
    return lowered


def _pinned(target: Target, network: Network, largest: int | None) -> Target:
    """Products with weights, or only those of fewer than `largest` bytes, on the accelerator alone.

    Weights that the cores have a share of exist twice.
    """
    pins = {
        layer.name: backend.target_name
        for backend, _ in target.engines[:1]
        for layer in network.layers
        if layer.operator == "dense" and (largest is None or layer.inputs[1].spec.bytes < largest)
    }
    return replace(target, pins={**pins, **target.pins})


def check_on_chip(lowered: LoweredPlan, capacity: int, entry: str) -> None:
    """L3 is where logits are kept; weights and caches stay nearer."""
    if lowered.plan.l3_offsets():
        raise UserError(
            f"--capacity {capacity}: cache and weights of {entry} exceed L2 and the weight memory: lower it"
        )


def check_request(target: Target, capacity: int, chunk: int) -> None:
    """What a language model needs."""
    if not target.soc.simulated:
        raise UserError(f"a language model needs a SoC with a cluster: add --soc={DEFAULT} or an engine")
    if capacity < 1 or chunk < 1:
        raise UserError(f"--capacity {capacity}: at least one token is needed")


def _key(tensor: Tensor) -> tuple[str, bytes]:
    assert tensor.data is not None
    return str(tensor.data.dtype), tensor.data.tobytes()


def share_constants(first: LoweredPlan, second: LoweredPlan) -> tuple[dict[Tensor, Tensor], LoweredPlan]:
    """Constants of the second plan that the first has too; and the second, with these where the first has put them."""
    placed = named_constants(first.tables, first.plan.constants())
    known = {_key(t): t for t in placed}
    named = named_constants(second.tables, second.plan.constants())
    same = {tensor: known[_key(tensor)] for tensor in named if _key(tensor) in known}
    plan = second.plan.with_levels({mine: placed[theirs] for mine, theirs in same.items()})
    return same, replace(second, tables=Tables(plan))


def used_engines(target: Target, plans: Iterable[LoweredPlan]) -> dict[str, Codegen]:
    """Code generators of the accelerators that a program gives layers to: the archive has the drivers of these only."""
    used = {layer.engine for lowered in plans for layer in lowered.plan.layers}
    made = {backend.target_name: backend.codegen for backend, _ in target.engines}
    return {name: codegen for name, codegen in made.items() if codegen is not None and name in used}


def shared_weights(first: LoweredPlan, second: LoweredPlan, same: dict[Tensor, Tensor]) -> dict[str, bytes]:
    """The second program's constants: those of the first by another name, and its own."""
    name, other = second.plan.network.name, first.plan.network.name
    named = named_constants(second.tables, second.plan.constants())
    own = {tensor: level for tensor, level in named.items() if tensor not in same}
    header = constant_files.header_file(name, own)
    pairs = [(mine.name, theirs.name) for mine, theirs in same.items()]
    return {
        f"{SOURCES}/{name}_weights.c": constant_files.source_file(name, own).encode(),
        f"{HEADERS}/{name}_weights.h": decoder_source.shared_header(name, other, header, pairs).encode(),
    }


def _own_files(made: DecoderFacts, request: DecoderRequest, engines: dict[str, Codegen]) -> dict[str, bytes]:
    rotation = rotation_table(made.rows, made.shape.head, request.weights.rotary_base)
    texts = {
        f"{HEADERS}/tvmgen_{made.name}.h": decoder_source.header(made),
        f"{SOURCES}/{made.name}_decoder.c": decoder_source.source(made),
        f"{SOURCES}/{made.name}_program.c": decoder_source.program(made, engines),
        f"{SOURCES}/{made.name}_tables.c": decoder_source.tables(made, request.weights.embedding, rotation),
    }
    return {path: text.encode() for path, text in texts.items()} | sampling_files()


def sampling_files() -> dict[str, bytes]:
    """The part of the runtime that chooses tokens."""
    root = resources.files("c_runtime").joinpath("generation")
    return {
        f"{RUNTIME}/generation/{path}": root.joinpath(path).read_bytes()
        for path in ("sample.c", "include/tvm_pulp/sample.h")
    }


def _metadata(made: DecoderFacts, request: DecoderRequest, records: dict[str, Any]) -> dict[str, Any]:
    """That of the first program, with both programs' layers under `entries`."""
    record = records[DECODE]
    record["model_name"] = made.name
    # Tokens go in and out, not tensors.
    record["tvm_pulp"] |= {"inputs": [], "outputs": []}
    shape = {name: int(value) for name, value in vars(made.shape).items()}
    parameters = sum(int(np.prod(m.weight.shape)) for b in request.weights.blocks for m in _linears(b))
    record["tvm_pulp"]["decoder"] = {
        **shape,
        "parameters": parameters + request.weights.embedding.size,
        "capacity": made.capacity,
        "chunk": made.chunk,
        "logit_step": request.weights.logit_step,
        "state_bytes": made.state_bytes,
        "state_memory": made.level,
        "entries": {entry: {"layers": r["tvm_pulp"]["layers"], "memory": r["memory"]} for entry, r in records.items()},
    }
    return record


def _linears(block: Any) -> list[Any]:
    return [block.q, block.k, block.v, block.o, block.gate, block.up, block.down]
