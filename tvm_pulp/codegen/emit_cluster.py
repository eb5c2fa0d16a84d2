"""From a plan to the files of an archive for a cluster."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvm_pulp.codegen import constant_checks, debug_source, layer_captures, mlf, program_source, weights
from tvm_pulp.codegen.caller_pointers import wrong_pointer_code
from tvm_pulp.codegen.cluster_source import ClusterSource
from tvm_pulp.codegen.emit import HEADERS, RUNTIME, SOURCES, metadata, network_texts, runtime_files
from tvm_pulp.codegen.formats import PlanJson, to_json
from tvm_pulp.codegen.interface_header import ClusterNeeds, interface_header
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.state_source import l3_symbol, state_contract, state_interface
from tvm_pulp.planning.tiling.plan import Plan, layer_constants
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.soc.platform import Platform
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.recipe import Call, operands_of


def emit_cluster(
    lowered: LoweredPlan,
    facts: dict[str, Any],
    backends: Mapping[str, UMABackend],
    platform: Platform,
    defines: list[str],
    debug_inputs: Sequence[np.ndarray] | None = None,
    keep_layers: bool = False,
    shared: weights.SharedConstants | None = None,
    check_constants: bool = False,
) -> dict[str, bytes]:
    """All files of the archive; with inputs to compare with, of a debug build; or of one that shows its layers.

    `shared`: constants that another program of the archive defines. `check_constants`: those of L3 and weight memory
    are compared before the first inference.
    """
    plan, network, name = lowered.plan, lowered.plan.network, lowered.plan.network.name
    used = dict.fromkeys(p.engine for p in plan.layers if p.engine in backends)
    engines = {engine: codegen for engine in used if (codegen := backends[engine].codegen) is not None}
    kernels = Kernels(name, shared_loops=True)
    source = ClusterSource(lowered, kernels, engines)
    constants = plan.constants()
    others = shared.names if shared is not None else {}
    named = {t: level for t, level in named_constants(lowered.tables, constants).items() if t not in others}
    cluster = ClusterNeeds(
        platform.soc.name,
        facts["cores"],
        platform.soc.software.stack_bytes,
        _memory_bytes(plan, platform),
        {engine: platform.soc.engines[engine].event_line for engine in engines},
        tuple(codegen.init for codegen in engines.values()),
        state_contract(network),
        _needs(plan, facts["expected"]),
    )
    checked = constant_checks.checked_constants(plan, named) if check_constants else None
    codes = [constant_checks.wrong_constants_code(name)] if check_constants else []
    codes += [wrong_pointer_code(name)] if debug_inputs is not None else []
    texts = {
        f"{SOURCES}/{name}_run.c": source.run_file(debug_inputs is not None, checked),
        f"{SOURCES}/{name}_program.c": program_source.program_file(plan, engines),
        **network_texts(kernels, named, shared),
        f"{HEADERS}/{name}_bundle_weights.h": source.bundles.weights_file(),
        f"{HEADERS}/tvmgen_{name}.h": interface_header(
            network,
            plan.arena,
            cluster,
            state_interface(network, platform.soc.memory.l3.size),
            codes=codes,
            functions=constant_checks.declarations(name) if check_constants else (),
        ),
        "src/main.tir.txt": lowered.function.script(),
        **runtime_files(bool(kernels.math_used), ("steps.h", *([constant_checks.HEADER] if checked else []))),
        **{f"{RUNTIME}/{path}": text for path, text in platform.hal_files().items()},
        **{f"{mlf.FIRMWARE}/{path}": text for path, text in platform.firmware_files().items()},
    }
    for codegen in engines.values():
        texts |= {f"{RUNTIME}/engine/{path.name}": path.read_text() for path in codegen.files}
    if checked is not None:
        texts[f"{SOURCES}/{name}_program.c"] += "\n".join(constant_checks.program_lines(name))
        defines = [*defines, constant_checks.DEFINE]
        facts = {**facts, constant_checks.FACT: [constant.name for constant in checked]}
    if keep_layers:
        captures = layer_captures.cluster_captures(lowered)
        texts[f"{SOURCES}/{name}_layers.c"] = layer_captures.source_file(name, captures, len(lowered.positions))
        texts[layer_captures.FILE] = layer_captures.to_file(captures)
        shown = layer_captures.runtime_files(platform.soc.software.hal)
        texts |= {f"{RUNTIME}/{path}": text for path, text in shown.items()}
    if debug_inputs is not None or keep_layers:
        checks = [] if debug_inputs is None else debug_source.debug_checks(lowered, source.bases, debug_inputs)
        executor = f"{RUNTIME}/{platform.executor}"
        table = debug_source.source_file(name, checks, list(engines.values()), keep_layers)
        texts[f"{SOURCES}/{name}_debug.c"] = table
        texts |= {f"{RUNTIME}/{path}": text for path, text in debug_source.runtime_files().items()}
        texts[executor] = debug_source.watched_executor(texts[executor])
        facts = {**facts, "debug": {"checks": len(checks)}} if debug_inputs is not None else facts
    called = [slot.step.function for slot in plan.schedule.slots if isinstance(slot.step, Call)]
    rounded = {layer.attributes.get("requant") for layer in network.layers}
    kernel_texts = platform.kernel_files(called, ["float biases"] if "offset_half_even" in rounded else [])
    texts |= {f"{RUNTIME}/{path}": text for path, text in kernel_texts.items()}
    first = [f"{RUNTIME}/{platform.executor}", f"{SOURCES}/{name}_kernels.c"]
    code_order = [*first, *(f"{RUNTIME}/{path}" for path in kernel_texts if path.endswith(".c"))]
    defines = [*platform.defines(), *defines, *(d for codegen in engines.values() for d in codegen.defines)]
    files = {path: text.encode() for path, text in texts.items()}
    own = {t.name: t.data for t in constants if t.data is not None and t not in others}
    files[f"parameters/{name}.npz"] = mlf.parameters_file(own)
    if l3 := plan.l3_offsets():
        blob = bytearray(max(offset + t.spec.bytes for t, offset in l3.items()))
        for tensor, offset in l3.items():
            assert tensor.data is not None
            blob[offset : offset + tensor.spec.bytes] = tensor.data.tobytes()
        files["parameters/l3.bin"] = bytes(blob)
    files["plan.json"] = to_json(PlanJson, describe(lowered)).encode()
    record = metadata(network, plan.arena, {**facts, "defines": defines, "code_order": code_order})
    _complete(record, plan, platform)
    files["metadata.json"] = (json.dumps(record, indent=2) + "\n").encode()
    return files


def named_constants(tables: Tables, constants: Mapping[Tensor, str]) -> dict[Tensor, str]:
    """Constants that code refers to by name, with their levels; the others exist only inside bundles."""
    used = {t for t in tables.pointers.values() if t.kind == "constant"}
    for slot in tables.slots:
        used |= {o.storage for o in operands_of(slot.step) if isinstance(o, Tensor)}
    return {tensor: level for tensor, level in constants.items() if tensor in used}


def _needs(plan: Plan, expected: Mapping[str, Any]) -> str:
    """Work, and the time and energy that are expected, for a comment."""
    energy = "" if expected["energy_uj"] is None else f", about {expected['energy_uj']:.3g} uJ"
    return (
        f"Takes {plan.network.macs:,} MAC, about {expected['cycles']:,} cycles: {expected['milliseconds']:.3g} ms at "
        f"{expected['clock_mhz']:g} MHz{energy}; {sum(t.spec.bytes for t in plan.constants()):,} bytes of constants."
    )


def _memory_bytes(plan: Plan, platform: Platform) -> dict[str, int]:
    """Bytes that the network takes of every level."""
    sizes = dict.fromkeys(("l2", *platform.constant_levels()), 0)
    for tensor, level in plan.constants().items():
        sizes[level] += tensor.spec.bytes
    for bundle in plan.schedule.bundles:
        moved = bundle.bytes if bundle.level != "l2" else 0
        sizes["l2"], sizes[bundle.level] = sizes["l2"] - moved, sizes[bundle.level] + moved
    return {
        "l1": plan.l1_peak,
        "l2": sizes["l2"] + plan.arena.size,
        "l3": sizes["l3"],
        "wmem": sum(sizes[part] for part in platform.soc.software.weight_parts),
    }


def _complete(record: dict[str, Any], plan: Plan, platform: Platform) -> None:
    """Add what only a plan knows: symbols, engines, memories."""
    facts, name = record["tvm_pulp"], plan.network.name
    for role in ("inputs", "outputs"):
        for entry in facts[role]:
            entry["symbol"] = program_source.buffer_symbol(name, role, entry["member"])
    for (role, place), symbol in program_source.state_symbols(plan.network).items():
        facts[role][place]["symbol"] = symbol
    first = platform.soc.memory.l3.size - plan.network.state_bytes("l3")
    for state in plan.network.states:
        # What comes out is the whole cache.
        if state.length is not None:
            facts["outputs"][state.present]["shape"][1] += state.length
        if state.level == "l3":
            for entry in (facts["inputs"][state.past], facts["outputs"][state.present]):
                entry |= {"symbol": l3_symbol(name), "l3": first + state.offset}
    record["memory"]["constants_bytes"] = sum(t.spec.bytes for t in plan.constants())
    levels = _memory_bytes(plan, platform)
    # Caches in L2 are inputs and outputs of the caller.
    record["memory"]["levels"] = {**levels, **{n: levels[n] + plan.network.state_bytes(n) for n in ("l1", "l3")}}
    moved = [0] * len(plan.layers)
    for move in plan.schedule.moves:
        moved[move.layer] += sum(t.bytes for t in move.transfers)
    for index, (entry, layer) in enumerate(zip(facts["layers"], plan.layers, strict=True)):
        entry |= {
            "engine": layer.engine,
            "form": layer.tiling.form.name,
            "estimated_cycles": layer.estimated_cycles,
            "bound_cycles": layer.tiling.form.bound_cycles(),
            "tiles": len(layer.recipes),
            # Forms without an arithmetic of their own run the network's exactly.
            "deviation_lsb": layer.tiling.form.rounding.deviation,
            "dma_bytes": moved[index],
            "constants": [tensor.name for tensor in layer_constants(layer)],
        }
