"""The network's `run` function in C, printed from its TIR main."""

import textwrap
from collections.abc import Sequence
from typing import Any

from tvm_pulp.codegen import weights
from tvm_pulp.codegen.c_expression import C_TYPES, c_type
from tvm_pulp.codegen.c_statement import Statements
from tvm_pulp.codegen.model_text import about_layer
from tvm_pulp.planning.lowering import Names, unused_name
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.planning.tir.aot_main import AotMain, begun_layer
from tvm_pulp.qnn.network import Layer, Network, Tensor

# What the run function itself calls by name.
_BASES = "debug_bases"
_RESERVED = frozenset({"arena", "inputs", "outputs", _BASES, *C_TYPES.values()})


def ends(network: Network) -> dict[str, dict[str, Tensor]]:
    """Inputs and outputs by struct member: called as in the model, unique even when one tensor is several outputs."""
    found: dict[str, dict[str, Tensor]] = {"inputs": {}, "outputs": {}}
    for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        for tensor in tensors:
            # An output may be made by a layer of another name, where what the model does behind it is left out.
            name = Names().pick(tensor.source) if tensor.storage.kind == "output" else tensor.name
            found[role][unused_name(name, found[role])] = tensor
    return found


def signature(network: Network) -> str:
    n = network.name
    return f"int32_t tvmgen_{n}_run(const struct tvmgen_{n}_inputs *inputs, const struct tvmgen_{n}_outputs *outputs)"


def shared_signature(network: Network) -> str:
    """The run function that threads of the caller share."""
    plain = signature(network).replace("_run(", "_run_shared(", 1)
    return f"{plain[:-1]}, const struct tvm_pulp_thread_pool *pool)"


def source_file(
    network: Network,
    arena: Arena,
    main: AotMain,
    *,
    marked: bool = False,
    groups: Sequence[int] = (),
    debug: bool = False,
    checks: Sequence[str] = (),
) -> str:
    """`<name>_run.c`. `marked`: it says which layer it computes, in a program that is profiled.

    `groups`: so many layers each are parts of one, which threads of the caller can share. `debug`: what layers made is
    looked at before the next one begins. `checks`: statements at the entry.
    """
    name = network.name
    marks = ['#include "tvm_pulp/cpu_program.h"'] if marked else []
    marks += ['#include "tvm_pulp_debug.h"'] if debug else []
    own = [f'#include "{name}_kernels.h"', f'#include "{name}_weights.h"']
    parts = [f'#include "tvmgen_{name}.h"', "", *own, *marks, ""]
    if arena.size:
        parts += [
            f"/* Activations; the largest set alive at once is {arena.largest_live_set} bytes. */",
            f"__attribute__((aligned(16))) static uint8_t arena[{arena.size}];",
            "",
        ]
    if groups:
        return "\n".join([*parts, *_shared(network, main, groups, marked), ""])
    bases = [f"  {_bases(network, arena)}"] if debug else []
    looks = [f"  {_look(last=True)}"] if debug else []
    body = _body(network, main, marked, debug=debug)
    parts += [f"{signature(network)} {{", *checks, *bases, *body, *looks, "  return 0;", "}", ""]
    return "\n".join(parts)


def _shared(network: Network, main: AotMain, groups: Sequence[int], marked: bool) -> list[str]:
    """Layers as numbered steps, and the functions that have threads share those that are parts of one."""
    name = network.name
    given = ", ".join(f"const struct tvmgen_{name}_{role} *{role}" for role in ("inputs", "outputs"))
    firsts = [sum(groups[:number]) for number in range(len(groups))]
    table = textwrap.wrap(", ".join(f"{{{f}, {c}}}" for f, c in zip(firsts, groups, strict=True)), 100)
    return [
        "/* One of the steps; those of a layer in parts may run at the same time. */",
        f"static void step({given}, int32_t number) {{",
        *_body(network, main, marked=False, numbered=True),
        "  }",
        "}",
        "",
        "struct part {",
        f"  const struct tvmgen_{name}_inputs *inputs;",
        f"  const struct tvmgen_{name}_outputs *outputs;",
        "  int32_t first;",
        "};",
        "",
        "static void run_part(void *arguments, int32_t i) {",
        "  const struct part *part = arguments;",
        "  step(part->inputs, part->outputs, part->first + i);",
        "}",
        "",
        "/* Of every layer: its first step, and how many. */",
        f"static const struct {{ int32_t first, count; }} layers[{len(groups)}] = {{",
        *(f"    {line}" for line in table),
        "};",
        "",
        f"{shared_signature(network)} {{",
        f"  for (int32_t n = 0; n < {len(groups)}; ++n) {{",
        "    struct part part = {inputs, outputs, layers[n].first};",
        "    if (pool != 0 && layers[n].count > 1) {",
        "      pool->share(pool->context, run_part, &part, layers[n].count);",
        "    } else {",
        "      for (int32_t i = 0; i < layers[n].count; ++i) {",
        *(["        TVM_PULP_LAYER((uint32_t)(part.first + i + 1));"] if marked else []),
        "        run_part(&part, i);",
        "      }",
        "    }",
        "  }",
        "  return 0;",
        "}",
        "",
        f"{signature(network)} {{ return tvmgen_{name}_run_shared(inputs, outputs, 0); }}",
    ]


def _bases(network: Network, arena: Arena) -> str:
    """Pointers that a debug build looks behind: the arena, inputs and outputs."""
    pointers = ["arena" if arena.size else "0"]
    pointers += [f"{role}->{member}" for role, tensors in ends(network).items() for member in tensors]
    given = ", ".join(f"(tvm_pulp_address)(uintptr_t){pointer}" for pointer in pointers)
    return f"const tvm_pulp_address {_BASES}[] = {{{given}}};"


def _look(*, last: bool = False) -> str:
    return f"tvm_pulp_debug_step({_BASES}, {int(last)});"


def kept_layers_symbol(name: str) -> str:
    return f"tvmgen_{name}_kept_layers"


def kept_layers(name: str, arena: Arena) -> str:
    """The end of `<name>_run.c` where every layer's result is kept: where they lie."""
    symbol = kept_layers_symbol(name)
    place = "arena" if arena.size else "0"
    about = "/* What the layers made: nothing in the arena gives way to anything else. */"
    return f"\n{about}\nconst uint8_t *{symbol}(void);\nconst uint8_t *{symbol}(void) {{ return {place}; }}\n"


def _local(tensor: Tensor, taken: set[str]) -> str:
    """Name of the local variable of an input or output: the tensor's, unless the function uses it for itself."""
    # Symbols of the network begin with tvmgen_: a local variable must not hide one.
    name = f"its_{tensor.name}" if tensor.name.startswith("tvmgen_") else tensor.name
    while name in _RESERVED or name in taken:
        name += "_"
    taken.add(name)
    return name


def _body(network: Network, main: AotMain, marked: bool, numbered: bool = False, debug: bool = False) -> list[str]:
    names: dict[Any, str] = {}
    taken = {tensor.name for tensor in main.buffers if tensor.kind in ("activation", "workspace")}
    lines: list[str] = []
    used = {t.storage for layer in network.layers for t in layer.operands}
    for role, tensors in ends(network).items():
        for member, tensor in tensors.items():
            storage = tensor.storage
            if storage not in used or main.buffers[storage] in names:
                continue
            local = names[main.buffers[storage]] = _local(storage, taken)
            const = "const " if role == "inputs" else ""
            lines.append(f"  {const}{c_type(storage.spec.dtype)} *{local} = {role}->{member};")
        if not any(t.storage in used for t in tensors.values()):
            lines.append(f"  (void){role};")
    for tensor in network.constants():
        names[main.buffers[tensor]] = weights.symbol(network.name, tensor)
    printer = (_NumberedSteps if numbered else _MainStatements)(names, network, main, marked, debug)
    return [*lines, *printer.print(main.function.body)]


class _MainStatements(Statements):
    """Statements of the main function: activations with their places, layers with their comments."""

    def __init__(self, names: dict[Any, str], network: Network, main: AotMain, marked: bool, debug: bool) -> None:
        super().__init__(names, shared_loops=False)
        self._network, self._marked, self._debug = network, marked, debug
        self._tensors = {buffer: tensor for tensor, buffer in main.buffers.items()}
        self._taken |= _RESERVED

    def _declbuffer(self, s: Any) -> None:
        tensor = self._tensors[s.buffer]
        kind, offset = c_type(tensor.spec.dtype), self.expressions.text(s.data.args[1])
        place = f"(arena + {offset})" if kind == "uint8_t" else f"({kind} *)(void *)(arena + {offset})"
        size = tensor.spec.bytes
        self.line(f"{kind} *{self._name(s.buffer)} = {place}; /* {tensor.spec}, {size} bytes */")

    def _evaluate(self, s: Any) -> None:
        index = begun_layer(s)
        if index is None:
            super()._evaluate(s)
            return
        self._layer(self._network.layers[index])
        if self._marked:
            self.line(f"TVM_PULP_LAYER({index + 1});")
        if self._debug:
            self.line(_look())

    def _layer(self, layer: Layer) -> None:
        self.line("")
        self.line(f"/* {about_layer(layer, f', {layer.macs} MAC' if layer.macs else '')} */")


class _NumberedSteps(_MainStatements):
    """Layers as cases of a switch by their number."""

    _begun = False

    def _layer(self, layer: Layer) -> None:
        if self._begun:
            self.line("  return;")
        else:
            self.line("switch (number) {")
        self._begun = True
        super()._layer(layer)
        self.line(f"case {self._network.layers.index(layer)}:")

    def _evaluate(self, s: Any) -> None:
        super()._evaluate(s)
        if type(s.value).__name__ == "IntImm" and self._begun:
            self.line("  return;")
