"""Compiles a language model for a CPU by itself: the program of one token, which sees prompts as well."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np

from tvm_pulp.codegen.emit import RUNTIME, SOURCES
from tvm_pulp.entry_point import HostEntryPoint, Progress
from tvm_pulp.errors import refuse_if
from tvm_pulp.language_models import source
from tvm_pulp.language_models.compile import archive_files, source_facts
from tvm_pulp.language_models.entry_module import DECODE, ENCODE, EntryModule
from tvm_pulp.language_models.plan_entries import states_of
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.language_models.state_buffer import state_buffers
from tvm_pulp.planning.cpu import LoweredCpuPlan
from tvm_pulp.soc.cpu_platform import check_memories, one_core_header
from tvm_pulp.target import Target

_LEVEL = "l2"


@dataclass(frozen=True)
class CpuEntry:
    """A program: its module, and its stages as any network has them."""

    module: EntryModule
    point: HostEntryPoint

    @property
    def lowered(self) -> LoweredCpuPlan:
        return self.point.lowered


def plan_cpu_language_model(request: LanguageModelRequest, target: Target, progress: Progress) -> dict[str, CpuEntry]:
    """Modules and stages by entry point."""
    decoder = request.decoder
    refuse_if(decoder.capacity < 1, f"--capacity {decoder.capacity}: at least one token is needed")
    one = decoder.entry_module(1, False) or decoder.entry_module(1, True)
    assert one is not None, "attention is one operator or several"
    encoder = decoder.encoder_module()
    modules = {DECODE: one, **({ENCODE: encoder} if encoder is not None else {})}
    entries = {}
    for name, module in modules.items():
        sizes = [buffer.bytes for buffer in state_buffers([module], decoder.capacity, _LEVEL)]
        states = states_of(module, sizes, _LEVEL, request.name)
        stages = (target, f"{request.name}_{name}", module.imported, module.imported.module, states, progress)
        entries[name] = CpuEntry(module, HostEntryPoint(*stages, alone=False))
    return entries


def cpu_language_model_files(
    request: LanguageModelRequest, target: Target, entries: Mapping[str, CpuEntry]
) -> dict[str, bytes]:
    """All files of the archive."""
    plans = {name: entry.lowered.plan for name, entry in entries.items()}
    modules, network = {name: entry.module for name, entry in entries.items()}, plans[DECODE].network
    made = source_facts(request, modules, network, {1: 1}, 0, by_itself=True)
    _check_memories(target, made, entries)
    header = "include/tvm_pulp/cpu_program.h"
    texts = {
        f"{SOURCES}/{made.name}_generation.c": source.cpu_program(made),
        f"{RUNTIME}/include/tvm_pulp/hal.h": one_core_header(),
        f"{RUNTIME}/{header}": resources.files("c_runtime").joinpath(header).read_text(),
    }
    return archive_files(request, made, {name: entry.point.emitted for name, entry in entries.items()}, texts)


def _check_memories(target: Target, made: source.SourceFacts, entries: Mapping[str, CpuEntry]) -> None:
    """Check that all programs fit beside state, tables and tokens."""
    plans = [entry.lowered.plan for entry in entries.values()]
    tables = sum(table.data.nbytes for table in made.tables)
    # Logits with what sampling needs, tokens that go in and out with the time of each.
    given = sum(array.elements * np.dtype(array.dtype).itemsize for array in made.given)
    spaces = given + made.state_bytes + 16 * made.vocabulary + 16 * (made.capacity + 1)
    constants = sum(plan.constant_bytes for plan in plans)
    check_memories(target.soc.name, target.soc.cpu, sum(p.arena.size for p in plans), spaces, constants + tables)
