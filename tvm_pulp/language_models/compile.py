"""Compiles a language model: the files of an archive with programs that share weights, tables and state."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from typing import Any

from tvm_pulp.codegen.emit import HEADERS, RUNTIME, SOURCES
from tvm_pulp.codegen.emit_cluster import named_constants
from tvm_pulp.codegen.weights import SharedConstants
from tvm_pulp.entry_point import Progress, emit_for
from tvm_pulp.language_models import source
from tvm_pulp.language_models.entry_module import DECODE, ENCODE, PREFILL, EntryModule
from tvm_pulp.language_models.given_source import given_arrays
from tvm_pulp.language_models.plan_entries import PlannedEntry, programs
from tvm_pulp.language_models.prompt_cuts import cheapest_cuts
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.language_models.source import SourceFacts, row_tables
from tvm_pulp.language_models.state_buffer import state_buffers
from tvm_pulp.language_models.weight_places import content_of
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Network
from tvm_pulp.target import Target

# The beginning of a function that a program defines.
_FUNCTION = re.compile(rb"^(?=(?:static )?(?:void|int32_t) (?:call_)?tvmgen_\w+\()", re.MULTILINE)
# Texts of every program, in a folder of its name.
_OF_A_PROGRAM = ("plan.json", "src/main.tir.txt")


def language_model_files(
    request: LanguageModelRequest,
    target: Target,
    entries: Mapping[str, PlannedEntry],
    progress: Progress,
) -> dict[str, bytes]:
    """All files of the archive of a planned language model."""
    progress("emitting C")
    emitted: dict[str, dict[str, bytes]] = {}
    before: LoweredPlan | None = None
    for name, entry in entries.items():
        # A program has the constants of the one before it, which has those of others in the same way.
        others, before = (None, entry.lowered) if before is None else _share_constants(before, entry.lowered)
        own = emit_for(target, before, shared=others)
        # One program calls all.
        del own[f"{SOURCES}/{before.plan.network.name}_program.c"]
        emitted[name] = own if name in (DECODE, PREFILL) else _behind_all(own)
    modules, network = {name: e.module for name, e in entries.items()}, entries[DECODE].lowered.plan.network
    made = source_facts(request, modules, network, programs(entries), target.soc.memory.l3.size)
    used = {layer.engine for entry in entries.values() for layer in entry.lowered.plan.layers}
    engines = [b.codegen for b, _ in target.engines if b.target_name in used and b.codegen is not None]
    return archive_files(request, made, emitted, {f"{SOURCES}/{made.name}_program.c": source.program(made, engines)})


def archive_files(
    request: LanguageModelRequest,
    made: SourceFacts,
    emitted: Mapping[str, dict[str, bytes]],
    texts: Mapping[str, str],
) -> dict[str, bytes]:
    """Files of programs by their names, each with its own plan, and those around them; `texts` are more of these."""
    files, records = dict[str, bytes](), {}
    for name, own in emitted.items():
        records[name] = json.loads(own["metadata.json"])
        files |= {f"{name}/{path}" if path in _OF_A_PROGRAM else path: data for path, data in own.items()}
    around = {
        f"{HEADERS}/tvmgen_{made.name}.h": source.header(made),
        f"{SOURCES}/{made.name}_decoder.c": source.source(made),
        f"{SOURCES}/{made.name}_tables.c": source.tables(made),
        "metadata.json": json.dumps(metadata_of(request, made, records), indent=2) + "\n",
        **texts,
    }
    # The part of the runtime that chooses tokens.
    sampling = resources.files("c_runtime").joinpath("generation")
    for path in ("sample.c", "include/tvm_pulp/sample.h"):
        files[f"{RUNTIME}/generation/{path}"] = sampling.joinpath(path).read_bytes()
    if request.tokenizer is not None:
        files["tokenizer.json"] = request.tokenizer
    return files | {path: text.encode() for path, text in around.items()}


def _behind_all(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Sources of a program whose code lies behind everything, so that no other takes longer by it."""
    include = b'#include "tvm_pulp/placement.h"\n'
    return {
        path: include + _FUNCTION.sub(b"TVM_PULP_LATER ", text) if path.startswith(SOURCES) else text
        for path, text in files.items()
    }


def _share_constants(first: LoweredPlan, second: LoweredPlan) -> tuple[SharedConstants, LoweredPlan]:
    """Constants of the second plan that the first has too; and the second, with these where the first has put them."""
    placed = named_constants(first.tables, first.plan.constants())
    known = {content_of(t): t for t in placed}
    named = {t: content_of(t) for t in named_constants(second.tables, second.plan.constants())}
    same = {tensor: known[content] for tensor, content in named.items() if content in known}
    plan = second.plan.with_levels({mine: placed[theirs] for mine, theirs in same.items()})
    return SharedConstants(first.plan.network.name, same), replace(second, tables=Tables(plan))


def source_facts(
    request: LanguageModelRequest,
    modules: Mapping[str, EntryModule],
    network: Network,
    cycles: Mapping[int, int],
    l3_bytes: int,
    by_itself: bool = False,
) -> SourceFacts:
    """Tables and states without repetition, and the programs that point into them.

    `network`: the program of one token. `cycles`: those of programs by the tokens that they take.
    """
    capacity, level = request.decoder.capacity, network.states[0].level
    tokens = {name: module for name, module in modules.items() if name != ENCODE}
    return SourceFacts(
        request.name,
        capacity,
        tokens,
        tuple(cut.first for cut in cheapest_cuts(cycles, max(cycles))),
        network.outputs[0].spec.dtype,
        row_tables(modules[DECODE].sources),
        state_buffers(list(tokens.values()), capacity, level),
        level,
        l3_bytes,
        given_arrays(modules[DECODE], modules.get(ENCODE)),
        modules.get(ENCODE),
        by_itself,
    )


def metadata_of(request: LanguageModelRequest, made: SourceFacts, records: dict[str, Any]) -> dict[str, Any]:
    """The record of the first program, with all programs' layers under `entries`."""
    record, decoder = records[DECODE], request.decoder
    record["model_name"] = made.name
    # Tokens go in and out, not tensors.
    record["tvm_pulp"] |= {"inputs": [], "outputs": []}
    record["tvm_pulp"]["decoder"] = {
        "vocabulary": made.vocabulary,
        "parameters": decoder.parameters,
        "capacity": made.capacity,
        "chunk": made.chunk,
        "cuts": list(made.cuts),
        "logits": made.logits,
        "logit_step": decoder.logit_step,
        "state_bytes": made.state_bytes,
        "state_memory": made.level,
        "keeps_logits": made.by_itself or made.l3_bytes > 0,
        "encodes": made.encoder is not None,
        "given": [array.record(made.name) for array in made.given if array.is_wanted],
        "entries": {entry: {"layers": r["tvm_pulp"]["layers"], "memory": r["memory"]} for entry, r in records.items()},
    }
    return record
