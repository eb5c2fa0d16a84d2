"""Compiles a language model for a CPU by itself: the program of one token, which sees prompts as well."""

from importlib import resources

import numpy as np

from tvm_pulp.codegen.emit import RUNTIME, SOURCES, emit
from tvm_pulp.entry_point import HostEntryPoint, Progress, flat_facts
from tvm_pulp.errors import refuse_if
from tvm_pulp.language_models import source
from tvm_pulp.language_models.compile import archive_files, source_facts
from tvm_pulp.language_models.entry_module import DECODE, ENCODE, EntryModule
from tvm_pulp.language_models.plan_entries import states_of
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.language_models.state_buffer import state_buffers
from tvm_pulp.planning.cpu import CpuRequest, plan_cpu
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cpu_platform import check_memories, one_core_header
from tvm_pulp.target import Target

_LEVEL = "l2"


def _network(request: LanguageModelRequest, target: Target, name: str, module: EntryModule) -> Network:
    """A module as a network of layers."""
    sizes = [buffer.bytes for buffer in state_buffers([module], request.decoder.capacity, _LEVEL)]
    point = HostEntryPoint(target, f"{request.name}_{name}", module.imported, module.imported.module)
    return point.built(states_of(module, sizes, _LEVEL, request.name))


def cpu_language_model_files(request: LanguageModelRequest, target: Target, progress: Progress) -> dict[str, bytes]:
    """All files of the archive."""
    decoder, cpu = request.decoder, target.soc.cpu
    refuse_if(decoder.capacity < 1, f"--capacity {decoder.capacity}: at least one token is needed")
    module = decoder.entry_module(1, False) or decoder.entry_module(1, True)
    assert module is not None, "attention is one operator or several"
    progress("lowering the program of one token")
    modules = {DECODE: module}
    networks = {DECODE: _network(request, target, DECODE, module)}
    encoder = decoder.encoder_module()
    if encoder is not None:
        progress("lowering the encoder")
        modules[ENCODE], networks[ENCODE] = encoder, _network(request, target, ENCODE, encoder)
    progress(f"emitting C for {sum(len(network.layers) for network in networks.values())} layers")
    wanted = CpuRequest(target.soc.name, cpu, alone=False)
    plans = {name: plan_cpu(network, wanted) for name, network in networks.items()}
    emitted = {name: emit(plan, flat_facts(target)) for name, plan in plans.items()}
    made = source_facts(request, modules, networks[DECODE], {1: 1}, 0, by_itself=True)
    tables = sum(table.data.nbytes for table in made.tables)
    # Logits with what sampling needs, tokens that go in and out with the time of each.
    given = sum(array.elements * np.dtype(array.dtype).itemsize for array in made.given)
    spaces = given + made.state_bytes + 16 * made.vocabulary + 16 * (made.capacity + 1)
    arenas = sum(plan.arena.size for plan in plans.values())
    constants = sum(plan.constant_bytes for plan in plans.values())
    check_memories(target.soc.name, cpu, arenas, spaces, constants + tables)
    header = "include/tvm_pulp/cpu_program.h"
    texts = {
        f"{SOURCES}/{made.name}_generation.c": source.cpu_program(made),
        f"{RUNTIME}/include/tvm_pulp/hal.h": one_core_header(),
        f"{RUNTIME}/{header}": resources.files("c_runtime").joinpath(header).read_text(),
    }
    return archive_files(request, made, {name: each.files for name, each in emitted.items()}, texts)
