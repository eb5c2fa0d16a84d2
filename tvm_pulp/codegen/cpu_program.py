"""`<name>_program.c` of a CPU: buffers for inputs and outputs, and the entry point that start-up code calls."""

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.program_source import buffer_symbol
from tvm_pulp.codegen.run_function import ends
from tvm_pulp.qnn.network import Network


def cpu_program_file(network: Network) -> str:
    """The whole file."""
    name = network.name
    lines = ['#include "tvm_pulp/cpu_program.h"', f'#include "tvmgen_{name}.h"', ""]
    pointers = {}
    for role, tensors in ends(network).items():
        symbols = {buffer_symbol(name, role, member): tensor for member, tensor in tensors.items()}
        for symbol, tensor in symbols.items():
            lines.append(f"TVM_PULP_KEPT {c_type(tensor.spec.dtype)} {symbol}[{max(1, tensor.spec.elements)}];")
        pointers[role] = ", ".join(symbols) or "0"
    lines += ["", "int32_t tvm_pulp_network(void) {"]
    lines += [f"  const struct tvmgen_{name}_{role} {role} = {{{values}}};" for role, values in pointers.items()]
    return "\n".join([*lines, f"  return tvmgen_{name}_run(&inputs, &outputs);", "}", ""])
