"""Compiles a language model for a CPU by itself: the program of one token, which sees prompts as well."""

import json
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np

from tvm_pulp.codegen.emit import HEADERS, RUNTIME, SOURCES, emit
from tvm_pulp.entry_point import HostEntryPoint, Progress, flat_facts
from tvm_pulp.errors import refuse_if
from tvm_pulp.language_models import source
from tvm_pulp.language_models.compile import metadata_of, sampling_files, source_facts
from tvm_pulp.language_models.entry_module import EntryModule
from tvm_pulp.language_models.plan_entries import DECODE, ENCODE, states_of
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.network import Network, State
from tvm_pulp.soc.cpu_platform import check_memories, one_core_header
from tvm_pulp.target import Target

_LEVEL = "l2"


@dataclass(frozen=True)
class _Program:
    module: EntryModule
    network: Network


def _program(
    request: LanguageModelRequest, target: Target, name: str, module: EntryModule, states: tuple[State, ...]
) -> _Program:
    """A module as a network of layers."""
    imported = module.imported
    return _Program(module, HostEntryPoint(target, f"{request.name}_{name}", imported, imported.module).built(states))


def cpu_language_model_files(request: LanguageModelRequest, target: Target, progress: Progress) -> dict[str, bytes]:
    """All files of the archive."""
    decoder, cpu = request.decoder, target.soc.cpu
    refuse_if(decoder.capacity < 1, f"--capacity {decoder.capacity}: at least one token is needed")
    module = decoder.entry_module(1, False) or decoder.entry_module(1, True)
    assert module is not None, "attention is one operator or several"
    progress("lowering the program of one token")
    sizes = [
        aligned(c.rows_of([module], decoder.capacity, _LEVEL) * c.width * np.dtype(c.dtype).itemsize)
        for c in module.caches
    ]
    programs = {DECODE: _program(request, target, DECODE, module, states_of(module, sizes, _LEVEL, request.name))}
    encoder = decoder.encoder_module()
    if encoder is not None:
        progress("lowering the encoder")
        programs[ENCODE] = _program(request, target, ENCODE, EntryModule(encoder, (), (), 0, 0), ())
    progress(f"emitting C for {sum(len(p.network.layers) for p in programs.values())} layers")
    emitted = {name: emit(p.network, flat_facts(target), cpu=cpu, alone=False) for name, p in programs.items()}
    modules = {name: p.module for name, p in programs.items()}
    made = replace(source_facts(request, modules, programs[DECODE].network, {1: 1}, 0), by_itself=True)
    tables = sum(table.data.nbytes for table in made.tables)
    # Logits with what sampling needs, tokens that go in and out with the time of each.
    given = sum(array.elements * np.dtype(array.dtype).itemsize for array in made.given)
    spaces = given + made.state_bytes + 16 * made.vocabulary + 16 * (made.capacity + 1)
    arenas = sum(e.arena.size for e in emitted.values())
    constants = sum(e.constant_bytes for e in emitted.values())
    check_memories(target.soc.name, cpu, arenas, spaces, constants + tables)
    files, records = dict[str, bytes](), {}
    for name, each in emitted.items():
        own = dict(each.files)
        records[name] = json.loads(own.pop("metadata.json"))
        own[f"{name}/src/main.tir.txt"] = own.pop("src/main.tir.txt")
        files |= own
    texts = {
        f"{HEADERS}/tvmgen_{made.name}.h": source.header(made),
        f"{SOURCES}/{made.name}_decoder.c": source.source(made),
        f"{SOURCES}/{made.name}_generation.c": source.cpu_program(made),
        f"{SOURCES}/{made.name}_tables.c": source.tables(made),
    }
    root = resources.files("c_runtime")
    texts[f"{RUNTIME}/include/tvm_pulp/hal.h"] = one_core_header()
    path = "include/tvm_pulp/cpu_program.h"
    texts[f"{RUNTIME}/{path}"] = root.joinpath(path).read_text()
    files |= {path: text.encode() for path, text in texts.items()} | sampling_files()
    files["metadata.json"] = (json.dumps(metadata_of(request, made, records), indent=2) + "\n").encode()
    if request.tokenizer is not None:
        files["tokenizer.json"] = request.tokenizer
    return files
