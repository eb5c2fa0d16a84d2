"""From a network to the files of its archive."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from tvm_pulp.codegen import debug_source, layer_captures, mlf, run_function, weights
from tvm_pulp.codegen import kernels as kernel_files
from tvm_pulp.codegen.caller_pointers import pointer_checks, wrong_pointer_code
from tvm_pulp.codegen.cpu_debug import cpu_debug_checks
from tvm_pulp.codegen.cpu_program import cpu_program_file
from tvm_pulp.codegen.formats import to_json
from tvm_pulp.codegen.interface_header import interface_header
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.program_source import buffer_symbol
from tvm_pulp.planning.cpu import CpuPlan, LoweredCpuPlan
from tvm_pulp.planning.program import CpuPlanJson
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.planning.tir.aot_main import build_main
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.soc.cpu_platform import cpu_kernel_files, hal_files, one_core_header
from tvm_pulp.soc.kernel_sources import texts_in
from tvm_pulp.uma.recipe import Kernel

SOURCES = "codegen/host/src"
HEADERS = "codegen/host/include"
RUNTIME = "runtime"


@dataclass(frozen=True)
class Emitted:
    """Files of the archive, and the names of layers' C functions."""

    files: dict[str, bytes]
    functions: Mapping[Layer, str]


def emit(
    lowered: LoweredCpuPlan, facts: dict[str, Any], compared_inputs: Sequence[np.ndarray] | None = None
) -> Emitted:
    """All files of the archive of a plan for a CPU by itself. `facts` are added to the metadata under "tvm_pulp".

    A program that nothing else starts brings one around the network, unless another program of the archive calls it.
    One that keeps its layers says where. `compared_inputs`: those of a debug build, which compares what layers make of
    them.
    """
    plan = lowered.plan
    request, network, arena = plan.request, plan.network, plan.arena
    name, cpu, debug = network.name, request.cpu, compared_inputs is not None
    program = hal_files(cpu) if cpu is not None else {}
    kernels, names = _functions(plan)
    main = build_main(network, arena, names)
    constants = {t: t.level for t in network.constants()}
    texts = {
        **network_texts(kernels, constants),
        f"{SOURCES}/{name}_run.c": run_function.source_file(
            network,
            arena,
            main,
            marked=request.alone and bool(program),
            groups=plan.groups,
            debug=debug,
            checks=pointer_checks(network) if debug else (),
        ),
        f"{HEADERS}/tvmgen_{name}.h": interface_header(
            network, arena, shared=bool(plan.groups), codes=[wrong_pointer_code(name)] if debug else ()
        ),
        "src/main.tir.txt": main.function.script(),
        "plan.json": to_json(CpuPlanJson, lowered.record),
        **runtime_files(bool(kernels.math_used), ("thread_pool.h",) if plan.groups else ()),
        **{f"{RUNTIME}/{path}": text for path, text in program.items()},
    }
    if cpu is not None and kernels.headers:
        texts |= {f"{RUNTIME}/{path}": text for path, text in cpu_kernel_files(cpu).items()}
    if program and request.alone:
        texts[f"{SOURCES}/{name}_program.c"] = cpu_program_file(network)
    if compared_inputs is not None:
        checks = cpu_debug_checks(plan.stated, arena, compared_inputs)
        texts[f"{SOURCES}/{name}_debug.c"] = debug_source.source_file(name, checks, [])
        texts |= {f"{RUNTIME}/{path}": text for path, text in debug_source.runtime_files().items()}
        texts[f"{RUNTIME}/include/tvm_pulp/hal.h"] = one_core_header()
        facts = {**facts, "debug": {"checks": len(checks)}}
    if request.keep_layers:
        texts[f"{SOURCES}/{name}_run.c"] += run_function.kept_layers(name, arena)
        texts[layer_captures.FILE] = layer_captures.to_file(layer_captures.host_captures(network, arena))
    files = {path: text.encode() for path, text in texts.items()}
    files[f"parameters/{name}.npz"] = mlf.parameters_file({t.name: t.data for t in constants if t.data is not None})
    files["metadata.json"] = (json.dumps(metadata(network, arena, facts, bool(program)), indent=2) + "\n").encode()
    return Emitted(files, names)


def _functions(plan: CpuPlan) -> tuple[Kernels, dict[Layer, str]]:
    """The C functions of a plan, and their names by layer."""
    kernels, names = Kernels(plan.network.name, shared_loops=False), {}
    for layer in plan.layers:
        kernel, name = whole_kernel(layer.stated), layer.called.name
        source = kernels.add(kernel, name) if layer.call is None else kernels.add_call(kernel, layer.call, name)
        names[layer.called] = source.name
    return kernels, names


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
