"""`<name>_program.c`: buffers for inputs and outputs, and the entry point that the runtime calls."""

from collections.abc import Mapping

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.run_function import ends
from tvm_pulp.codegen.state_source import appends_itself, elements, l3_symbol
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.backend import Codegen


def buffer_symbol(module: str, role: str, member: str) -> str:
    """C name of the buffer of an input or output."""
    return f"tvmgen_{module}_{role}_{member}"


def state_symbols(network: Network) -> dict[tuple[str, int], str]:
    """Variables that hold whole caches, by role and place of the inputs and outputs that they stand for."""
    names, found = [*ends(network)["inputs"]], {}
    for state in network.states:
        if state.level != "l3":
            symbol = state.symbol or f"tvmgen_{network.name}_state_{names[state.past]}"
            found["inputs", state.past] = found["outputs", state.present] = symbol
    return found


def _state_pointers(network: Network) -> dict[tuple[str, int], str]:
    """The buffers behind inputs and outputs that have none of their own."""
    symbols, found = state_symbols(network), {}
    for state in network.states:
        past, rows = ("inputs", state.past), ("outputs", state.present)
        if state.level == "l3":
            kind = c_type(network.inputs[state.past].spec.dtype)
            found[past] = f"(const {kind} *)(uintptr_t)({l3_symbol(network.name)} + {state.offset}u)"
        else:
            found[past] = f"{symbols[past]} + 0"
        if state.level == "l2":
            found[rows] = f"{symbols[past]} + {network.inputs[state.past].spec.elements}"
    return found


def _appends(network: Network) -> list[str]:
    """Statements that put new rows behind the past's where the network does not."""
    waiting = [s for s in network.states if not appends_itself(s)]
    if not waiting:
        return []
    names, near = [*ends(network)["outputs"]], waiting[0].level == "l1"
    lines = ["  tvm_pulp_barrier();", "  if (tvm_pulp_is_agent()) {"]
    lines += ["    const uint32_t group = tvm_pulp_dma_begin();"] if near else []
    for state in waiting:
        rows, before = network.outputs[state.present].spec, network.inputs[state.past].spec
        source = buffer_symbol(network.name, "outputs", names[state.present])
        if near:
            lines.append(f"    tvm_pulp_dma_load({state.symbol} + {before.elements}, {source}, {rows.bytes}u);")
        else:
            to = f"{l3_symbol(network.name)} + {state.offset + before.bytes}u"
            lines.append(f"    tvm_pulp_l3_store({to}, {source}, {rows.bytes}u);")
    return [
        *lines,
        "    tvm_pulp_dma_wait(group);" if near else "    tvm_pulp_l3_wait();",
        "  }",
        "  tvm_pulp_barrier();",
    ]


def _buffer(symbol: str, tensor: Tensor, count: int) -> str:
    """The definition of a buffer in L2 for elements as a tensor has them."""
    return f"TVM_PULP_IN_L2 __attribute__((aligned(16))) {c_type(tensor.spec.dtype)} {symbol}[{count}];"


def program_file(plan: Plan, engines: Mapping[str, Codegen]) -> str:
    """Buffers for inputs and outputs, and the entry point the runtime calls."""
    name, network = plan.network.name, plan.network
    lines = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/hal.h"', ""]
    for codegen in engines.values():
        lines += [f'#include "{codegen.header}"', ""]
    symbols, given = list[str](), list[str]()
    shared, known = _state_pointers(network), state_symbols(network)
    for state in network.states:
        if state.level == "l3":
            continue
        symbol = known["inputs", state.past]
        symbols.append(symbol)
        if state.level == "l2":
            lines.append(f"/* State: {state.length} rows that were there, {state.rows} new ones behind them. */")
            lines.append(_buffer(symbol, network.inputs[state.past], elements(network, state)))
    for role, tensors in ends(network).items():
        pointers = []
        for place, (member, tensor) in enumerate(tensors.items()):
            symbol = buffer_symbol(name, role, member)
            pointers.append(shared.get((role, place), symbol))
            if (role, place) not in shared:
                symbols.append(symbol)
                lines.append(_buffer(symbol, tensor, max(1, tensor.spec.elements)))
        lines.append("")
        given.append(f"  const struct tvmgen_{name}_{role} {role} = {{{', '.join(pointers) or '0'}}};")
    lines += [
        "const struct tvm_pulp_symbol tvm_pulp_symbols[] = {",
        *(f'    {{"{symbol}", {symbol}, sizeof {symbol}}},' for symbol in symbols),
        "    {0, 0, 0},",
        "};",
        "",
        f"const uint32_t tvm_pulp_mark_count = {len(plan.layers) + 1};",
        "",
        "void tvm_pulp_network(void) {",
        *given,
    ]
    if engines:
        inits = " ".join(f"{c.init}();" for c in engines.values())
        lines.append(f"  if (tvm_pulp_is_agent()) {{ {inits} }}")
    ok = f"TVMGEN_{name.upper()}_OK"
    lines += [f"  if (tvmgen_{name}_run(&inputs, &outputs) != {ok}) tvm_pulp_refused = 1;", *_appends(network), "}", ""]
    return "\n".join(lines)
