"""Kernels of a network as C functions. Kernels with the same body exist once."""

from __future__ import annotations

from dataclasses import dataclass, field

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.c_statement import Statements, stored_buffers
from tvm_pulp.codegen.comment import safe
from tvm_pulp.tiling.network import Layer, Network


@dataclass
class KernelSource:
    """One C function and the layers that call it."""

    name: str
    parameters: list[str]
    body: list[str]
    layers: list[Layer] = field(default_factory=list)

    @property
    def prototype(self) -> str:
        return f"void {self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class Kernels:
    """All kernels of a network and which layer calls which."""

    sources: list[KernelSource]
    names: dict[Layer, str]
    math_used: frozenset[str]


def print_kernels(network: Network, *, shared_loops: bool) -> Kernels:
    """C functions for all layers."""
    by_text: dict[tuple[str, ...], KernelSource] = {}
    counts: dict[str, int] = {}
    names: dict[Layer, str] = {}
    math_used: set[str] = set()
    for layer in network.layers:
        parameters, body, used = print_kernel(layer, shared_loops=shared_loops and layer.parallel)
        math_used |= used
        key = (*parameters, "", *body)
        if key not in by_text:
            base = f"tvmgen_{network.name}_{layer.operator.removeprefix('tir.')}"
            counts[base] = counts.get(base, 0) + 1
            name = base if counts[base] == 1 else f"{base}_{counts[base]}"
            by_text[key] = KernelSource(name, parameters, body)
        by_text[key].layers.append(layer)
        names[layer] = by_text[key].name
    return Kernels(list(by_text.values()), names, frozenset(math_used))


def print_kernel(layer: Layer, *, shared_loops: bool) -> tuple[list[str], list[str], set[str]]:
    """Parameter declarations and body lines of one layer's kernel."""
    function = layer.function
    names = {p: p.name for p in function.params}
    if layer.operator.startswith("tir."):
        # TVM names these after graph variables; neutral names let equal kernels meet.
        counts = (len(layer.inputs), len(layer.outputs), len(layer.workspaces))
        labels = [f"{n}{i}" for n, count in zip(("x", "y", "space"), counts, strict=True) for i in range(count)]
        names = dict(zip(function.params, labels, strict=True))
    written = stored_buffers(function.body)
    statements = Statements(names, shared_loops=shared_loops)
    body = statements.print(function.body)
    parameters = [
        f"{'' if p in written else 'const '}{c_type(p.dtype)} *restrict {names[p]}" for p in function.params
    ]
    if shared_loops:
        parameters += ["int32_t core", "int32_t cores"]
    text = "\n".join(body)
    unused = [n for n in names.values() if n not in text]
    return parameters, [*(f"  (void){n};" for n in unused), *body], statements.expressions.math_used


def header_file(network: Network, kernels: Kernels) -> str:
    guard = f"TVMGEN_{network.name.upper()}_KERNELS_H"
    lines = ["/* Kernels of the network, one per kind of layer. */", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#include <stdbool.h>", "#include <stdint.h>", ""]
    lines += [f"{k.prototype};" for k in kernels.sources]
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def source_file(network: Network, kernels: Kernels) -> str:
    includes = ['#include "tvm_pulp/integer.h"']
    if any(layer.operator == "softmax" and layer.attributes["form"] == "tflite" for layer in network.layers):
        includes.append('#include "tvm_pulp/softmax_tflite.h"')
    if kernels.math_used:
        includes.append('#include "tvm_pulp_math.h"')
    parts = [f'#include "{network.name}_kernels.h"', "", *includes, ""]
    for kernel in kernels.sources:
        parts += [*_comment(kernel), f"{kernel.prototype} {{", *kernel.body, "}", ""]
    return "\n".join(parts)


def _comment(kernel: KernelSource) -> list[str]:
    layer = kernel.layers[0]
    shapes = ", ".join(f"{t.spec}" for t in layer.inputs if t.kind != "constant")
    results = ", ".join(str(t.spec) for t in layer.outputs)
    users = ", ".join(dict.fromkeys(l.name for l in kernel.layers[:4]))
    more = f" and {len(kernel.layers) - 4} more" if len(kernel.layers) > 4 else ""
    macs = f" {layer.macs} MAC." if layer.macs else ""
    return [f"/* {safe(layer.operator)}: {shapes} -> {results}.{macs}", f" * Layers: {safe(users)}{more}. */"]
