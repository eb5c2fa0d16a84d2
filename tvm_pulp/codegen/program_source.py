"""`<name>_program.c`: buffers for inputs and outputs, and the entry point that the runtime calls."""

from __future__ import annotations

from collections.abc import Mapping

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.run_function import members
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.plan import Plan
from tvm_pulp.uma.backend import Codegen


def buffer_symbol(module: str, role: str, member: str) -> str:
    """C name of the buffer of an input or output."""
    return f"tvmgen_{module}_{role}_{member}"


def state_buffers(network: Network) -> dict[tuple[str, int], tuple[str, int]]:
    """Buffer and first element of inputs and outputs, by role and place, that lie in a buffer of state."""
    names, found = members(network.inputs), {}
    for state in network.states:
        symbol = f"tvmgen_{network.name}_state_{names[state.past]}"
        found["inputs", state.past] = (symbol, 0)
        found["outputs", state.present] = (symbol, network.inputs[state.past].spec.elements)
    return found


def program_file(plan: Plan, engines: Mapping[str, Codegen]) -> str:
    """Buffers for inputs and outputs, and the entry point the runtime calls."""
    name, network = plan.network.name, plan.network
    lines = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/hal.h"', ""]
    for codegen in engines.values():
        lines += [f'#include "{codegen.header}"', ""]
    symbols = []
    shared = state_buffers(network)
    for state in network.states:
        past, rows = network.inputs[state.past], network.outputs[state.present]
        symbol, elements = shared["inputs", state.past][0], past.spec.elements + rows.spec.elements
        symbols.append(symbol)
        lines.append(f"/* State: {state.length} rows that were there, {state.rows} new ones behind them. */")
        lines.append(f"TVM_PULP_IN_L2 __attribute__((aligned(16))) {c_type(rows.spec.dtype)} {symbol}[{elements}];")
    for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        for place, (tensor, member) in enumerate(zip(tensors, members(tensors), strict=True)):
            if (role, place) in shared:
                continue
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
        pointers = [
            " + ".join(map(str, shared[role, i])) if (role, i) in shared else buffer_symbol(name, role, m)
            for i, m in enumerate(members(tensors))
        ]
        values = ", ".join(pointers) or "0"
        lines.append(f"  const struct tvmgen_{name}_{role} {role} = {{{values}}};")
    if engines:
        inits = " ".join(f"{c.init}();" for c in engines.values())
        lines.append(f"  if (tvm_pulp_is_agent()) {{ {inits} }}")
    ok = f"TVMGEN_{name.upper()}_OK"
    lines += [f"  if (tvmgen_{name}_run(&inputs, &outputs) != {ok}) tvm_pulp_refused = 1;", "}", ""]
    return "\n".join(lines)
