"""`tvmgen_<name>.h`: what firmware includes: the contract, memories, inputs and outputs, the run function."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.model_text import header_text, safe
from tvm_pulp.codegen.run_function import ends, shared_signature, signature
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.qnn.network import Network, Tensor

_WIDTH = 116


@dataclass(frozen=True)
class ClusterNeeds:
    """The needs of a network on a cluster."""

    soc: str
    cores: int
    stack_bytes: int
    memories: dict[str, int]  # bytes by level
    engines: dict[str, int]  # event line by name
    inits: tuple[str, ...]  # functions that core 0 calls once
    state: str = ""  # what a caller has to know about caches
    needs: str = ""  # work, time and energy


def interface_header(
    network: Network,
    arena: Arena,
    cluster: ClusterNeeds | None = None,
    state: Sequence[str] = (),
    shared: bool = False,
    codes: Sequence[str] = (),
    functions: Sequence[str] = (),
) -> str:
    """The header; `cluster` is None where a host runs the network, `shared` if threads of its caller can share it.

    `codes`: what the run function returns besides, each with its number and a comment. `functions`: further
    declarations.
    """
    name, lines = network.name, ["#include <stdint.h>", ""]
    lines[1:1] = ['#include "tvm_pulp/thread_pool.h"'] if shared else []
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for role, tensors in ends(network).items():
        lines.append(f"struct tvmgen_{name}_{role} {{")
        const = "const " if role == "inputs" else ""
        for member, tensor in tensors.items():
            lines.append(f'  {const}{c_type(tensor.spec.dtype)} *{member}; /* {tensor.spec} "{safe(tensor.source)}" */')
        lines += ["};", ""]
    lines += [*state, *_memories(network, arena, cluster)]
    lines += ["", *_tensors(network), "", "/* What the run function returns. */"]
    lines += _returned(network, cluster, codes)
    lines += [f"{signature(network)};", ""]
    lines += functions
    if shared:
        about = "/* The same with threads of the caller, which share the larger layers; none where `pool` is null. */"
        lines += [about, f"{shared_signature(network)};", ""]
    return header_text(_contract(network, cluster), name, [*lines, "#ifdef __cplusplus", "}", "#endif"])


def _returned(network: Network, cluster: ClusterNeeds | None, more: Sequence[str]) -> list[str]:
    """The numbers that the run function returns."""
    codes = [f"TVMGEN_{network.name.upper()}_OK = 0"]
    if cluster is not None:
        wrong = f"TVMGEN_{network.name.upper()}_WRONG_RUNTIME = -1"
        codes.append(f"{wrong} /* another runtime, or too little L1; nothing ran */")
    if not more:
        return [f"enum {{ {', '.join(codes)} }};", ""]
    return ["enum {", *(f"  {code}," for code in [*codes, *more][:-1]), f"  {more[-1]}", "};", ""]


def _contract(network: Network, cluster: ClusterNeeds | None) -> list[str]:
    """Advice to callers, as the comment that the file begins with."""
    run = f"tvmgen_{safe(network.name)}_run"
    paragraphs = [f"Interface of the network {safe(network.name)}."]
    if cluster is None:
        paragraphs += [
            f"Call {run} as often as you like: it keeps no state; one call at a time, because it works in memory of "
            "its own. Inputs and outputs may lie anywhere and must not overlap; outputs are written in full."
        ]
    else:
        cores = f"all {cluster.cores} cores" if cluster.cores > 1 else "core 0"
        prepared = f" Core 0 has called {', '.join(f'{i}()' for i in cluster.inits)} before." if cluster.inits else ""
        lines = "".join(f", {line} of {engine}" for engine, line in cluster.engines.items())
        paragraphs += [
            f"Who calls: {cores} of the cluster of {cluster.soc}, together, with the same arguments, the instruction "
            f"cache on and the barrier set up for these cores as runtime/hal does it at start.{prepared} All return "
            "together. It keeps no state between calls; one call at a time, because it works in memory of its own.",
            "Inputs and outputs lie in L2, aligned to 4 bytes, and must not overlap; outputs are written in full. What "
            f"lies in the L1 arena at entry is lost. Stack: {cluster.stack_bytes} bytes per core, with all that is "
            f"called. Event lines: the barrier's, the DMA's{lines}.",
        ]
        paragraphs += [text for text in (cluster.state, cluster.needs) if text]
    wrapped = [line for text in paragraphs for line in (*textwrap.wrap(text, _WIDTH), "")][:-1]
    body = [f" * {line}".rstrip() for line in wrapped[1:]]
    return [f"/* {wrapped[0]}", *body[:-1], f"{body[-1]} */"]


def _memories(network: Network, arena: Arena, cluster: ClusterNeeds | None) -> list[str]:
    stem = f"TVMGEN_{network.name.upper()}"
    if cluster is None:
        return ["/* Bytes of scratch memory inside the module. */", f"#define {stem}_ARENA_BYTES {arena.size}"]
    return [
        "/* Cores that call, bytes of the stack of each, and bytes of each memory for activations and constants; L1 is",
        " * the arena that the linker script leaves. */",
        f"#define {stem}_CORES {cluster.cores}",
        f"#define {stem}_STACK_BYTES {cluster.stack_bytes}",
        *(f"#define {stem}_{level.upper()}_BYTES {size}" for level, size in cluster.memories.items()),
    ]


def _tensors(network: Network) -> list[str]:
    """Sizes of inputs and outputs, and what their integers stand for, as macros; and their elements by index."""
    lines = ["/* Inputs and outputs. real value = scale * (integer - zero point) */"]
    accessors: list[str] = []
    taken: set[str] = set()
    for role, tensors in ends(network).items():
        for member, tensor in tensors.items():
            stem = f"TVMGEN_{network.name.upper()}_{role[:-1].upper()}_{member.upper()}"
            while stem in taken:  # names that differ in case only
                stem += "_"
            taken.add(stem)
            lines.append(f"#define {stem}_ELEMENTS {tensor.spec.elements}")
            lines.append(f"#define {stem}_BYTES {tensor.spec.bytes}")
            if tensor.quantization is not None:
                scale = np.format_float_scientific(np.float32(tensor.quantization.scale), unique=True, trim="0")
                lines.append(f"#define {stem}_SCALE {scale}f")
                lines.append(f"#define {stem}_ZERO_POINT ({tensor.quantization.zero_point})")
            accessors += _accessor(network.name, role, tensor, member)
    return [*lines, "", *accessors[:-1]] if accessors else lines


def _accessor(module: str, role: str, tensor: Tensor, member: str) -> list[str]:
    """The address of an element of an input or output by its indices."""
    kind, shape = c_type(tensor.spec.dtype), tensor.spec.shape
    indices = [f"i{axis}" for axis in range(len(shape))]
    offset = indices[0] if indices else "0"
    for index, size in zip(indices[1:], shape[1:], strict=True):
        offset = f"({offset}) * {size}u + {index}" if " " in offset else f"{offset} * {size}u + {index}"
    parameters = "".join(f", uint32_t {index}" for index in indices)
    struct = f"const struct tvmgen_{module}_{role} *{role}"
    const = "const " if role == "inputs" else ""
    return [
        f"static inline {const}{kind} *tvmgen_{module}_{role[:-1]}_{member}_at({struct}{parameters}) {{",
        f"  return {role}->{member} + ({offset});",
        "}",
        "",
    ]
