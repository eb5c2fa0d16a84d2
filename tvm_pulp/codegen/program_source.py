"""`<name>_program.c`: buffers for inputs and outputs, and the entry point that the runtime calls."""

from __future__ import annotations

from collections.abc import Mapping

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.run_function import members
from tvm_pulp.tiling.plan import Plan
from tvm_pulp.uma.backend import Codegen


def buffer_symbol(module: str, role: str, member: str) -> str:
    """C name of the buffer of an input or output."""
    return f"tvmgen_{module}_{role}_{member}"


def program_file(plan: Plan, engines: Mapping[str, Codegen]) -> str:
    """Buffers for inputs and outputs, and the entry point the runtime calls."""
    name, network = plan.network.name, plan.network
    lines = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/hal.h"', ""]
    for codegen in engines.values():
        lines += [f'#include "{codegen.header}"', ""]
    symbols = []
    for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        for tensor, member in zip(tensors, members(tensors), strict=True):
            symbols.append(buffer_symbol(name, role, member))
            size = max(1, tensor.spec.elements)
            kind = c_type(tensor.spec.dtype)
            lines.append(
                f"TVM_PULP_IN_L2 __attribute__((aligned(16))) {kind} {buffer_symbol(name, role, member)}[{size}];"
            )
        lines.append("")
    lines += [
        "const struct tvm_pulp_symbol tvm_pulp_symbols[] = {",
        *(f'    {{"{symbol}", {symbol}, sizeof {symbol}}},' for symbol in symbols),
        "    {0, 0, 0},",
        "};",
        "",
        f"const uint32_t tvm_pulp_mark_count = {len(plan.layers) + 1};",
        "",
        "void tvm_pulp_network(void) {",
    ]
    for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        values = ", ".join(buffer_symbol(name, role, m) for m in members(tensors)) or "0"
        lines.append(f"  const struct tvmgen_{name}_{role} {role} = {{{values}}};")
    if engines:
        inits = " ".join(f"{c.init}();" for c in engines.values())
        lines.append(f"  if (tvm_pulp_core_id() == 0u) {{ {inits} }}")
    lines += [f"  (void)tvmgen_{name}_run(&inputs, &outputs);", "}", ""]
    return "\n".join(lines)
