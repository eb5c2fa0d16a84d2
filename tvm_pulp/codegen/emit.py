"""From a network to the files of its archive."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from tvm_pulp.codegen import debug_source, layer_captures, mlf, run_function, weights
from tvm_pulp.codegen import kernels as kernel_files
from tvm_pulp.codegen.caller_pointers import pointer_checks, wrong_pointer_code
from tvm_pulp.codegen.cpu_debug import cpu_debug_checks
from tvm_pulp.codegen.cpu_kernels.call_kernels import kernel_call
from tvm_pulp.codegen.cpu_program import cpu_program_file
from tvm_pulp.codegen.interface_header import interface_header
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.program_source import buffer_symbol
from tvm_pulp.planning.lowering import share_rows
from tvm_pulp.planning.tiling.place.arena import Arena, plan_arena
from tvm_pulp.planning.tiling.place.in_place import buffers, overwritten
from tvm_pulp.planning.tiling.place.strip_choices import strip_choices
from tvm_pulp.planning.tir.aot_main import build_main
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.soc.cpu_platform import cpu_kernel_files, hal_files, one_core_header
from tvm_pulp.soc.kernel_sources import texts_in
from tvm_pulp.uma.recipe import Kernel

SOURCES = "codegen/host/src"
HEADERS = "codegen/host/include"
RUNTIME = "runtime"


@dataclass(frozen=True)
class Emitted:
    """Files of the archive and what they were made from."""

    files: dict[str, bytes]
    kernels: Kernels
    arena: Arena
    constant_bytes: int
    # Layers with the operands of their C functions, and the names of these.
    network: Network
    functions: Mapping[Layer, str]


def plan_activations(
    network: Network,
    keep_layers: bool = False,
    may_overwrite: Mapping[Layer, tuple[int, ...]] | None = None,
    groups: Sequence[int] = (),
    guard: int = 0,
) -> Arena:
    """Offsets of all activations and workspaces in one arena; none gives way to another where layers are kept.

    `may_overwrite`: operands of layers whose place their result can take. `groups`: so many layers each run at the same
    time. `guard`: bytes behind every buffer that nothing may touch.
    """
    lifetimes = network.lifetimes()
    if groups:
        moment = [number for number, count in enumerate(groups) for _ in range(count)]
        lifetimes = {t: (moment[first], moment[last]) for t, (first, last) in lifetimes.items()}
    if keep_layers:
        lifetimes = dict.fromkeys(lifetimes, (0, len(network.layers)))
    places = overwritten(network, may_overwrite) if may_overwrite and not keep_layers and not groups else {}
    arena = plan_arena([replace(b, size=b.size + guard) for b in buffers(lifetimes, places) if b.size])
    return replace(arena, offsets=arena.offsets | {t: arena.offsets[place] for t, place in places.items()})


def emit(
    network: Network,
    facts: dict[str, Any],
    keep_layers: bool = False,
    cpu: Cpu | None = None,
    room: int | None = None,
    widened: frozenset[Tensor] = frozenset(),
    alone: bool = True,
    threads: int = 1,
    debug_inputs: Sequence[np.ndarray] | None = None,
) -> Emitted:
    """All files of the archive. `facts` are added to the metadata under "tvm_pulp".

    With `keep_layers` the program keeps what every layer made, and the archive says where. With a `cpu` that nothing
    else starts, the archive brings a program around the network. `room`: bytes for the arena; where it takes more, the
    first layers are computed in strips, which costs as little as can be. `widened`: weights that are stored with 16
    bits. Not `alone`: another program calls it, which says itself what it computes.
    `threads`: larger layers come in as many parts, which threads of the caller can share. `debug_inputs`: those of a
    debug build, which compares what layers make of them.
    """
    program = hal_files(cpu) if cpu is not None else {}
    network, groups = share_rows(network, threads) if threads > 1 else (network, [])
    debug = debug_inputs is not None
    called = _called(network, cpu, keep_layers, widened, groups, debug_source.GUARD_BYTES if debug else 0)
    if room is not None and called.arena.size > room and not keep_layers and not groups and not debug:
        called = _in_strips(network, called, cpu, room, widened)
    stated, network, kernels, arena = network, called.network, called.kernels, called.arena
    main = build_main(network, arena, called.names)
    name, constants = network.name, {t: t.level for t in network.constants()}
    texts = {
        **network_texts(kernels, constants),
        f"{SOURCES}/{name}_run.c": run_function.source_file(
            network,
            arena,
            main,
            marked=alone and bool(program),
            groups=groups,
            debug=debug,
            checks=pointer_checks(network) if debug else (),
        ),
        f"{HEADERS}/tvmgen_{name}.h": interface_header(
            network, arena, shared=bool(groups), codes=[wrong_pointer_code(name)] if debug else ()
        ),
        "src/main.tir.txt": main.function.script(),
        **runtime_files(bool(kernels.math_used), ("thread_pool.h",) if groups else ()),
        **{f"{RUNTIME}/{path}": text for path, text in program.items()},
    }
    if cpu is not None and kernels.headers:
        texts |= {f"{RUNTIME}/{path}": text for path, text in cpu_kernel_files(cpu).items()}
    if program and alone:
        texts[f"{SOURCES}/{name}_program.c"] = cpu_program_file(network)
    if debug_inputs is not None:
        checks = cpu_debug_checks(stated, arena, debug_inputs)
        texts[f"{SOURCES}/{name}_debug.c"] = debug_source.source_file(name, checks, [])
        texts |= {f"{RUNTIME}/{path}": text for path, text in debug_source.runtime_files().items()}
        texts[f"{RUNTIME}/include/tvm_pulp/hal.h"] = one_core_header()
        facts = {**facts, "debug": {"checks": len(checks)}}
    if keep_layers:
        texts[f"{SOURCES}/{name}_run.c"] += run_function.kept_layers(name, arena)
        texts[layer_captures.FILE] = layer_captures.to_file(layer_captures.host_captures(network, arena))
    files = {path: text.encode() for path, text in texts.items()}
    files[f"parameters/{name}.npz"] = mlf.parameters_file({t.name: t.data for t in constants if t.data is not None})
    files["metadata.json"] = (json.dumps(metadata(network, arena, facts, bool(program)), indent=2) + "\n").encode()
    size = sum(t.spec.bytes for t in constants)
    return Emitted(files, kernels, arena, size, network, called.names)


@dataclass(frozen=True)
class _Called:
    """A network with the operands of its C functions, their names by layer, and the places of activations."""

    network: Network
    kernels: Kernels
    names: dict[Layer, str]
    arena: Arena
    overwrites: dict[Layer, tuple[int, ...]]


def _called(
    network: Network,
    cpu: Cpu | None,
    keep_layers: bool,
    widened: frozenset[Tensor],
    groups: Sequence[int] = (),
    guard: int = 0,
) -> _Called:
    kernels = Kernels(network.name, shared_loops=False)
    layers, names, overwrites = [], {}, {}
    constants: dict[Any, Tensor] = {}
    for layer in network.layers:
        call = kernel_call(layer, cpu, widened.intersection(layer.inputs) != set()) if cpu is not None else None
        made = layer if call is None else _sharing(call.layer, constants)
        kernel = whole_kernel(layer)
        source = kernels.add(kernel, layer.name) if call is None else kernels.add_call(kernel, call, layer.name)
        layers.append(made)
        names[made] = source.name
        overwrites[made] = () if call is None else call.overwrites
    made_network = replace(network, layers=layers)
    arena = plan_activations(made_network, keep_layers, overwrites, groups, guard)
    return _Called(made_network, kernels, names, arena, overwrites)


def _sharing(layer: Layer, known: dict[Any, Tensor]) -> Layer:
    """A layer whose constants are those of another that has the same; parts of a layer have many."""
    inputs = []
    for tensor in layer.inputs:
        if tensor.kind == "constant" and tensor.view_of is None:
            key = (tensor.spec, tensor.level, tensor.values.tobytes())
            tensor = known.setdefault(key, tensor)
        inputs.append(tensor)
    return replace(layer, inputs=inputs)


def _in_strips(network: Network, called: _Called, cpu: Cpu | None, room: int, widened: frozenset[Tensor]) -> _Called:
    """The cheapest form with its first layers in strips that takes at most so many bytes; else the smallest found."""
    best = called
    for stripped in strip_choices(network, called.network, called.overwrites, room):
        made = _called(stripped, cpu, False, widened)
        if made.arena.size <= room:
            return made
        best = min(best, made, key=lambda form: form.arena.size)
    return best


def network_texts(
    kernels: Kernels, constants: Mapping[Tensor, str], shared: weights.SharedConstants | None = None
) -> dict[str, str]:
    """The files of a network's kernels and constants."""
    name = kernels.module
    return {
        f"{SOURCES}/{name}_kernels.c": kernel_files.source_file(kernels),
        f"{SOURCES}/{name}_weights.c": weights.source_file(name, constants),
        f"{HEADERS}/{name}_kernels.h": kernel_files.header_file(kernels),
        f"{HEADERS}/{name}_weights.h": weights.header_file(name, constants, shared),
    }


def whole_kernel(layer: Layer) -> Kernel:
    """A layer as one kernel on whole tensors."""
    function = layer.function if layer.operator.startswith("tir.") else None
    operands = (tuple(layer.inputs), tuple(layer.outputs), function, tuple(layer.workspaces))
    return Kernel(layer.operator, layer.attributes, *operands, parallel=layer.parallel)


def runtime_files(with_math: bool, more: tuple[str, ...] = ()) -> dict[str, str]:
    """Parts of the C runtime that the emitted sources include. `more`: further headers."""
    root = resources.files("c_runtime")
    headers = (
        "fixed_point16.h",
        "float.h",
        "float_functions.h",
        "power.h",
        "integer.h",
        "real.h",
        "soft_float.h",
        "softmax_tflite.h",
        *more,
    )
    texts = {path: root.joinpath(path).read_text() for path in (f"include/tvm_pulp/{h}" for h in headers)}
    texts |= {f"math/{path}": text for path, text in texts_in(root.joinpath("math"))} if with_math else {}
    return {f"{RUNTIME}/{path}": text for path, text in texts.items()}


def metadata(network: Network, arena: Arena, facts: dict[str, Any], has_program: bool = False) -> dict[str, Any]:
    """The archive's metadata; `has_program`: inputs and outputs are variables of a program."""
    constants = sum(t.spec.bytes for t in network.constants())
    ends = run_function.ends(network)

    def describe(role: str) -> list[dict[str, Any]]:
        described: list[dict[str, Any]] = []
        for m, t in ends[role].items():
            described.append({"name": t.source, "member": m, "shape": list(t.spec.shape), "dtype": t.spec.dtype})
            if has_program:
                described[-1]["symbol"] = buffer_symbol(network.name, role, m)
            if t.quantization is not None:
                described[-1] |= {"scale": t.quantization.scale, "zero_point": t.quantization.zero_point}
        return described

    return {
        "version": mlf.FORMAT_VERSION,
        "model_name": network.name,
        "export_datetime": None,  # the same input gives the same bytes
        "executors": ["aot"],
        "runtime": "crt",
        "memory": {
            "functions": {"main": [{"constants_size_bytes": constants, "workspace_size_bytes": arena.size}]},
            "arena_bytes": arena.size,
            "largest_live_set_bytes": arena.largest_live_set,
            "constants_bytes": constants,
        },
        "tvm_pulp": {
            **facts,
            "inputs": describe("inputs"),
            "outputs": describe("outputs"),
            "macs": network.macs,
            "layers": [
                {
                    "name": layer.name,
                    "op": layer.operator,
                    "nodes": list(layer.nodes),
                    "macs": layer.macs,
                    "output": [str(t.spec) for t in layer.outputs],
                    "reads": [t.storage.name for t in layer.inputs if t.storage.kind != "constant"],
                    "writes": [t.storage.name for t in layer.outputs],
                }
                for layer in network.layers
            ],
        },
    }
