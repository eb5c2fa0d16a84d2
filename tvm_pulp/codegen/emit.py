"""From a network to the files of its archive."""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tvm_pulp.codegen import kernels as kernel_files
from tvm_pulp.codegen import layer_captures, mlf, run_function, weights
from tvm_pulp.codegen.interface_header import interface_header
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.planning.tiling.place.arena import Arena, plan_arena
from tvm_pulp.planning.tiling.place.placer import Buffer
from tvm_pulp.planning.tir.aot_main import AotMain, build_main
from tvm_pulp.qnn.network import Layer, Network
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
    main: AotMain


def plan_activations(network: Network, keep_layers: bool = False) -> Arena:
    """Offsets of all activations and workspaces in one arena; none gives way to another where layers are kept."""
    lifetimes = network.lifetimes()
    if keep_layers:
        lifetimes = dict.fromkeys(lifetimes, (0, len(network.layers)))
    return plan_arena([Buffer(t, t.spec.bytes, *alive) for t, alive in lifetimes.items()])


def emit(network: Network, facts: dict[str, Any], keep_layers: bool = False) -> Emitted:
    """All files of the archive. `facts` are added to the metadata under "tvm_pulp".

    With `keep_layers` the program keeps what every layer made, and the archive says where.
    """
    arena = plan_activations(network, keep_layers)
    kernels = Kernels(network.name, shared_loops=False)
    names = {layer: kernels.add(whole_kernel(layer), layer.name).name for layer in network.layers}
    main = build_main(network, arena, names)
    name, constants = network.name, {t: t.level for t in network.constants()}
    texts = {
        f"{SOURCES}/{name}_kernels.c": kernel_files.source_file(kernels),
        f"{SOURCES}/{name}_weights.c": weights.source_file(name, constants),
        f"{SOURCES}/{name}_run.c": run_function.source_file(network, arena, main),
        f"{HEADERS}/{name}_kernels.h": kernel_files.header_file(kernels),
        f"{HEADERS}/{name}_weights.h": weights.header_file(name, constants),
        f"{HEADERS}/tvmgen_{name}.h": interface_header(network, arena),
        "src/main.tir.txt": main.function.script(),
        **runtime_files(bool(kernels.math_used)),
    }
    files = {path: text.encode() for path, text in texts.items()}
    if keep_layers:
        files[f"{SOURCES}/{name}_run.c"] += run_function.kept_layers(name, arena).encode()
        files[layer_captures.FILE] = layer_captures.to_file(layer_captures.host_captures(network, arena))
    files[f"parameters/{name}.npz"] = mlf.parameters_file({t.name: t.data for t in constants if t.data is not None})
    files["metadata.json"] = (json.dumps(metadata(network, arena, facts), indent=2) + "\n").encode()
    return Emitted(files, kernels, arena, main)


def whole_kernel(layer: Layer) -> Kernel:
    """A layer as one kernel on whole tensors."""
    function = layer.function if layer.operator.startswith("tir.") else None
    operands = (tuple(layer.inputs), tuple(layer.outputs), function, tuple(layer.workspaces))
    return Kernel(layer.operator, layer.attributes, *operands, parallel=layer.parallel)


def runtime_files(with_math: bool, more: tuple[str, ...] = ()) -> dict[str, str]:
    """Parts of the C runtime that the emitted sources include. `more`: further headers."""
    root = resources.files("c_runtime")
    headers = ("fixed_point16.h", "float.h", "float_functions.h", "integer.h", "real.h", "softmax_tflite.h", *more)
    wanted = [(f"include/tvm_pulp/{h}", f"include/tvm_pulp/{h}") for h in headers]
    if with_math:
        wanted += [
            (f"math/{f.name}", f"math/{f.name}") for f in sorted(root.joinpath("math").iterdir(), key=lambda f: f.name)
        ]
    pairs = [(source, target) for source, target in wanted if source.endswith((".h", ".c"))]
    return {f"{RUNTIME}/{target}": root.joinpath(source).read_text() for source, target in pairs}


def metadata(network: Network, arena: Arena, facts: dict[str, Any]) -> dict[str, Any]:
    constants = sum(t.spec.bytes for t in network.constants())
    members = run_function.members

    def describe(tensors: list[Any]) -> list[dict[str, Any]]:
        described: list[dict[str, Any]] = []
        for t, m in zip(tensors, members(tensors), strict=True):
            described.append({"name": t.source, "member": m, "shape": list(t.spec.shape), "dtype": t.spec.dtype})
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
            "inputs": describe(network.inputs),
            "outputs": describe(network.outputs),
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
